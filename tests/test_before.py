"""The two ways out of the process: the codec, the types, the children."""

import os

import pyarrow as pa
import pytest
from conftest import engine, name, values
from hypothesis import given, settings
from hypothesis import strategies as st

import ungil
from ungil import BOOL, FLOAT64, INT64, STRING, _ungil, udf_in_process

lesson = _ungil.udf_in_process


def plus(a, b):
    return a + b


def same(value):
    return value


def complains(value):
    import sys

    print("about to fail", file=sys.stderr)
    raise ValueError(f"no {value}")


def too_many(value):
    return value * 10**18


def noisy(value):
    print("printing is harmless here")
    return value


def ends(value):
    import os

    os._exit(3)


def pid(value):
    import os

    return os.getpid()


def pooled(function, types, returns, threads=2, block_rows=4, **columns):
    own = name()
    udf_in_process.create_pooled_function(own, function, types, returns)
    try:
        one = engine(threads, block_rows, **columns)
        return values(one.sql(f"SELECT {own}({', '.join(columns)}) FROM t"))
    finally:
        ungil.drop_function(own)


@given(st.binary())
def test_escaping_is_undone_and_leaves_no_structure(value):
    field = lesson.escape(value)
    assert b"\t" not in field and b"\n" not in field
    assert lesson.unescape(field) == value
    assert field != b"\\N"


def test_the_text_backslash_n_is_not_null():
    assert lesson.escape(b"\\N") == b"\\\\N"
    assert lesson.unescape(b"\\\\N") == b"\\N"
    assert lesson.unescape(b"\\q\\") == b"q\\"


@settings(max_examples=15, deadline=None)
@given(st.lists(st.none() | st.text(), min_size=1, max_size=40))
def test_any_text_comes_back_from_the_pool(texts):
    assert pooled(same, [STRING], STRING, a=pa.array(texts, pa.string())) == texts


@settings(max_examples=10, deadline=None)
@given(st.lists(st.none() | st.floats(allow_nan=False), min_size=1, max_size=20))
def test_any_float_comes_back_from_the_pool(numbers):
    column = pa.array(numbers, pa.float64())
    assert pooled(same, [FLOAT64], FLOAT64, a=column) == numbers


def test_pooled_arguments_have_their_types_and_print_is_harmless():
    assert pooled(plus, [INT64, INT64], INT64, a=[1, None, 3], b=[10, 10, 10]) == [11, None, 13]
    assert pooled(same, [BOOL], BOOL, a=[True, False, None]) == [True, False, None]
    assert pooled(noisy, [STRING], STRING, a=["x", ""]) == ["x", ""]


def test_pooled_workers_stay():
    pids = pooled(pid, [INT64], INT64, threads=1, block_rows=2, a=list(range(10)))
    assert len(set(pids)) == 1 and pids[0] != os.getpid()


def test_naive_starts_a_process_for_each_block():
    own = name()
    udf_in_process.create_naive_function(own, pid, [INT64], INT64)
    one = engine(threads=2, block_rows=2, a=list(range(10)))
    assert len(set(values(one.sql(f"SELECT {own}(a) FROM t")))) == 5


def test_a_pooled_error_names_function_row_and_value():
    with pytest.raises(ungil.EngineError, match=r"f\d+: row 0: ValueError: no 7"):
        pooled(complains, [INT64], INT64, a=[7, 8])
    with pytest.raises(ungil.EngineError, match=r"row 1: OverflowError: returned .* not fit int64"):
        pooled(too_many, [INT64], INT64, a=[1, 100])
    with pytest.raises(ungil.EngineError, match=r"row 0: TypeError: returned 7, which is not a string"):
        pooled(same, [INT64], STRING, a=[7])


def test_a_naive_error_carries_the_childs_stderr():
    own = name()
    udf_in_process.create_naive_function(own, complains, [INT64], INT64)
    with pytest.raises(ungil.EngineError, match=r"(?s)exit status: 1.*about to fail.*ValueError: no 7"):
        engine(a=[7]).sql(f"SELECT {own}(a) FROM t")


def test_a_dead_worker_is_replaced():
    with pytest.raises(ungil.EngineError, match="the child ended early"):
        pooled(ends, [INT64], INT64, a=[1])
    assert pooled(same, [INT64], INT64, a=[1]) == [1]


def test_what_text_cannot_carry_is_refused():
    for create in (udf_in_process.create_naive_function, udf_in_process.create_pooled_function):
        with pytest.raises(TypeError, match="date does not travel as text"):
            create(name(), same, ["date"], "date")
        with pytest.raises(TypeError, match=r"\*args cannot be sent out of process"):
            create(name(), lambda *a: 1, [INT64], INT64)
        with pytest.raises(ValueError, match="only a `def` has source to send"):
            create(name(), lambda a: 1, [INT64], INT64)
