"""What each variant of the lesson does, one function a run: see lesson.toml for how each ends."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings

import twin
import ungil
from ungil import _faults
from ungil._ungil import gil_declaration

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
GUARD = pathlib.Path(__file__).parent / "src"


def load(name, path=twin.__file__):
    """Loads `PyInit_<name>` from a library; what `import` does once it has found the file."""
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def load_quietly(name, path=twin.__file__):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        load(name, path)


def multi_silent():
    load_quietly("multi_silent")


def single_silent():
    load_quietly("single_silent")


def rust_silent():
    load_quietly("rust_silent", ungil._ungil.__file__)


def multi_declared():
    load("multi_declared")


def single_declared():
    load("single_declared")


def rust_declared():
    assert load("rust_declared", ungil._ungil.__file__).count_calls() == 1


def package(inner="multi_silent"):
    """A pure Python package whose submodule is an extension, and a program that imports it."""
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "pkg").mkdir()
    (folder / "pkg/__init__.py").write_text(f"import os\nfrom . import {inner}\n")
    (folder / f"pkg/{inner}.so").symlink_to(twin.__file__)
    (folder / "program.py").write_text("import json\n\nimport pkg\nprint('on')\n")
    return folder


def submodule():
    sys.path.insert(0, str(package()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        import pkg  # noqa: F401


def warns_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load("multi_silent")
        load("single_silent")
    return [str(one.message)[:60] for one in caught], [
        "The global interpreter lock (GIL) has been enabled to load module"[:60]
    ] * FREE_THREADED


def warnings_as_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        load("multi_silent")


def count(call, patience=0.0):
    """Four threads that count, until a call is lost: how many were counted, and how many were made.

    On a busy machine the threads may follow one another for a while, and lose nothing; so it tries
    again, at least 50 times and for so many seconds."""
    made, rounds = 0, 0
    end = time.monotonic() + patience
    while rounds < 50 or time.monotonic() < end:
        _faults.together(4, lambda: [call(2_500) for _ in range(100)])
        made += 1_000_001
        rounds += 1
        counted = call(1)
        if counted != made:
            break
    return counted, made


def lost_updates():
    # With a GIL no call is lost, however long one waits.
    return count(gil_declaration.before_count, patience=30.0 if FREE_THREADED else 0.0)


def counts():
    return count(gil_declaration.after_count)


def cpp_lost_updates():
    return twin.gil_declaration.before_count()


def cpp_counts():
    return twin.gil_declaration.after_count()


def child(code, *options, **variables):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(GUARD), *sys.path]), **variables}
    return subprocess.run(
        [sys.executable, "-W", "ignore", *options, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


LOAD = f"""
import sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import faults
faults.multi_silent()
print(sys._is_gil_enabled(), sys.flags.gil)
"""


def forced_off():
    """PYTHON_GIL=0 keeps it off, whoever is loaded; a build that has no choice refuses to start."""
    told, option = child(LOAD, PYTHON_GIL="0"), child(LOAD, "-X", "gil=0")
    if not FREE_THREADED:
        text = "Disabling the GIL is not supported by this build"
        assert child("pass", "-X", "gil=1").returncode == 0
        return [(one.returncode, text in one.stderr) for one in (told, option)], [(1, True)] * 2
    assert told.stdout == option.stdout, (told, option)
    unforced = child("import sys; print(sys._is_gil_enabled(), sys.flags.gil)")
    # Forced off is not the same as off: the flag says which.
    return (told.stdout.split(), unforced.stdout.split()), (["False", "0"], ["False", "None"])


def guard_names_the_culprit():
    folder = package()
    code = f"import gil_guard\ngil_guard.install()\nimport sys\nsys.path.insert(0, {str(folder)!r})\nimport program\n"
    told = child(code)
    if not FREE_THREADED:
        return told.stdout, "on\n"
    lines = told.stderr.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("gil_guard.GilTurnedOn"))
    return [line.replace(str(folder), "").strip() for line in lines[start : start + 5]], [
        "gil_guard.GilTurnedOn: the import of 'pkg.multi_silent' turned the GIL on: it does not "
        "declare that it can run without",
        "imported by <string>:5",
        "imported by /program.py:3",
        "imported by /pkg/__init__.py:2",
        "from /pkg/multi_silent.so",
    ]


def guard_lets_declared_modules_pass():
    folder = package("multi_declared")
    code = f"import gil_guard\ngil_guard.install()\nimport sys\nsys.path.insert(0, {str(folder)!r})\nimport program\n"
    return child(code).stdout, "on\n"


def stress():
    made = [0] * 8

    def work(index):
        gil_declaration.after_count(1000)
        made[index] += 1000

    told = _faults.storm(work)
    assert gil_declaration.after_count(1) - 1 == sum(made)
    return told
