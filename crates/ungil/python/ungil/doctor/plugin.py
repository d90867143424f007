"""`pytest --gil-off`: a session on a free-threaded build in which the GIL has to stay off.

The test in which it comes on fails, with the module that turned it on and the way to its import; so
does a session in which it was on at the start.
"""

import sys

import pytest

from . import gil_guard


def pytest_addoption(parser):
    parser.addoption(
        "--gil-off", action="store_true", help="fail the test that turns the GIL on (free-threaded builds)"
    )


def pytest_configure(config):
    if not config.getoption("--gil-off"):
        return
    if not gil_guard.install():
        forced = "-X gil=1 or PYTHON_GIL=1, or a plugin imported before" if _free_threaded() else ""
        raise pytest.UsageError(
            f"--gil-off: the GIL is on already ({forced})" if forced else
            "--gil-off: this is a GIL-enabled build; run the tests with a free-threaded one, 3.14t"
        )
    config.pluginmanager.register(_Watch(), "ungil-gil-off")


def pytest_unconfigure(config):
    if config.getoption("--gil-off"):
        gil_guard.remove()


def _free_threaded():
    import sysconfig

    return bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


class _Watch:
    """The tests after the one that turned it on are not blamed for it."""

    # Written by the thread that runs the tests, read by no other.
    was_on = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        try:
            result = yield
        finally:
            came_on = sys._is_gil_enabled() and not self.was_on
            self.was_on = self.was_on or came_on
        # Where the guard has raised the test fails already; this is for what swallowed its error.
        if came_on:
            pytest.fail(f"the GIL was turned on during {item.nodeid}", pytrace=False)
        return result

    def pytest_report_header(self, config):
        return "gil-off: watching"

    def pytest_sessionfinish(self, session):
        if sys._is_gil_enabled() and not self.was_on and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
            print("\nthe GIL was turned on outside of the tests", file=sys.stderr)
