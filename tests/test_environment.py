"""The conditions under which everything else is measured and tested."""

import os
import sys

import pytest
from conftest import FREE_THREADED

from ungil import _workloads


def test_the_gil_is_as_the_build_has_it():
    assert sys._is_gil_enabled() == (not FREE_THREADED)


def test_imported_constants_are_immortal():
    """They are only if a .pyc was read; see the appendix on measuring."""
    assert os.path.exists(_workloads.__spec__.cached)
    constant = _workloads.CONSTANT_PROBE()
    assert sys._is_immortal(constant) or not FREE_THREADED


@pytest.mark.skipif(not FREE_THREADED, reason="on the GIL-enabled build constants are never contended")
def test_without_a_pyc_they_are_mortal(tmp_path):
    """The trap itself: if this fails, CPython has changed and the appendix is out of date."""
    import subprocess

    (tmp_path / "loose.py").write_text("def constant():\n    return 7654321.5\n")
    code = "import sys, loose; print(sys._is_immortal(loose.constant()))"
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(tmp_path)}
    environment.pop("PYTHONPYCACHEPREFIX", None)
    told = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert told.stdout.strip() == "False", told.stderr
