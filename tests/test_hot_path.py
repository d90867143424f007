"""What the hot path's afters promise, also when many tests run at once; faults.py has the rest."""

import functools
import subprocess
import sys
import threading

import pandas
import pyarrow
import pytest
from conftest import FREE_THREADED, call, name
from hypothesis import given, settings
from hypothesis import strategies as st

import ungil
from ungil import _kinds
from ungil._ungil import (
    arrow_zero_copy,
    attach_once,
    call_frame,
    object_scan,
    shared_refcounts,
    string_fast_path,
)
from ungil.doctor import scaling

# Any text that UTF-8 can hold, and some that sits at the borders of the encodings.
TEXT = st.text(st.characters(exclude_categories=("Cs",))) | st.sampled_from(
    ["", "\0", "\x7f", "\x80", "\u07ff", "\u0800", "\uffff", "\U00010000", "x" * 47, "é" * 48]
)
ROWS = st.lists(TEXT | st.none(), max_size=80)
KINDS = [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()]


class TestPool:
    def test_every_task_runs_once_on_a_thread_that_stays(self):
        pool = attach_once.Pool(2)
        done, threads = [], set()
        for _ in range(20):
            pool.run(50, lambda task: (done.append(task), threads.add(threading.get_ident())))
        assert sorted(done) == sorted(list(range(50)) * 20)
        assert 1 <= len(threads) <= 2
        pool.close()
        pool.close()
        with pytest.raises(RuntimeError, match="the pool is closed"):
            pool.run(1, print)

    def test_nothing_to_do_is_done_at_once(self):
        attach_once.Pool(2).run(0, lambda task: 1 // 0)

    def test_a_pool_without_threads_says_so(self):
        with pytest.raises(ValueError, match="a pool has 1 to 1024 threads, not 0"):
            attach_once.Pool(0)


class TestFrame:
    @given(st.lists(st.integers() | st.text(), max_size=15))
    def test_passes_what_it_is_given(self, arguments):
        assert call_frame.call(lambda *got: got, *arguments) == tuple(arguments)

    def test_too_many_arguments_are_counted(self):
        with pytest.raises(TypeError, match="16 arguments; a call can have 15"):
            call_frame.call(print, *range(16))


class TestShare:
    @pytest.mark.parametrize("kind", _kinds.KINDS)
    def test_a_shared_function_still_does_what_it_did(self, kind):
        function = _kinds.KINDS[kind]()
        changed = shared_refcounts.share(function)
        assert bool(changed) <= FREE_THREADED
        if kind != "draws":
            assert function(1000, 1) == _kinds.KINDS[kind]()(1000, 1)

    def test_registering_shares_what_the_engine_calls(self):
        function, own = _kinds.closure(), name()
        ungil.create_function(own, function, ["int64", "int64"], "int64")
        try:
            assert scaling.deferred(function) == FREE_THREADED
            assert scaling.why(function) == []
        finally:
            ungil.drop_function(own)

    def test_a_callable_whose_attributes_raise_is_registered_all_the_same(self):
        class Odd:
            def __call__(self, value: int) -> int:
                return value + 1

            @property
            def __closure__(self):
                raise LookupError("not for you")

        assert call(Odd(), ["int64"], "int64", [1, 2]) == [2, 3]

    def test_the_doctor_accuses_nobody_where_there_is_a_gil(self):
        found = scaling.why(_kinds.nested())
        assert [one["object"] for one in found] == (
            ["nested function nested.<locals>.add_nested"] if FREE_THREADED else []
        )
        with pytest.raises(TypeError, match="cannot be called"):
            scaling.why(7)

    def test_the_doctor_as_a_program(self):
        run = functools.partial(subprocess.run, capture_output=True, text=True, timeout=60)
        doctor = [sys.executable, "-m", "ungil.doctor.scaling"]
        told = run([*doctor, "ungil._kinds:reads_a_list"])
        assert told.returncode == FREE_THREADED, told.stderr
        assert ("global TABLE" in told.stdout) == FREE_THREADED
        assert "write package.module:function" in run([*doctor, "ungil"]).stderr
        assert "no attribute 'absent'" in run([*doctor, "ungil:absent"]).stderr
        told = run([sys.executable, "-m", "ungil.doctor.constants", "no_such_module"])
        assert (told.returncode, "cannot import no_such_module" in told.stderr) == (2, True)


class TestStrings:
    @settings(max_examples=200)
    @given(ROWS)
    def test_there_and_back(self, rows):
        for how in ("list", "owned", "bare"):
            offsets, data, validity = string_fast_path.encode(rows, how)
            assert data == b"".join(text.encode() for text in rows if text is not None)
            assert (validity is None) == (None not in rows)
            assert string_fast_path.decode(offsets, data, validity) == rows

    @given(st.lists(st.text(st.characters()), max_size=20))
    def test_replaces_each_lone_surrogate(self, rows):
        offsets, data, _ = string_fast_path.encode(rows, "list", "replace")
        got = [data[a:b].decode() for a, b in zip(offsets, offsets[1:])]
        expected = ["".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in row) for row in rows]
        assert got == expected

    def test_words_that_are_not_there(self):
        with pytest.raises(ValueError, match='"ignore" is neither refuse nor replace'):
            string_fast_path.encode([], "list", "ignore")
        with pytest.raises(ValueError, match='"fast" is none of list, owned, bare'):
            string_fast_path.encode([], "fast")


class TestObjects:
    @given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), max_size=50), st.integers(1, 4))
    def test_ints_are_what_they_were(self, rows, threads):
        assert object_scan.scan(rows, "int64", threads) == rows

    @given(st.lists(st.floats(allow_nan=False) | st.none(), max_size=50))
    def test_floats_too(self, rows):
        assert object_scan.scan(rows, "float64") == rows

    def test_a_type_that_is_not_there(self):
        with pytest.raises(ValueError, match='"int8" is none of int64, float64, bool, str'):
            object_scan.scan([], "int8")


class TestArrow:
    @settings(max_examples=200)
    @given(ROWS, st.sampled_from(KINDS), st.lists(st.integers(0, 80), max_size=3), st.integers(0, 9), TEXT)
    def test_any_column_in_any_chunks(self, rows, kind, cuts, start, needle):
        array = pyarrow.array(rows, kind)
        cuts = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
        column = pyarrow.chunked_array([array[a:b] for a, b in zip(cuts, cuts[1:])], kind)[start:]
        rows = rows[start:]
        strings = arrow_zero_copy.Strings(column)
        assert [None if row is None else row.decode() for row in strings] == rows
        hits = [row for row in rows if row is not None and needle in row]
        assert strings.count(needle, 2) == len(hits)
        assert pyarrow.array(strings.containing(needle, 2)).to_pylist() == hits

    @pytest.mark.parametrize("dtype", ["str", "string[pyarrow]", "category"])
    def test_pandas(self, dtype):
        series = pandas.Series(["a", None, "bb"], dtype=dtype)
        if dtype == "category":
            with pytest.raises(TypeError, match="not a string"):
                arrow_zero_copy.Strings(series)
        else:
            assert arrow_zero_copy.Strings(series).code_points() == 3
