"""Gives the template another name: `python3 ci/rename.py my_extension`.

Replaces `fastlines` in every file and in the names of files. Run once, after copying; `cargo generate`
runs it by itself.
"""

import pathlib
import re
import sys

OLD = "fastlines"
SKIP = {"target", ".git", "dist", ".venv", "__pycache__"}


def main() -> int:
    new = sys.argv[1].replace("-", "_") if len(sys.argv) == 2 else ""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", new):
        print(f"{new!r} is no name for a module: lower case, digits, _", file=sys.stderr)
        return 2
    root = pathlib.Path(__file__).resolve().parent.parent
    files = [f for f in root.rglob("*") if f.is_file() and not SKIP & set(f.relative_to(root).parts)]
    for file in files:
        if file.name in ("rename.py", "rename.rhai", "cargo-generate.toml"):
            continue
        text = file.read_text(encoding="utf-8")
        # Marks by which a book quotes the file; of no use in a copy.
        lines = [line for line in text.splitlines(keepends=True) if "ANCHOR" not in line]
        changed = "".join(lines).replace(OLD, new)
        if changed != text:
            file.write_text(changed, encoding="utf-8")
    # The deepest first, so that a folder is renamed after what is in it.
    for path in sorted(root.rglob(f"*{OLD}*"), key=lambda path: -len(path.parts)):
        if not SKIP & set(path.relative_to(root).parts):
            path.rename(path.with_name(path.name.replace(OLD, new)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
