"""What every test gets: names of its own, small engines, and a GIL that stays as the build has it."""

import itertools
import os
import subprocess
import sys
import sysconfig

import pyarrow as pa
import pytest

import ungil

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

_numbers = itertools.count()


def name():
    """A function name that no other test and no other thread has: the registry is the process's."""
    return f"f{next(_numbers)}"


def engine(threads=2, block_rows=4, **columns):
    """An engine with one table `t`; small blocks, so that every test crosses their borders."""
    one = ungil.Engine(threads=threads, block_rows=block_rows)
    one.register("t", pa.table(columns))
    return one


def values(result):
    return result.to_pyarrow().column(0).to_pylist()


def call(function, arg_types, returns, *columns, threads=2, block_rows=4, **options):
    """The function over the columns, row for row."""
    own = name()
    ungil.create_function(own, function, arg_types, returns, **options)
    names = [f"c{index}" for index in range(len(columns))]
    one = engine(threads, block_rows, **dict(zip(names, columns)))
    try:
        return values(one.sql(f"SELECT {own}({', '.join(names)}) FROM t"))
    finally:
        ungil.drop_function(own)


# A module of somebody's that loads an extension which does not declare itself: this project's library
# has one, under another name.
CULPRIT = """
import importlib.machinery, importlib.util, ungil

def load():
    path = ungil._ungil.__file__
    loader = importlib.machinery.ExtensionFileLoader("rust_silent", path)
    spec = importlib.util.spec_from_file_location("rust_silent", path, loader=loader)
    importlib.util.module_from_spec(spec)
"""


def suite_of_its_own(folder, code, *words, path=()):
    """pytest in a child process, over one file of tests that may use `culprit`."""
    (folder / "culprit.py").write_text(CULPRIT)
    (folder / "test_it.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [*path, folder]))}
    words = ["-p", "no:cacheprovider", "-W", "ignore", "-q", *words]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words, "test_it.py"],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120,
    )


def pytest_report_header():
    state = "off" if not sys._is_gil_enabled() else "on"
    return f"free-threaded build: {FREE_THREADED}, GIL {state}"


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """A test run that turned the GIL on has tested another build than it says."""
    if sys._is_gil_enabled() == FREE_THREADED:
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        print("\nthe GIL was turned on during the tests", file=sys.stderr)
