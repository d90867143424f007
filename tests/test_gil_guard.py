"""The guard as people use it in a test suite: `pytest -p gil_guard`."""

import pathlib

import pytest
from conftest import FREE_THREADED, suite_of_its_own

# Each runs a test suite of its own in a child; once is enough.
pytestmark = pytest.mark.parallel_threads(1)

GUARD = pathlib.Path(__file__).parent.parent / "crates/gil-declaration/src"


def pytest_in(folder, code):
    return suite_of_its_own(folder, code, "-p", "gil_guard", path=[GUARD])


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
