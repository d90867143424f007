"""The guard as people use it in a test suite: `pytest -p gil_guard`."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import FREE_THREADED

# Each runs a test suite of its own in a child; once is enough.
pytestmark = pytest.mark.parallel_threads(1)

GUARD = pathlib.Path(__file__).parent.parent / "crates/gil-declaration/src"

CULPRIT = """
import importlib.machinery, importlib.util, ungil

def load():
    path = ungil._ungil.__file__
    loader = importlib.machinery.ExtensionFileLoader("rust_silent", path)
    spec = importlib.util.spec_from_file_location("rust_silent", path, loader=loader)
    importlib.util.module_from_spec(spec)
"""


def pytest_in(folder, code, *words):
    (folder / "culprit.py").write_text(CULPRIT)
    (folder / "test_it.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(GUARD), str(folder)])}
    words = ["-p", "gil_guard", "-p", "no:cacheprovider", "-W", "ignore", "-q", *words]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words, "test_it.py"],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120,
    )


def test_the_test_that_turns_the_gil_on_fails_and_names_the_module(tmp_path):
    code = "import culprit\ndef test_quiet(): pass\ndef test_loads(): culprit.load()\n"
    told = pytest_in(tmp_path, code)
    if not FREE_THREADED:
        assert told.returncode == 0, told.stdout
        return
    assert told.returncode == 1 and "1 failed, 1 passed" in told.stdout, told.stdout
    assert "the import of 'rust_silent' turned the GIL on" in told.stdout
    assert "culprit.py:" in told.stdout


def test_the_fixture_sees_what_no_hook_sees(tmp_path):
    code = "import culprit, gil_guard\ndef test_it(gil_stays_off):\n    gil_guard.remove()\n    culprit.load()\n"
    told = pytest_in(tmp_path, code)
    if FREE_THREADED:
        assert "the GIL was turned on during this test" in told.stdout, told.stdout
    else:
        assert told.returncode == 0, told.stdout


def test_a_quiet_suite_passes(tmp_path):
    told = pytest_in(tmp_path, "import json\ndef test_it(gil_stays_off): json.dumps(1)\n")
    assert told.returncode == 0, told.stdout
