"""What goes into a function and what comes out, type by type."""

import datetime
import enum

import numpy
import pyarrow as pa
import pytest
from conftest import call

import ungil
from ungil import BOOL, BYTES, DATE, FLOAT32, FLOAT64, INT8, INT64, STRING, TIMESTAMP, UINT8, UINT64

EPOCH = datetime.datetime(1970, 1, 1)


def same(value):
    return value


ROUND_TRIPS = [
    (BOOL, [True, False, None]),
    (INT8, pa.array([-128, 0, 127, None], pa.int8())),
    (ungil.INT16, pa.array([-(2**15), 2**15 - 1, None], pa.int16())),
    (ungil.INT32, pa.array([-(2**31), 2**31 - 1, None], pa.int32())),
    (INT64, [-(2**63), 2**63 - 1, 0, None]),
    (UINT8, pa.array([0, 255, None], pa.uint8())),
    (ungil.UINT16, pa.array([0, 2**16 - 1, None], pa.uint16())),
    (ungil.UINT32, pa.array([0, 2**32 - 1, None], pa.uint32())),
    (UINT64, pa.array([0, 2**64 - 1, None], pa.uint64())),
    (FLOAT32, pa.array([0.1, -0.0, float("inf"), None], pa.float32())),
    (FLOAT64, [0.1, -0.0, float("inf"), 5e-324, None]),
    (STRING, ["", "é中🎉", "a\0b", " a\tb\n", "\\N", None]),
    (BYTES, [b"", b"\xff\0", None]),
    (DATE, [datetime.date(1, 1, 1), datetime.date(1969, 12, 31), datetime.date(9999, 12, 31), None]),
    (TIMESTAMP, [EPOCH - datetime.timedelta(microseconds=1), datetime.datetime.max, None]),
]


def column(kind, data):
    if kind is TIMESTAMP:
        return pa.array(data, pa.timestamp("us"))
    return data if isinstance(data, pa.Array) else pa.array(data)


@pytest.mark.parametrize("kind, data", ROUND_TRIPS, ids=lambda v: repr(v)[:12])
def test_every_type_passes_through_unchanged(kind, data):
    data = column(kind, data)
    assert call(same, [kind], kind, data) == data.to_pylist()


@pytest.mark.parametrize("kind, data", ROUND_TRIPS, ids=lambda v: repr(v)[:12])
def test_the_function_sees_the_python_type(kind, data):
    seen = set()

    def note(value):
        seen.add(type(value))
        return value

    data = column(kind, data)
    call(note, [kind], kind, data)
    expected = {type(value) for value in data.to_pylist() if value is not None}
    assert seen == expected


def test_pandas_strings_come_as_they_are():
    import pandas

    one = ungil.Engine(threads=2, block_rows=2)
    one.register("t", pandas.DataFrame({"a": ["x", None, "中", "", "y"], "n": [1, 2, 3, 4, 5]}))
    ungil.create_function("twice", lambda text: text * 2, [STRING], STRING, replace=True)
    got = one.sql("SELECT twice(a) FROM t").to_pyarrow().column(0).to_pylist()
    assert got == ["xx", None, "中中", "", "yy"]


def test_numpy_scalars_are_taken_as_results():
    data = [1, 2, 3]
    assert call(lambda v: numpy.int64(v), [INT64], INT64, data) == data
    assert call(lambda v: numpy.float32(v), [INT64], FLOAT64, data) == [1.0, 2.0, 3.0]
    assert call(lambda v: numpy.bool_(v > 1), [INT64], BOOL, data) == [False, True, True]


def test_int_and_str_subclasses_are_what_they_derive_from():
    class Color(enum.IntEnum):
        RED = 7

    class Text(str):
        pass

    assert call(lambda v: Color.RED, [INT64], INT64, [1]) == [7]
    assert call(lambda v: Text("é"), [INT64], STRING, [1]) == ["é"]


def test_an_int_is_taken_for_a_float_if_it_is_one_exactly():
    assert call(lambda v: 2**53, [INT64], FLOAT64, [1]) == [float(2**53)]


def test_nan_stays_nan_and_is_no_null():
    (got,) = call(lambda v: float("nan"), [INT64], FLOAT64, [1])
    assert got != got


def test_a_column_widens_to_the_declared_type():
    small = pa.array([1, -2], pa.int8())
    assert call(same, [INT64], INT64, small) == [1, -2]
    assert call(same, [FLOAT64], FLOAT64, small) == [1.0, -2.0]
    assert call(same, [BYTES], BYTES, ["é"]) == ["é".encode()]


def test_a_literal_fits_any_type_that_holds_it():
    ungil.create_function("low", lambda v, w: v, [UINT8, FLOAT64], UINT8, replace=True)
    one = ungil.Engine()
    one.register("t", pa.table({"a": [1]}))
    assert one.sql("SELECT low(255, 1) FROM t").scalar() == 255
    with pytest.raises(ungil.SqlError, match="argument 1 of low is int64, which does not widen"):
        one.sql("SELECT low(256, 1) FROM t")


# Each: what the function returns, the declared type, what the error says of it.
REFUSED = [
    (2**63, INT64, "9223372036854775808 (int), which does not fit int64"),
    (128, INT8, "128 (int), which does not fit int8"),
    (-1, UINT64, "-1 (int), which does not fit uint64"),
    (1.0, INT64, "1.0 (float), which is not an int64"),
    (True, INT64, "True (bool), which is not an int64"),
    (1, BOOL, "1 (int), which is not a bool"),
    (True, FLOAT64, "True (bool), which is not a float64"),
    (2**53 + 1, FLOAT64, "9007199254740993 (int), which has no exact float64"),
    ("1", FLOAT64, "'1' (str), which is not a float64"),
    (1e300, FLOAT32, "1e+300 (float), which does not fit float32"),
    (1, STRING, "1 (int), which is not a string"),
    (b"a", STRING, "b'a' (bytes), which is not a string"),
    ("a\ud800", STRING, r"'a\ud800' (str), which has a lone surrogate and so no UTF-8 form"),
    ("a", BYTES, "'a' (str), which is not bytes"),
    (datetime.datetime(2020, 1, 1), DATE, "(datetime), which is not a date"),
    (datetime.date(2020, 1, 1), TIMESTAMP, "(date), which is not a datetime"),
    (
        datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc),
        TIMESTAMP,
        "(datetime), which has a time zone, and a timestamp has none",
    ),
]


@pytest.mark.parametrize("value, kind, text", REFUSED, ids=lambda v: repr(v)[:20])
def test_a_wrong_result_names_function_row_value_and_type(value, kind, text):
    with pytest.raises(ungil.FunctionError) as caught:
        call(lambda v: value if v == 5 else None, [INT64], kind, list(range(9)))
    message = str(caught.value)
    assert f": row 5: returned" in message and text in message
    assert message.endswith(f"; {kind.name} is declared")
    assert caught.value.row == 5


@pytest.mark.parametrize("value, kind, text", REFUSED, ids=lambda v: repr(v)[:20])
def test_ignore_covers_wrong_results_too(value, kind, text):
    got = call(lambda v: value, [INT64], kind, [1, 2], on_error="ignore")
    assert got == [None, None]


def test_text_that_is_not_utf8_names_the_row_and_is_fine_as_bytes():
    bad = pa.Array.from_buffers(
        pa.string(), 3, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0"), pa.py_buffer(b"a\xffb")]
    )
    with pytest.raises(ungil.FunctionError, match=r"row 1: argument 1 \(string\): 'utf-8' codec"):
        call(same, [STRING], STRING, bad)
    assert call(len, [BYTES], INT64, bad) == [1, 1, 1]
    assert call(same, [STRING], STRING, bad, on_error="ignore") == ["a", None, "b"]


def test_a_date_that_python_does_not_have_names_the_row():
    far = pa.array([0, 2**30], pa.int32()).cast(pa.date32())
    with pytest.raises(ungil.FunctionError, match=r"row 1: argument 1 \(date\): "):
        call(lambda v: None, [DATE], INT64, far)
