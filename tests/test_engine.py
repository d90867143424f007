"""The engine against pandas: whatever the threads and the size of blocks."""

import math

import pandas
import pyarrow as pa
import pytest
from conftest import engine, name, values
from hypothesis import given, settings
from hypothesis import strategies as st

import ungil
from ungil import FLOAT64, INT64

tables = st.lists(
    st.tuples(
        st.none() | st.integers(-(2**40), 2**40),
        st.none() | st.floats(allow_nan=False, allow_infinity=False),
        st.none() | st.booleans(),
        st.none() | st.sampled_from(["", "a", "b", "é", "aé中🎉"]),
    ),
    max_size=60,
)
shapes = st.tuples(st.sampled_from([1, 2, 3, 8]), st.sampled_from([1, 2, 7, 64]))


def arrow(rows):
    columns = list(zip(*rows)) if rows else [[], [], [], []]
    types = [pa.int64(), pa.float64(), pa.bool_(), pa.string()]
    return pa.table([pa.array(c, t) for c, t in zip(columns, types)], names=["i", "f", "b", "s"])


def run(table, query, shape):
    one = ungil.Engine(threads=shape[0], block_rows=shape[1])
    one.register("t", table)
    return one.sql(query).to_pyarrow()


@settings(max_examples=60, deadline=None)
@given(tables, shapes)
def test_projection_and_filter_equal_pandas(rows, shape):
    table = arrow(rows)
    frame = table.to_pandas(types_mapper=pandas.ArrowDtype)
    got = run(table, "SELECT i * 2 + 1, s FROM t WHERE i > 0 AND contains(s, 'a') OR b", shape)
    keep = ((frame.i > 0) & frame.s.str.contains("a")) | frame.b
    kept = frame[keep.fillna(False)]
    assert got.column(0).to_pylist() == [None if pandas.isna(v) else v * 2 + 1 for v in kept.i]
    assert got.column(1).to_pylist() == [None if pandas.isna(v) else v for v in kept.s]


@settings(max_examples=60, deadline=None)
@given(tables, shapes)
def test_aggregates_equal_the_exact_ones(rows, shape):
    table = arrow(rows)
    got = run(table, "SELECT count(*), count(i), sum(i), min(i), max(i), sum(f), min(s), max(s) FROM t", shape)
    ints = [r[0] for r in rows if r[0] is not None]
    floats = [r[1] for r in rows if r[1] is not None]
    texts = [r[3].encode() for r in rows if r[3] is not None]
    try:
        total = math.fsum(floats) if floats else None
    except OverflowError:
        return
    expected = [
        len(rows), len(ints), sum(ints) if ints else None, min(ints, default=None),
        max(ints, default=None), total,
        min(texts).decode() if texts else None, max(texts).decode() if texts else None,
    ]
    assert [column[0].as_py() for column in got.columns] == expected


@settings(max_examples=60, deadline=None)
@given(tables, shapes)
def test_groups_equal_pandas_and_come_in_order_of_their_first_row(rows, shape):
    got = run(arrow(rows), "SELECT s, count(*), sum(i) FROM t GROUP BY s", shape).to_pylist()
    groups = {}
    for i, _, _, s in rows:
        groups.setdefault(s, []).append(i)
    expected = [
        {
            "s": key,
            "count(*)": len(group),
            "sum(i)": sum(v for v in group if v is not None)
            if any(v is not None for v in group)
            else None,
        }
        for key, group in groups.items()
    ]
    assert got == expected


@settings(max_examples=40, deadline=None)
@given(tables, shapes)
def test_functions_equal_pandas(rows, shape):
    table = arrow(rows)
    own = name()
    ungil.create_function(own, lambda i, f: i % 97 + f / 3, [INT64, FLOAT64], FLOAT64)
    try:
        got = run(table, f"SELECT {own}(i, f) FROM t WHERE i % 2 = 0", shape).column(0).to_pylist()
    finally:
        ungil.drop_function(own)
    expected = [
        None if f is None else i % 97 + f / 3 for i, f, _, _ in rows if i is not None and i % 2 == 0
    ]
    assert got == expected


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=50))
def test_the_float_sum_is_the_correctly_rounded_one(numbers):
    try:
        expected = math.fsum(numbers)
    except OverflowError:
        return
    assert ungil._ungil.exact_sum(numbers) == expected


def test_the_float_sum_does_not_depend_on_the_split():
    numbers = [1e100, 1.0, -1e100, 1e-30] * 1000
    sums = {
        run(pa.table({"f": numbers}), "SELECT sum(f) FROM t", (threads, block)).column(0)[0].as_py()
        for threads in (1, 2, 8)
        for block in (1, 3, 1000, 65536)
    }
    assert sums == {math.fsum(numbers)}


def test_chunks_are_read_where_they_lie():
    table = pa.concat_tables(
        [
            pa.table({"s": pa.array(["skip", "a", None]).slice(1)}),
            pa.table({"s": pa.array([], pa.string())}),
            pa.table({"s": ["b", "", "é"]}),
        ]
    )
    assert table.column("s").num_chunks == 3
    assert run(table, "SELECT s FROM t", (2, 2)).column(0).to_pylist() == ["a", None, "b", "", "é"]


def test_nothing_is_copied_in():
    """The buffer that a filterless projection gives back is the one that was mounted."""
    column = pa.array(range(1000))
    got = run(pa.table({"a": column}), "SELECT a FROM t", (1, 65536)).column(0).chunk(0)
    assert got.buffers()[1].address == column.buffers()[1].address


def test_a_result_outlives_its_table_and_engine():
    one = engine(a=list(range(100)))
    result = one.sql("SELECT a FROM t")
    one.register("t", pa.table({"a": [1]}))
    del one
    assert values(result) == list(range(100))


def test_threads_see_one_engine():
    import threading

    one = engine(threads=2, a=list(range(1000)))
    sums = []
    threads = [
        threading.Thread(target=lambda: sums.append(one.sql("SELECT sum(a) FROM t").scalar()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [499500] * 8


@pytest.mark.parametrize(
    "query, text",
    [
        ("SELECT a + b FROM t", r"row 5: int64 overflow: 9223372036854775807 \+ 1"),
        ("SELECT a * 2 FROM t", r"row 5: int64 overflow: 9223372036854775807 \* 2"),
        ("SELECT b % (b - 1) FROM t", "row 0: remainder of a division by zero"),
        ("SELECT a + 0.5 FROM t", "row 5: int64 9223372036854775807 has no exact float64"),
        ("SELECT sum(a) FROM t", "sum: the total does not fit int64"),
    ],
)
def test_a_value_that_cannot_be_is_an_error_with_its_row(query, text):
    one = engine(a=[1, 2, 3, 4, 5, 2**63 - 1, 1], b=[1] * 7)
    with pytest.raises(ungil.EngineError, match=text):
        one.sql(query)


def test_what_lies_under_a_null_cannot_fail():
    hidden = pa.Array.from_buffers(
        pa.int64(), 2, [pa.py_buffer(b"\1"), pa.py_buffer((1).to_bytes(8, "little") + b"\xff" * 7 + b"\x7f")]
    )
    assert run(pa.table({"a": hidden}), "SELECT a + 1 FROM t", (1, 8)).column(0).to_pylist() == [2, None]
