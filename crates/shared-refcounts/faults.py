"""What each variant of the lesson does, one function a run: see lesson.toml for how each ends."""

import functools
import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import weakref

import twin
from ungil import _faults, _kinds
from ungil._ungil import shared_refcounts
from ungil.doctor import scaling

FREE_THREADED = not _faults.gil_enabled()


def contended():
    """The kinds whose functions, as they come, all threads count on."""
    if not FREE_THREADED:
        return []
    kinds = {kind: make() for kind, make in _kinds.KINDS.items()}
    return [kind for kind, function in kinds.items() if not scaling.deferred(function)]


def kinds_as_they_come():
    # Builtin functions are the interpreter's: few calls count on them, and they scale.
    return [kind for kind in contended() if kind != "c-function"], []


def counter_loses():
    """What the GIL made one step: a number that every call adds to."""
    space = {}
    exec("n = 0\ndef count(a, b):\n    global n\n    n = n + 1\n    return a", space)
    sys.setswitchinterval(1e-6)
    calls = 200_000

    def run():
        shared_refcounts_calls(space["count"], calls)

    made = 0
    for _ in range(20):
        _faults.together(4, run)
        made += 4 * calls
        if space["n"] != made:
            return "lost", "none"
    return "none", "none"


def shared_refcounts_calls(function, rows):
    for row in range(rows):
        function(row, row)


def mortal_constants(*, pyc):
    """What the check says of a module that is imported with and without a .pyc."""
    folder = tempfile.mkdtemp()
    pathlib.Path(folder, "constants_of_mine.py").write_text("def scale(v):\n    return v * 1.5 + 70000\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([folder, *sys.path])}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if pyc:
        subprocess.run([sys.executable, "-m", "compileall", "-q", folder], check=True, env=environment)
    else:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    told = subprocess.run(
        [sys.executable, "-m", "ungil.doctor.constants", "constants_of_mine"],
        env=environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert told.returncode in (0, 1) and not told.stderr, told
    return "constants_of_mine: 2 mortal" in told.stdout


def constants_without_pyc():
    return mortal_constants(pyc=False), False


def constants_with_pyc():
    return mortal_constants(pyc=True), False


def shared():
    """After: nothing of a registered function is counted on, and a second time changes nothing."""
    for kind, make in _kinds.KINDS.items():
        function = make()
        expected = function(1000, 1001) if kind != "draws" else None
        changed = shared_refcounts.share(function)
        assert FREE_THREADED or changed == 0, kind
        assert shared_refcounts.share(function) == 0, kind
        if expected is not None:
            assert function(1000, 1001) == expected
        if FREE_THREADED and kind != "c-function":
            assert scaling.deferred(function), kind
            cells = getattr(function, "__closure__", None) or ()
            assert all(scaling.deferred(cell) for cell in cells), kind
        # What is bound, wrapped or partial too: nothing is left that sharing could mend.
        inside = functools.partial(make())
        shared_refcounts.share(inside)
        assert not FREE_THREADED or kind == "c-function" or scaling.deferred(inside.func), kind
        left = [one for one in scaling.why(function) if "register it" in one["cure"]]
        assert not left, (kind, left)


def cpp_shared():
    for make in (_kinds.nested, _kinds.closure, lambda: _kinds.Adder().method):
        function = make()
        assert twin.shared_refcounts.after_share(function) == function(1000, 1001)
        assert not FREE_THREADED or scaling.deferred(function)


def shared_while_called():
    """Registered while other threads are in the middle of calling it."""
    stop = threading.Event()
    functions = [_kinds.closure() for _ in range(200)]

    def call():
        while not stop.is_set():
            for function in functions:
                assert function(1000, 1) == 1008

    callers = [threading.Thread(target=call) for _ in range(2)]
    for caller in callers:
        caller.start()
    _faults.together(2, lambda: [shared_refcounts.share(function) for function in functions])
    stop.set()
    for caller in callers:
        caller.join()


def freed_by_the_collector():
    """The price: the last reference does not free it, the next collection does."""
    gc.disable()
    functions = [_kinds.closure() for _ in range(10_000)]
    alive = [weakref.ref(function) for function in functions]
    for function in functions:
        shared_refcounts.share(function)
    del function, functions
    left = sum(one() is not None for one in alive)
    gc.collect()
    return (left, sum(one() is not None for one in alive)), (10_000 * FREE_THREADED, 0)


def odd_callables():
    """Things whose attributes raise, go in circles, or are missing."""

    class Raises:
        def __call__(self):
            return 1

        @property
        def __wrapped__(self):
            raise ValueError("not this one")

    class Circle:
        def __call__(self):
            return 2

    def empty():
        return later  # noqa: F821

    circle = Circle()
    circle.__wrapped__ = circle
    for fine in (circle, print, len, int, str.upper, "".join, empty):
        shared_refcounts.share(fine)
    try:
        shared_refcounts.share(Raises())
    except ValueError as error:
        return str(error), "not this one"
    if False:
        later = 1
    return "nothing raised", "not this one"


def constant_argument():
    values = [1.0, 2.0, 3.0]
    for before in (True, False):
        got = shared_refcounts.scaled(lambda v, rate: v * rate, 2.5, values, before)
        assert got == [2.5, 5.0, 7.5], got


def doctor_says_why():
    """Each kind that does not scale is named with its reason; what scales is not accused."""
    if not FREE_THREADED:
        return scaling.why(_kinds.nested()), []
    objects = {kind: [one["object"] for one in scaling.why(make())] for kind, make in _kinds.KINDS.items()}
    return objects, {
        "module-function": [],
        "lambda": [],
        "c-function": [],
        "partial": ["partial"],
        "nested": ["nested function nested.<locals>.add_nested"],
        "closure": ["nested function closure.<locals>.add_offset", "cell offset", "closed over offset"],
        "closure-over-int": [
            "nested function closure_over_int.<locals>.add_offset", "cell offset", "closed over offset",
        ],
        "decorated": ["nested function decorator.<locals>.wrapper", "cell function"],
        "bound-method": ["bound method", "bound object"],
        "instance": ["callable object"],
        "reads-a-list": ["global TABLE"],
        "reads-a-dict": ["global RATES"],
        "counts": ["global COUNTER"],
        "draws": ["global random.random"],
    }  # fmt: skip


def stress():
    def work(index):
        for make in _kinds.KINDS.values():
            function = make()
            shared_refcounts.share(function)
            function(1000, index)

    return _faults.storm(work)
