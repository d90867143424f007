"""Registering functions, calling them, and what happens when they fail."""

import gc
import sys
import threading
import typing
import weakref

import pyarrow as pa
import pytest
from conftest import call, engine, name, values

import ungil
from ungil import FLOAT64, INT64, STRING


def test_the_story_reads_as_told():
    own = name()

    @ungil.func([FLOAT64, FLOAT64], FLOAT64, name=own)
    def speed(distance, air_time):
        return distance / (air_time / 60)

    one = engine(distance=[1400.0, 300.0], air_time=[120.0, None])
    assert one.sql(f"SELECT sum({own}(distance, air_time)) FROM t").scalar() == 700.0
    assert speed(1400, 120) == 700.0


@pytest.mark.parametrize(
    "declared",
    [INT64, "int64", "INT64", " Int64 ", "int", int, typing.Optional[int], int | None],
    ids=str,
)
def test_types_can_be_declared_in_every_way(declared):
    assert call(lambda v: v + 1, [declared], declared, [1]) == [2]


def test_numpy_types_declare_too():
    import numpy

    assert call(lambda v: v + 1, [numpy.int64], numpy.float64, [1]) == [2.0]


def test_annotations_declare():
    def longer(text: str, by: int = 1) -> str | None:
        return text + "!" * by

    own = name()
    ungil.create_function(own, longer)
    one = engine(a=["x"])
    assert values(one.sql(f"SELECT {own}(a) FROM t")) == ["x!"]
    assert values(one.sql(f"SELECT {own}(a, 3) FROM t")) == ["x!!!"]
    with pytest.raises(ungil.SqlError, match=f"{own} takes 1 to 2 arguments and got 3"):
        one.sql(f"SELECT {own}(a, 3, 4) FROM t")


def test_varargs_take_the_last_declared_type():
    own = name()
    ungil.create_function(own, lambda first, *rest: first + sum(rest), [INT64, INT64], INT64)
    one = engine(a=[1, 2])
    assert values(one.sql(f"SELECT {own}(a, 10, 100, 1000) FROM t")) == [1111, 1112]
    with pytest.raises(ungil.SqlError, match="at least 1 arguments and got 0"):
        one.sql(f"SELECT {own}() FROM t")


def test_a_function_without_a_signature_is_taken_at_its_declaration():
    assert call(max, [INT64, INT64], INT64, [1, 5], [3, 2]) == [3, 5]


@pytest.mark.parametrize(
    "function, types, text",
    [
        (lambda *, a: a, [INT64], "a is keyword-only"),
        (lambda *rest, a=1: a, [INT64], "a is keyword-only"),
        (lambda **rest: 1, [INT64], r"\*\*rest cannot be filled"),
        (lambda a, b: a, [INT64], "1 argument types are declared, but the function takes 2 arguments"),
        (lambda a: a, [INT64, INT64], "2 argument types are declared, but the function takes 1 argument"),
        (lambda *rest: 1, [], r"declare the type of its \*args"),
        (lambda a: a, ["int63"], '"int63" is not a type that a function can take'),
        (lambda a: a, [int | str], "is not a type that a function can take"),
        (lambda a: a, [complex], "complex.* is not a type"),
        (lambda a: a, None, "declare the type of a, or annotate it"),
        (7, [INT64], "7 is not callable"),
    ],
    ids=lambda v: str(v)[:24],
)
def test_what_cannot_be_called_is_refused_when_it_is_registered(function, types, text):
    with pytest.raises(TypeError, match=text):
        ungil.create_function(name(), function, types, INT64)


def test_options_are_checked():
    with pytest.raises(ValueError, match="on_null is 'skp'; it must be \"skip\" or \"pass\""):
        ungil.create_function(name(), len, [STRING], INT64, on_null="skp")
    with pytest.raises(TypeError, match="unknown option on_nul; known are on_null, on_error, replace"):
        ungil.create_function(name(), len, [STRING], INT64, on_nul="skip")
    with pytest.raises(ValueError, match="cannot be called in SQL"):
        ungil.create_function("two words", len, [STRING], INT64)
    with pytest.raises(ValueError, match="sum is an aggregate of the engine"):
        ungil.create_function("sum", len, [STRING], INT64)


def test_a_taken_name_is_an_error_until_it_is_dropped_or_replaced():
    own = name()
    ungil.create_function(own, lambda v: 1, [INT64], INT64)
    with pytest.raises(ValueError, match=f'a function "{own}" exists'):
        ungil.create_function(own, lambda v: 2, [INT64], INT64)
    one = engine(a=[0])
    assert one.sql(f"SELECT {own}(a) FROM t").scalar() == 1
    ungil.create_function(own, lambda v: 3, [INT64], INT64, replace=True)
    assert one.sql(f"SELECT {own}(a) FROM t").scalar() == 3
    ungil.drop_function(own)
    ungil.drop_function(own)
    with pytest.raises(ungil.SqlError, match=f'no function "{own}"'):
        one.sql(f"SELECT {own}(a) FROM t")


def test_null_skips_the_call_and_makes_no_placeholder():
    calls = []

    def note(a, b):
        calls.append((a, b))
        return 100 // a

    got = call(note, [INT64, INT64], INT64, [1, None, 2, 5], [1, 1, None, 1], threads=1)
    assert got == [100, None, None, 20]
    assert calls == [(1, 1), (5, 1)]


def test_pass_hands_over_none():
    got = call(lambda v: -1 if v is None else v, [INT64], INT64, [1, None], on_null="pass")
    assert got == [1, -1]


@pytest.mark.parametrize("threads", [1, 2, 8, 32])
def test_an_exception_names_the_first_row_that_failed(threads):
    def fussy(a):
        if a % 100 == 42:
            raise ValueError(f"no {a}")
        return a

    with pytest.raises(ungil.FunctionError) as caught:
        call(fussy, [INT64], INT64, list(range(1000)), threads=threads)
    error = caught.value
    assert error.row == 42 and "raised ValueError: no 42 for (42)" in str(error)
    assert isinstance(error.__cause__, ValueError)
    # The traceback leads into the user's own line.
    frames = []
    step = error.__cause__.__traceback__
    while step:
        frames.append(step.tb_frame.f_code.co_name)
        step = step.tb_next
    assert frames == ["fussy"]


def test_the_row_is_the_tables_even_behind_a_filter():
    own = name()
    ungil.create_function(own, lambda v: 1 // (v - 7), [INT64], INT64)
    one = engine(a=list(range(20)))
    with pytest.raises(ungil.FunctionError) as caught:
        one.sql(f"SELECT {own}(a) FROM t WHERE a % 2 = 1")
    assert caught.value.row == 7


def test_ignore_gives_null_for_the_row_alone():
    got = call(lambda v: 10 // v, [INT64], INT64, [1, 0, 5], on_error="ignore")
    assert got == [10, None, 2]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_is_not_an_exception_goes_through_even_ignore(kind):
    def leave(v):
        raise kind("now")

    with pytest.raises(kind):
        call(leave, [INT64], INT64, [1], on_error="ignore")


def test_an_exception_whose_text_fails_is_still_reported():
    class Rude(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    def leave(v):
        raise Rude

    with pytest.raises(ungil.FunctionError, match="raised Rude for"):
        call(leave, [INT64], INT64, [1])


def test_the_engine_is_usable_after_a_failure_and_nothing_is_leaked():
    class Marked(Exception):
        pass

    alive = weakref.WeakSet()

    def leave(v):
        error = Marked(v)
        alive.add(error)
        raise error

    own = name()
    ungil.create_function(own, leave, [INT64], INT64)
    one = engine(threads=8, block_rows=2, a=list(range(64)))
    for _ in range(20):
        with pytest.raises(ungil.FunctionError, match="raised Marked"):
            one.sql(f"SELECT {own}(a) FROM t")
    assert one.sql("SELECT count(*) FROM t").scalar() == 64
    gc.collect()
    assert len(alive) <= 2, "exceptions of finished queries are kept"


def test_arguments_and_results_are_released():
    class Result(float):
        pass

    alive = weakref.WeakSet()

    seen = []

    def make(v):
        result = Result(v)
        alive.add(result)
        seen.append(len(alive))
        return result

    assert call(make, [INT64], FLOAT64, list(range(100))) == list(range(100))
    assert len(seen) == 100 and max(seen) >= 1
    gc.collect()
    assert len(alive) == 0


@pytest.mark.thread_unsafe(reason="it counts the blocks of the whole process")
def test_no_argument_is_leaked():
    """Big ints are made for each row: a reference that is kept shows as blocks that are not freed."""
    rows = list(range(10**12, 10**12 + 20_000))
    one = engine(threads=1, block_rows=1000, a=rows)
    own = name()
    ungil.create_function(own, lambda v: None, [INT64], INT64)
    one.sql(f"SELECT {own}(a) FROM t")
    before = sys.getallocatedblocks()
    one.sql(f"SELECT {own}(a) FROM t")
    assert sys.getallocatedblocks() - before < 1000


def test_dropping_releases_the_function():
    def short(v):
        return v

    reference = weakref.ref(short)
    own = name()
    ungil.create_function(own, short, [INT64], INT64)
    engine(a=[1]).sql(f"SELECT {own}(a) FROM t")
    del short
    ungil.drop_function(own)
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("replace", [True, False])
def test_a_running_query_keeps_its_function(replace):
    own = name()
    entered, go = threading.Event(), threading.Event()

    def first(v):
        entered.set()
        assert go.wait(30)
        return 1

    ungil.create_function(own, first, [INT64], INT64)
    one = engine(threads=2, block_rows=1, a=list(range(8)))
    got = []
    running = threading.Thread(target=lambda: got.extend(values(one.sql(f"SELECT {own}(a) FROM t"))))
    running.start()
    assert entered.wait(30)
    if replace:
        ungil.create_function(own, lambda v: 2, [INT64], INT64, replace=True)
        assert values(one.sql(f"SELECT {own}(a) FROM t")) == [2] * 8
    else:
        ungil.drop_function(own)
    go.set()
    running.join(30)
    assert got == [1] * 8


def test_one_name_registered_by_many_threads_is_given_once():
    own, wins = name(), []
    barrier = threading.Barrier(8)

    def attempt(number):
        barrier.wait()
        try:
            ungil.create_function(own, lambda v: number, [INT64], INT64)
            wins.append(number)
        except ValueError:
            pass

    threads = [threading.Thread(target=attempt, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wins) == 1
    assert engine(a=[0]).sql(f"SELECT {own}(a) FROM t").scalar() == wins[0]


def test_a_function_may_itself_run_a_query():
    one = engine(a=[1, 2, 3, 4, 5])
    own = name()
    ungil.create_function(own, lambda v: one.sql("SELECT sum(a) FROM t").scalar() + v, [INT64], INT64)
    assert values(one.sql(f"SELECT {own}(a) FROM t")) == [16, 17, 18, 19, 20]


def test_functions_run_on_the_engines_threads_side_by_side():
    barrier = threading.Barrier(2)
    idents = set()

    def meet(v):
        idents.add(threading.get_ident())
        # Two threads must be inside the function at once; waiting lets the other in on both builds.
        barrier.wait(30)
        return v

    assert call(meet, [INT64], INT64, [1, 2], threads=2, block_rows=1) == [1, 2]
    assert len(idents) == 2 and threading.get_ident() not in idents


def test_a_bound_method_and_a_callable_object_work():
    class Adder:
        def __init__(self, by):
            self.by = by

        def add(self, v):
            return v + self.by

        def __call__(self, v):
            return v - self.by

    assert call(Adder(5).add, [INT64], INT64, [1, 2]) == [6, 7]
    assert call(Adder(5), [INT64], INT64, [1, 2]) == [-4, -3]


def batch(function, types, returns, **columns):
    own = name()
    ungil.create_batch_function(own, function, types, returns)
    return values(engine(**columns).sql(f"SELECT {own}({', '.join(columns)}) FROM t"))


def test_a_batch_function_gets_whole_arrays():
    import pyarrow.compute as compute

    sizes = []

    def add(a, b):
        assert isinstance(a, pa.Array)
        sizes.append(len(a))
        return compute.add(a, b)

    got = batch(add, [INT64, INT64], INT64, a=[1, None, 3, 4, 5, 6], b=[10, 10, 10, 10, 10, None])
    assert got == [11, None, 13, 14, 15, None]
    assert sorted(sizes) == [2, 4]


@pytest.mark.parametrize(
    "function, text",
    [
        (lambda a: a.cast(pa.float64()), "returned an array of Float64; int64 is declared, so cast it"),
        (lambda a: a.slice(1), "returned 3 rows for a block of 4"),
        (lambda a: a.to_pylist(), "which is not an Arrow array"),
        (lambda a: 1 // 0, "raised ZeroDivisionError: .* for \\(a block of 4 rows\\)"),
    ],
)
def test_a_batch_function_that_returns_something_else_is_named(function, text):
    with pytest.raises(ungil.FunctionError, match=f"row 0: .*{text}"):
        batch(function, [INT64], INT64, a=[1, 2, 3, 4])


def test_a_batch_result_with_broken_offsets_is_refused():
    def broken(a):
        offsets = pa.py_buffer(b"\0\0\0\0\xff\0\0\0")
        return pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(b"ab")])

    with pytest.raises((ungil.FunctionError, ValueError)):
        batch(broken, [STRING], STRING, a=["x"])


def test_no_thread_stays_attached_after_a_failure():
    """A stop-the-world waits for every attached thread: a thread left attached would hang it."""
    with pytest.raises(ungil.FunctionError):
        call(lambda v: 1 // 0, [INT64], INT64, list(range(64)), threads=8)
    done = threading.Event()
    threading.Thread(target=lambda: (gc.collect(), done.set())).start()
    assert done.wait(30)
