"""What each variant of the lesson does, one function a run: see lesson.toml for how each ends."""

import enum
import itertools
import os
import random
import subprocess
import sys
import threading
import time

import twin
from ungil import _faults
from ungil._ungil import object_scan as lesson

PATIENCE = 3


def until_it_crashes(variant):
    """Runs a variant in processes of their own until one dies of a signal, and dies of the same.

    Whether a freed object is met within seconds is chance, and so is what comes of it: most often a
    SIGSEGV, sometimes a hang in corrupted memory. On a machine that is busy the threads seldom run at
    one time, so there are many; two crash on an idle one. Where there is a GIL, one process is enough
    to see that nothing comes of it."""
    for _ in range(1 if _faults.gil_enabled() else 50):
        command = [sys.executable, "-m", "ungil._faults", __file__, variant]
        try:
            ended = subprocess.run(command, capture_output=True, timeout=8)
        except subprocess.TimeoutExpired:
            continue
        if ended.returncode < 0:
            os.kill(os.getpid(), -ended.returncode)
        assert b'"outcome": "ok"' in ended.stdout, ended.stdout


def beside(change, read):
    """`read` until it crashes or the time is up, while two threads `change` what it reads."""
    end = time.monotonic() + PATIENCE
    stop = threading.Event()

    def run():
        while not stop.is_set():
            change()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        while time.monotonic() < end:
            read()
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def big():
    """An int that is made now and freed when it is replaced."""
    return random.randrange(1 << 40, 1 << 50)


def borrowed_list():
    until_it_crashes("borrowed_list_once")


def borrowed_list_once():
    column = [big() for _ in range(64)]

    def change():
        for row in range(64):
            column[row] = big()

    beside(change, lambda: lesson.before_list(column, 1000))


def stale_size():
    until_it_crashes("stale_size_once")


def stale_size_once():
    column = [big() for _ in range(1000)]

    def change():
        del column[10:]
        column.extend(big() for _ in range(990))

    beside(change, lambda: lesson.before_list(column, 1000))


def borrowed_dict():
    until_it_crashes("borrowed_dict_once")


def borrowed_dict_once():
    table = {"rate": big()}

    def change():
        for _ in range(100):
            table["rate"] = big()

    beside(change, lambda: lesson.before_dict(table, "rate", 100_000))


def walked_dict():
    until_it_crashes("walked_dict_once")


def walked_dict_once():
    table = {row: big() for row in range(64)}

    def change():
        for row in range(64):
            table.pop(row, None)
        table.update({row: big() for row in range(128)})

    beside(change, lambda: lesson.before_walk(table, 1000))


def cpp_borrowed_list():
    until_it_crashes("cpp_borrowed_list_once")


def cpp_borrowed_list_once():
    column = [big() for _ in range(8)]

    def change():
        for row in range(8):
            column[row] = big()

    beside(change, lambda: twin.object_scan.before_sum(column, 1000))


def shared_iterator():
    """Threads that draw from one iterator, as from a queue: how many rows they saw in all."""
    for _ in range(20):
        rows = iter(list(range(100_000)))
        counts = []
        barrier = threading.Barrier(4)

        def draw():
            barrier.wait()
            counts.append(sum(1 for _ in rows))

        threads = [threading.Thread(target=draw) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if sum(counts) != 100_000:
            break
    return sum(counts), 100_000


def changed_meanwhile():
    """The same changes, beside scans: each answer is of some state of the container."""
    column = [big() for _ in range(1000)]
    table = {row: big() for row in range(64)}

    def change():
        del column[10:]
        for row in range(10):
            column[row] = big()
        column.extend(big() for _ in range(990))
        for row in range(64):
            table.pop(row, None)
        table.update({row: big() for row in range(128)})

    def read():
        for kind, container in itertools.product(("int64", "float64", "str"), (column, table)):
            assert all(value is not None for value in lesson.scan(container, kind))
        twin.object_scan.after_sum(column, 10)
        twin.object_scan.after_sum(table, 10)

    beside(change, read)


def one_state():
    """A list whose items are all replaced in one step: a scan sees those of one step, never some of each."""
    column = [1 << 40] * 2000
    stop = threading.Event()

    def replace():
        for number in itertools.count(1 << 41):
            if stop.is_set():
                return
            column[:] = [number] * 2000

    threads = [threading.Thread(target=replace) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(1000):
            got = lesson.scan(column, "int64", 1)
            assert len(got) == 2000 and len(set(got)) == 1, sorted(set(got))
    finally:
        stop.set()
        for thread in threads:
            thread.join()


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 70_000


class Int(int):
    pass


class Text(str):
    pass


class Index:
    def __index__(self):
        return 12


def ints_of_all_kinds():
    import numpy
    import pandas

    values = [0, -1, 2**63 - 1, -(2**63), Level.HIGH, Int(5), numpy.int8(-3), numpy.uint64(7), Index(),
              None, float("nan"), pandas.NaT, pandas.NA, numpy.float64("nan")]  # fmt: skip
    expected = [0, -1, 2**63 - 1, -(2**63), 70_000, 5, -3, 7, 12, None, None, None, None, None]
    assert lesson.scan(values, "int64") == expected
    array = numpy.array(values, dtype=object)
    assert lesson.scan(array, "int64") == expected
    assert lesson.scan(array[::-1], "int64") == expected[::-1]
    assert lesson.scan(pandas.Series(values, dtype=object), "int64") == expected
    assert lesson.scan(dict(enumerate(values)), "int64") == expected
    assert lesson.scan(iter(values), "int64") == expected
    floats = [1.5, numpy.float32(0.5), Int(2), 3, None, numpy.int64(4), float("inf"), float("nan")]
    assert lesson.scan(floats, "float64") == [1.5, 0.5, 2.0, 3.0, None, 4.0, float("inf"), None]
    assert lesson.scan([True, numpy.bool_(False), None], "bool") == [True, False, None]
    odd = ["a", Text("b"), 3, None, [1, "x"], b"xy", "é"]
    return lesson.scan(odd, "str"), ["a", "b", "3", None, "[1, 'x']", "b'xy'", "é"]


def refusals():
    """Never a silent 0: row, value and type are named, and the first row wins at any thread count."""
    import numpy

    class Raises:
        def __str__(self):
            raise LookupError("no text for this one")

    cases = [
        ("int64", 2**63, OverflowError, f"row 140000: {2**63} does not fit int64"),
        ("int64", numpy.uint64(2**64 - 1), OverflowError, f"row 140000: {numpy.uint64(2**64 - 1)!r} does not fit int64"),
        ("int64", True, TypeError, "row 140000: True is of type bool, not int64"),
        ("int64", numpy.True_, TypeError, "row 140000: np.True_ is of type bool, not int64"),
        ("int64", 1.0, TypeError, "row 140000: 1.0 is of type float, not int64"),
        ("int64", "1", TypeError, "row 140000: '1' is of type str, not int64"),
        ("float64", "1", TypeError, "row 140000: '1' is of type str, not float64"),
        ("float64", True, TypeError, "row 140000: True is of type bool, not float64"),
        ("float64", 10**400, OverflowError, "row 140000: 1000"),
        ("bool", 1, TypeError, "row 140000: 1 is of type int, not bool"),
        ("str", Raises(), LookupError, "no text for this one"),
        ("str", "\ud800", UnicodeEncodeError, "surrogates not allowed"),
    ]  # fmt: skip
    filler = {"int64": 1, "float64": 1.0, "bool": True, "str": "x"}
    for kind, wrong, error, message in cases:
        column = [filler[kind]] * 140_000 + [wrong] + [filler[kind]] * 60_000 + [object()] * 70_000
        for threads in (1, 2, 8):
            try:
                lesson.scan(column, kind, threads)
            except error as raised:
                assert message in str(raised), raised
            else:
                return f"{wrong!r} was taken for {kind}", message


def any_number_of_threads():
    column = [None if row % 7 == 0 else row for row in range(200_000)]
    results = [lesson.scan(column, "int64", threads) for threads in (1, 2, 3, 8, 32)]
    assert all(result == column for result in results)
    assert lesson.scan([], "int64", 8) == []


def strings_that_change_the_column():
    """A `__str__` that empties the list it is in, and one that collects."""
    import gc

    column = []

    class Empties:
        def __str__(self):
            column.clear()
            gc.collect()
            return "emptied"

    column.extend([Empties() if row % 50_000 == 7 else f"row {row}" for row in range(150_000)])
    got = lesson.scan(column, "str", 2)
    assert len(got) == 150_000 and got[7] == "emptied" and got[149_999] == "row 149999"
    return column, []


def references():
    """Nothing of the column is held after the scan, nor after one that failed."""
    value = object()
    before = sys.getrefcount(value)
    for kind in ("str", "int64"):
        try:
            lesson.scan([value] * 1000, kind)
        except TypeError:
            pass
    return sys.getrefcount(value), before


def stress():
    column = [big() for _ in range(500)]

    def work(index):
        if index % 4 == 0:
            del column[5:]
            column.extend(big() for _ in range(495))
        else:
            assert all(value > 0 for value in lesson.scan(column, "int64"))
            lesson.scan(column, "str", 1)

    return _faults.storm(work)
