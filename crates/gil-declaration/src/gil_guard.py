"""Raises at the moment an import turns the GIL on, and says who imported what.

Copy this file. In an application, before anything else is imported:

    import gil_guard
    gil_guard.install()

In a test suite: `pytest -p gil_guard`. On a GIL-enabled build, and where the GIL is on already, it
does nothing; `install()` says whether it watches.

Thread-safety: loads of extension modules follow one another while it is installed.
"""

import importlib.machinery
import sys
import threading


class GilTurnedOn(ImportError):
    """An extension module turned the GIL on. `name` and `path` are the module's; `chain` lists the
    places that imported it, from the program to the module, as `file:line`."""

    def __init__(self, name, path, chain):
        self.chain = chain
        lines = [f"the import of {name!r} turned the GIL on: it does not declare that it can run without"]
        lines += [f"  imported by {place}" for place in chain]
        lines += [f"  from {path}"]
        lines += ["The GIL stays on until this process ends. Look for a release that supports"]
        lines += ["free-threaded Python; PYTHON_GIL=0 keeps it off, at your own risk."]
        super().__init__("\n".join(lines), name=name, path=path)


_Loader = importlib.machinery.ExtensionFileLoader
_create = _Loader.create_module
# While a module is loaded CPython turns the GIL on for a moment. One load at a time, so that the
# moment of another thread's is not taken for this one's.
_one_at_a_time = threading.RLock()


def _gil_enabled():
    return getattr(sys, "_is_gil_enabled", lambda: True)()


def _chain():
    """Who imports: the frames below which the import system begins."""
    places = []
    frame = sys._getframe(1)
    inner = True
    while frame is not None:
        name = frame.f_code.co_filename
        importing = name.startswith("<frozen importlib") or name == __file__
        if inner and not importing:
            places.append(f"{name}:{frame.f_lineno}")
        inner = importing
        frame = frame.f_back
    return places[::-1]


def _create_module(self, spec):
    with _one_at_a_time:
        before = _gil_enabled()
        try:
            module = _create(self, spec)
        except BaseException as error:
            # The warning, made an error: the import fails, and the GIL stays on all the same.
            if _gil_enabled() and not before:
                raise GilTurnedOn(spec.name, spec.origin, _chain()) from error
            raise
        if _gil_enabled() and not before:
            raise GilTurnedOn(spec.name, spec.origin, _chain())
        return module


def install():
    """Begins to watch; gives whether there is something to watch."""
    if _gil_enabled():
        return False
    _Loader.create_module = _create_module
    return True


def remove():
    """Ends it."""
    _Loader.create_module = _create


def pytest_configure(config):
    install()


def pytest_unconfigure(config):
    remove()


def pytest_report_header(config):
    return f"gil_guard: the GIL is {'on' if _gil_enabled() else 'off'}"


if "pytest" in sys.modules:
    import pytest

    @pytest.fixture
    def gil_stays_off():
        """For a test that loads extensions in ways that no import hook sees: fails it if the GIL came
        on while it ran."""
        before = _gil_enabled()
        yield
        assert before or not _gil_enabled(), "the GIL was turned on during this test"
