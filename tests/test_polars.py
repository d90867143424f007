"""A polars Series, scanned where it lies. polars has no wheel for 3.14t; the runner installs it for 3.14
and says where (`cargo xtask test "pytest 3.14"`)."""

import os
import sys

import pytest

from ungil._ungil import arrow_zero_copy as lesson

PLACE = os.environ.get("UNGIL_POLARS")

pytestmark = pytest.mark.skipif(not PLACE, reason="not run: polars is absent; it has no wheel for 3.14t")

VALUES = ["a", "", None, "Zürich", "x" * 13, "🛫 flight", None, "y" * 200, "\0", "end"]


@pytest.fixture(scope="module")
def polars():
    sys.path.append(PLACE)
    import polars

    return polars


def texts(column):
    return [None if row is None else row.decode() for row in lesson.Strings(column)]


def test_a_series_whole_sliced_and_in_chunks(polars):
    series = polars.Series("s", VALUES)
    assert texts(series) == VALUES
    for start in range(10):
        assert texts(series[start:]) == VALUES[start:]
        assert texts(series[start : start + 3]) == VALUES[start : start + 3]
    chunks = polars.concat([series, series[:0], series], rechunk=False)
    assert texts(chunks) == VALUES * 2
    assert texts(polars.Series("s", [], dtype=polars.String)) == []
    strings = lesson.Strings(chunks)
    for threads in (1, 2, 8):
        assert strings.code_points(threads) == 2 * sum(len(v) for v in VALUES if v is not None)


def test_what_is_no_string_is_refused(polars):
    with pytest.raises(TypeError):
        lesson.Strings(polars.Series("n", [1, 2]))


def test_a_result_goes_into_polars_without_objects(polars):
    filtered = lesson.Strings(polars.Series("s", VALUES)).containing("y", 2)
    assert polars.Series(filtered).to_list() == ["y" * 200]
