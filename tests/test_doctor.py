"""`python -m ungil.doctor` and `pytest --gil-off`, as people use them."""

import json
import os
import pathlib
import struct
import subprocess
import sys
import zipfile

import pytest
from conftest import FREE_THREADED, suite_of_its_own

import ungil

# Child processes: once is enough.
pytestmark = pytest.mark.parallel_threads(1)

TAG = "cp314-cp314t-manylinux_2_28_x86_64"
SUFFIX = "cpython-314t-x86_64-linux-gnu"


def doctor(*words, **environment):
    told = subprocess.run(
        [sys.executable, "-m", "ungil.doctor", *map(str, words)],
        capture_output=True, text=True, timeout=300, env={**os.environ, **environment},
    )
    return told


def report(*words):
    told = doctor(*words, "--json")
    return told.returncode, json.loads(told.stdout)


def wheel(folder, files, name=f"x-1.0-{TAG}.whl"):
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for place, content in files.items():
            archive.writestr(place, content)
        archive.writestr("x-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: x\nVersion: 1.0\n")
    return path


def own_library():
    return pathlib.Path(ungil._ungil.__file__).read_bytes()


def test_this_environment():
    code, told = report("--static", sys.prefix)
    assert told["environment"] == f"3.{sys.version_info[1]}{'t' if FREE_THREADED else ''}"
    names = {one["name"]: one for one in told["distributions"]}
    # Those of the tests declare it; on the GIL-enabled build nothing helps.
    assert code == (0 if FREE_THREADED else 1), told
    assert names["pytest"]["status"] == "pure"
    own = names["ungil"]["extensions"][0]
    assert own["flavour"] == "pyo3"
    if FREE_THREADED:
        assert names["numpy"]["status"] == "free" and names["ungil"]["status"] == "free"
        assert own["declares"]["says"] == "free", own


def quiet_environment(tmp_path):
    """The library of this project has a module that says nothing: put where it is found by its name."""
    packages = tmp_path / "lib" / "python3.14t" / "site-packages"
    folder = packages / "quiet"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("from . import inner\n")
    (folder / "inner.py").write_text("from . import rust_silent\n")
    (folder / f"rust_silent.{SUFFIX}.so").write_bytes(own_library())
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nPYTHONPATH={packages} exec {sys.executable} "$@"\n')
    python.chmod(0o755)


@pytest.mark.skipif(
    not FREE_THREADED, reason="not run: an import turns the GIL on only where it is off; 3.14t runs it"
)
def test_an_import_confirms_what_was_read(tmp_path):
    quiet_environment(tmp_path)
    code, told = report(tmp_path)
    assert code == 1, told
    (one,) = told["distributions"]
    assert one["status"] == "turns-on"
    (extension,) = one["extensions"]
    assert extension["declares"]["says"] == "gil"
    assert extension["imported"]["import"] == "turns-on"
    assert extension["imported"]["chain"] == ["quiet", "quiet.inner"]
    shown = doctor(tmp_path).stdout
    assert "quiet -> quiet.inner -> quiet.rust_silent <- here" in shown, shown
    assert all(len(line) <= 80 for line in shown.splitlines()[1:]), shown


@pytest.mark.skipif(
    not FREE_THREADED, reason="not run: PYTHON_GIL=0 ends a GIL-enabled build at its start; 3.14t runs it"
)
def test_a_gil_that_is_forced_off_does_not_hide_who_turns_it_on(tmp_path):
    quiet_environment(tmp_path)
    told = doctor(tmp_path, "--json", PYTHON_GIL="0")
    (one,) = json.loads(told.stdout)["distributions"]
    assert one["extensions"][0]["imported"]["import"] == "turns-on", told


def test_an_interpreter_that_is_not_used_is_told(tmp_path):
    path = wheel(tmp_path, {f"x/rust_declared.{SUFFIX}.so": own_library()})
    code, told = report(path, "--python", sys.executable)
    assert code == 0 and "only an environment is" in told["not_imported"], told


def test_a_wheel_whose_tag_claims_what_its_binary_does_not_say(tmp_path):
    path = wheel(tmp_path, {f"x/rust_silent.{SUFFIX}.so": own_library()})
    code, told = report(path)
    rules = {note["rule"] for note in told["distributions"][0]["notes"]}
    assert code == 1 and {"turns-the-gil-on", "tag-and-binary-differ"} <= rules, told
    sarif = json.loads(doctor(path, "--sarif").stdout)
    assert sarif["version"] == "2.1.0"
    (run,) = sarif["runs"]
    known = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert rules <= known and {one["ruleId"] for one in run["results"]} == rules


def test_a_wheel_for_another_build_is_not_clean(tmp_path):
    name = "x-1.0-cp311-abi3-manylinux_2_28_x86_64.whl"
    path = wheel(tmp_path, {"x/rust_silent.abi3.so": own_library()}, name)
    code, told = report(path)
    assert code == 1 and told["distributions"][0]["status"] == "cannot-load", told
    loads = told["distributions"][0]["extensions"][0]["loads"]
    assert loads == {"3.14": "yes", "3.14t": "unsound", "3.15": "yes", "3.15t": "no"}


def test_a_forgotten_extension_among_several(tmp_path):
    files = {f"x/{name}.{SUFFIX}.so": own_library() for name in ("rust_declared", "rust_silent")}
    _, told = report(wheel(tmp_path, files))
    notes = [note["text"] for note in told["distributions"][0]["notes"]]
    assert any("1 of its 2 extensions do not declare it" in note for note in notes), notes


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({f"x/a.{SUFFIX}.so": b"\x7fELF" + bytes(60)}, "damaged"),
        ({f"x/a.{SUFFIX}.so": b""}, "damaged"),
        ({f"x/a.{SUFFIX}.so": b"\xcf\xfa\xed\xfe" + bytes(4000)}, "macOS"),
        ({f"../a.{SUFFIX}.so": b"x"}, "leads out of the folder"),
        ({f"/a.{SUFFIX}.so": b"x"}, "leads out of the folder"),
    ],
)
def test_bad_wheels_are_told_and_are_not_clean(tmp_path, files, says):
    wheels = tmp_path / "dist"
    wheels.mkdir()
    wheel(wheels, files)
    told = doctor(wheels)
    assert told.returncode == 3 and says in " ".join(told.stdout.split()), told
    assert "not the same as clean" in told.stdout


def test_a_truncated_wheel_and_a_file_that_is_none(tmp_path):
    whole = wheel(tmp_path, {"x/a.txt": "a" * 1000}).read_bytes()
    (tmp_path / f"x-1.0-{TAG}.whl").write_bytes(whole[:300])
    told = doctor(tmp_path / f"x-1.0-{TAG}.whl")
    assert told.returncode == 3 and "damaged" in told.stderr, told
    (tmp_path / "x.whl").write_bytes(whole)
    told = doctor(tmp_path / "x.whl")
    assert told.returncode == 3 and "not named like a wheel" in told.stderr, told


def test_a_zip_bomb_is_refused_unread(tmp_path):
    """An entry that claims 4 GiB; and one that claims little and holds a thousand times as much."""
    name = f"x/a.{SUFFIX}.so"
    path = tmp_path / f"x-1.0-{TAG}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, bytes(10_000_000))
    raw = bytearray(path.read_bytes())
    central = raw.index(b"PK\x01\x02")
    raw[central + 24 : central + 28] = struct.pack("<I", 0xFFFF0000)
    path.write_bytes(raw)
    told = doctor(path)
    assert told.returncode == 3 and "larger than" in " ".join(told.stdout.split()), told
    raw[central + 24 : central + 28] = struct.pack("<I", 7)
    path.write_bytes(raw)
    told = doctor(path)
    assert told.returncode == 3 and "cannot tell" in told.stdout, told


def test_a_file_of_two_gigabytes_is_refused_unread(tmp_path):
    path = tmp_path / f"big.{SUFFIX}.so"
    with open(path, "wb") as file:
        file.truncate(2 << 30)  # a hole: it takes no room
    told = doctor(path)
    assert told.returncode == 3 and "larger than" in " ".join(told.stdout.split()), told


def test_usage(tmp_path):
    assert doctor("--no-such-flag").returncode == 2
    assert doctor(tmp_path / "absent").returncode == 2
    told = doctor("--build", "3.14", sys.prefix)
    assert told.returncode == 2 and "always has the GIL" in told.stderr
    told = doctor(tmp_path)
    assert told.returncode == 3 and "it is no environment" in told.stderr
    loose = tmp_path / "requirements.txt"
    loose.write_text("numpy>=2\n")
    told = doctor(loose)
    assert told.returncode == 3 and "is not pinned" in told.stderr
    assert doctor("--help").returncode == 0


def test_a_forced_gil_is_told():
    # PYTHON_GIL=0 ends the GIL-enabled build at its start.
    if FREE_THREADED:
        told = doctor("--static", sys.prefix, PYTHON_GIL="0")
        assert "forced off, which is not the same as off" in " ".join(told.stdout.split()), told


def pytest_in(folder, code):
    return suite_of_its_own(folder, code, "--gil-off", "-p", "no:run-parallel")


def test_gil_off_fails_the_test_that_turned_it_on(tmp_path):
    code = (
        "import culprit, pytest\n"
        "def test_before(): pass\n"
        "def test_swallows():\n    with pytest.raises(ImportError): culprit.load()\n"
        "def test_after(): pass\n"
    )
    told = pytest_in(tmp_path, code)
    if not FREE_THREADED:
        assert told.returncode == 4 and "this is a GIL-enabled build" in told.stderr, told
        return
    assert told.returncode == 1 and "1 failed, 2 passed" in told.stdout, told.stdout
    assert "the GIL was turned on during test_it.py::test_swallows" in told.stdout


@pytest.mark.skipif(
    not FREE_THREADED,
    reason="not run: a GIL-enabled build refuses --gil-off, which the test above asserts; 3.14t runs it",
)
def test_gil_off_names_the_module(tmp_path):
    told = pytest_in(tmp_path, "import culprit\ndef test_loads(): culprit.load()\n")
    assert "the import of 'rust_silent' turned the GIL on" in told.stdout, told.stdout
    told = pytest_in(tmp_path, "def test_quiet(): pass\n")
    assert told.returncode == 0, told.stdout
