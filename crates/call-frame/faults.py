"""What each variant of the lesson does, one function a run: see lesson.toml for how each ends."""

import gc
import sys
import time

import twin
from ungil import _faults
from ungil._ungil import call_frame

ROWS = 200_000


def add(a, b):
    return a + b


def collections():
    return sum(generation["collections"] for generation in gc.get_stats())


def collected(work):
    """The collections during `work`, and none that an earlier one had coming."""
    gc.collect()
    before = collections()
    work()
    return collections() - before


def freed_tuples_collect():
    """The folklore: a tuple a row sets the collector off. It does not: what is freed again nets to
    nothing, even at the lowest threshold."""
    gc.set_threshold(200, 0, 0)
    runs = [
        collected(lambda: _faults.together(2, lambda: call_frame.run(add, how, ROWS)))
        for how in ("tuple", "unpacked")
    ]
    runs.append(collected(lambda: _faults.together(2, lambda: twin.call_frame.before_tuple(add, ROWS))))
    return runs, [0, 0, 0]


def kept_tuples_collect():
    """Tuples that live until the end of the block do."""
    found = collected(lambda: _faults.together(2, lambda: call_frame.run(add, "kept", ROWS)))
    return ("collections" if found else "none"), "none"


def cpp_kept_tuples_collect():
    found = collected(lambda: _faults.together(2, lambda: twin.call_frame.before_kept(add, ROWS)))
    return ("collections" if found else "none"), "none"


def freeze_is_no_fix():
    """Freezing keeps what is there out of the next collection. It does not make fewer of them."""
    gc.freeze()
    found = collected(lambda: call_frame.run(add, "kept", ROWS))
    return ("collections" if found else "none"), "none"


def greater_threshold():
    """Below the length of a block it changes nothing on stock."""

    def blocks():
        for _ in range(12):
            call_frame.run(add, "kept", 65_536)

    blocks()
    gc.set_threshold(50_000, 10, 10)
    found = collected(blocks)
    return ("collections" if found else "none"), "none"


def shared_frame():
    """A frame that is a member of the function's wrapper, and not of the block."""
    mixed = []

    def check(a, b):
        if a != b:
            mixed.append((a, b))

    # Two threads on one core hardly meet: again, for as long as a busy machine may keep them there.
    end = time.monotonic() + (20 if not _faults.gil_enabled() else 1)
    while not mixed and time.monotonic() < end:
        _faults.together(2, lambda: twin.call_frame.before_shared(check, 500_000))
    return ("mixed up" if mixed else "none"), "none"


def frames_collect_nothing():
    gc.set_threshold(200, 0, 0)
    runs = [
        collected(lambda: _faults.together(2, lambda: call_frame.run(add, how, ROWS)))
        for how in ("frame", "fixed")
    ]
    runs.append(collected(lambda: _faults.together(2, lambda: twin.call_frame.after_frame(add, ROWS))))
    return runs, [0, 0, 0]


class Adder:
    def __call__(self, a, b):
        return a + b

    def method(self, a, b):
        return a + b


def every_callable():
    """Whatever can be called, through the frame: a bound method writes to its slot 0."""
    import functools
    import operator

    call = call_frame.call
    for function in (add, lambda a, b: a + b, operator.add, Adder(), Adder().method,
                     functools.partial(add), int.__add__):  # fmt: skip
        for one in (call, call_frame.call2):
            assert [one(function, 1000, i) for i in range(3)] == [1000, 1001, 1002], function
    assert call(lambda *values: values, 1, 2, 3) == (1, 2, 3)
    assert call_frame.call2(lambda *values: values, 1, 2) == (1, 2)
    assert call(functools.partial(lambda *values: values, 0), 1) == (0, 1)
    assert call(str) == "" and call(str, b"x", "ascii") == "x"
    assert call(max, *range(15)) == 14
    for wrong in ((add, 1), (add, 1, 2, 3), (None, 1), (max, *range(16))):
        try:
            call(*wrong)
        except TypeError:
            continue
        return "no error", wrong


def leaks_nothing():
    """References of arguments and results, after calls that return and calls that raise."""
    argument = object()

    def raises(*arguments):
        raise ValueError(arguments)

    def counts():
        gc.collect()
        return sys.getrefcount(argument), sys.getrefcount(add), sys.getrefcount(raises)

    before = counts()
    for _ in range(1000):
        call_frame.call(lambda a, b: b, argument, argument)
        try:
            call_frame.call(raises, argument, argument)
        except ValueError:
            pass
        try:
            call_frame.call(add, argument, argument)
        except TypeError:
            pass
    return counts(), before


def nested_calls():
    """A function that calls through a frame of its own, deeper and deeper."""

    def down(n, m):
        return 0 if n == 0 else call_frame.call(down, n - 1, m) + m

    _faults.together(2, lambda: [call_frame.call(down, 100, 2) for _ in range(100)])
    return call_frame.call(down, 100, 2), 200


def stress():
    def work(_):
        call_frame.run(add, "frame", 200)
        call_frame.run(add, "fixed", 200)
        assert call_frame.call(Adder().method, 1, 2) == 3

    return _faults.storm(work)
