"""What the SQL front door takes, and how it refuses the rest: by name."""

import datetime

import pyarrow as pa
import pytest
from conftest import engine, values

import ungil


def test_names_and_aliases():
    result = engine(a=[1, 2], s=["x", "y"]).sql("SELECT a, a + 1 AS next, length(s), * FROM t")
    assert result.columns == ["a", "next", "length(s)", "a", "s"]
    assert (len(result), repr(result)[:18]) == (2, "QueryResult(2 rows")
    assert pa.table(result).num_rows == 2


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("1 + 2 * 3", 7), ("-(2 - 5)", 3), ("7 % 3", 1), ("-7 % 3", -1), ("7 / 2", 3.5),
        ("1 + 0.5", 1.5), ("-9223372036854775808", -(2**63)), ("'a' = 'a'", True),
        ("NOT TRUE", False), ("NULL IS NULL", True), ("1 IS NOT NULL", True),
        ("NULL AND FALSE", False), ("NULL OR TRUE", True), ("NULL AND TRUE", None),
        ("NULL = 1", None), ("2 > 1.5", True), ("length('é🎉')", 2), ("contains('abc', 'bc')", True),
        ("contains('abc', '')", True), ("1 <> 2", True), ("'a' < 'b'", True), ("1 - NULL", None),
    ],
)
def test_expressions(expression, expected):
    assert engine(a=[1]).sql(f"SELECT {expression} FROM t").scalar() == expected


@pytest.mark.parametrize(
    "query, text",
    [
        ("SELEC a FROM t", "sql parser error"),
        ("DELETE FROM t", "only SELECT can be run"),
        ("SELECT a FROM t; SELECT a FROM t", "one statement at a time"),
        ("SELECT a", "a SELECT without FROM is not supported"),
        ("SELECT a FROM u", 'no table "u"'),
        ("SELECT x FROM t", 'no column "x"; the table has a, s'),
        ("SELECT f(a) FROM t", 'no function "f"; register it first'),
        ("SELECT a FROM t ORDER BY a", "ORDER BY is not supported"),
        ("SELECT a FROM t LIMIT 1", "LIMIT is not supported"),
        ("SELECT DISTINCT a FROM t", "DISTINCT is not supported"),
        ("SELECT a FROM t JOIN t ON TRUE", "JOIN is not supported"),
        ("SELECT a FROM t, t", "a list of tables is not supported"),
        ("SELECT a FROM (SELECT a FROM t)", "a subquery is not supported"),
        ("SELECT a FROM t AS u", "is not supported"),
        ("SELECT a FROM s.t", "qualified table name"),
        ("WITH u AS (SELECT 1) SELECT a FROM t", "WITH is not supported"),
        ("SELECT a FROM t UNION SELECT a FROM t", "UNION is not supported"),
        ("SELECT sum(a) FROM t GROUP BY a, s", "GROUP BY more than one expression is not supported"),
        ("SELECT a FROM t GROUP BY s", "a is neither an aggregate nor the GROUP BY expression"),
        ("SELECT sum(a) + 1 FROM t", "expressions over aggregates are not supported|within an expression"),
        ("SELECT sum(a) FROM t HAVING sum(a) > 1", "HAVING is not supported"),
        ("SELECT a BETWEEN 1 AND 2 FROM t", "BETWEEN is not supported"),
        ("SELECT a IN (1) FROM t", "IN is not supported"),
        ("SELECT s LIKE 'a' FROM t", r"LIKE \(use contains\) is not supported"),
        ("SELECT CASE WHEN TRUE THEN 1 END FROM t", "CASE is not supported"),
        ("SELECT CAST(a AS INT) FROM t", "CAST is not supported"),
        ("SELECT sum(DISTINCT a) FROM t", r"DISTINCT or ALL in sum\(DISTINCT a\) is not supported"),
        ("SELECT sum(a) OVER () FROM t", "OVER is not supported"),
        ("SELECT a || s FROM t", r"the operator \|\| is not supported"),
        ("SELECT a + s FROM t", r"\+ does not take int64 and string"),
        ("SELECT a FROM t WHERE a", "WHERE needs a bool and got int64"),
        ("SELECT a AND TRUE FROM t", "AND does not take int64 and bool"),
        ("SELECT sum(s) FROM t", "sum does not take string"),
        ("SELECT length(a) FROM t", "length does not take int64"),
        ("SELECT length(s, s) FROM t", "length takes one argument"),
        ("SELECT 99999999999999999999 FROM t", "does not fit int64"),
        ("SELECT a FROM t QUALIFY TRUE", "QUALIFY is not supported"),
        ("SELECT a FROM t TABLESAMPLE (10)", "is not supported"),
        ("SELECT TOP 1 a FROM t", "is not supported"),
    ],
)
def test_the_rest_is_refused_by_name(query, text):
    with pytest.raises(ungil.SqlError, match=text):
        engine(a=[1], s=["x"]).sql(query)


def test_other_types_pass_through_and_count():
    day = datetime.date(2013, 1, 1)
    one = engine(d=[day, None], n=pa.array([1, 2], pa.int8()))
    assert values(one.sql("SELECT d FROM t WHERE n = 1")) == [day]
    assert one.sql("SELECT count(d) FROM t").scalar() == 1
    assert one.sql("SELECT sum(n) FROM t").scalar() == 3
    with pytest.raises(ungil.SqlError, match="min does not take date"):
        one.sql("SELECT min(d) FROM t")


def test_a_column_type_that_the_engine_lacks_is_named():
    with pytest.raises(TypeError, match=r'column "d" is of type Decimal.*it has bool, int8'):
        engine(d=pa.array([1], pa.decimal128(5)))


def test_options_out_of_range_say_the_range():
    for options in ({"threads": 0}, {"threads": 1025}, {"block_rows": 0}):
        (option,) = options
        with pytest.raises(ValueError, match=f"{option} is .*; it must be 1 to"):
            ungil.Engine(**options)
        with pytest.raises(ValueError, match=f"{option} is .*; it must be 1 to"):
            engine(a=[1]).sql("SELECT a FROM t", **options)


def test_scalar_needs_one_value():
    with pytest.raises(ValueError, match=r"one row and one column; this result has 2 and 1"):
        engine(a=[1, 2]).sql("SELECT a FROM t").scalar()


def test_an_empty_table_gives_no_rows_and_one_aggregate():
    one = engine(a=pa.array([], pa.int64()))
    assert len(one.sql("SELECT a FROM t")) == 0
    assert one.sql("SELECT sum(a), count(*) FROM t").to_pyarrow().to_pylist() == [
        {"sum(a)": None, "count(*)": 0}
    ]
