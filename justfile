# Each recipe is one line over `cargo xtask`, so a machine without just loses nothing.

# List the recipes
default:
    @{{ just_executable() }} --list --unsorted

# Measure the lessons on this machine (all, or one)
bench *args:
    cargo xtask bench {{ args }}

# Run every check: Rust, C++ under sanitizers, pytest on both builds, faults, the book
test *args:
    cargo xtask test {{ args }}

# Run each variant in a fresh interpreter and see it end as its lesson says
faults *args:
    cargo xtask faults {{ args }}

# Check the lessons' protocols in the modelled interpreter
model *args:
    cargo xtask model {{ args }}

# Run the C++ twins under ThreadSanitizer
tsan *args:
    cargo xtask tsan {{ args }}

# Build the book and check its links
book *args:
    cargo xtask book {{ args }}

# Find or fetch the interpreters, build the extension for each, say which they are
python *args:
    cargo xtask python {{ args }}

# Say who would turn the GIL on: in a venv, a wheel, a folder of wheels, a lock file
doctor *args:
    cargo xtask doctor {{ args }}

# Build the template for each kind of build and see what takes which file
wheels *args:
    cargo xtask wheels {{ args }}

# Copy a pattern into your own crate; --check says whether a copy is behind
copy *args:
    cargo xtask copy {{ args }}

# The workshop: start, check, watch, hint, solution, reset, list
exercise *args:
    cargo xtask exercise {{ args }}
