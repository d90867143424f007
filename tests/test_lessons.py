"""What the lessons' afters promise, in one process; faults.py has what needs a process of its own."""

import datetime
import gc
import sys
import threading
import weakref

import pytest
from conftest import name

from ungil._ungil import (
    detach_before_block,
    eager_init,
    engine_singleton,
    gil_declaration,
    import_cache,
    udf_registry,
)


def together(count, work):
    """Runs `work(i)` on so many threads at once and gives their results in order."""
    barrier = threading.Barrier(count)
    results = [None] * count

    def run(index):
        barrier.wait()
        try:
            results[index] = work(index)
        except Exception as error:
            results[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class TestImportCache:
    def test_gives_the_object_itself(self):
        cache = import_cache.Imported("datetime", "date")
        assert all(got is datetime.date for got in together(8, lambda _: cache.get()))

    def test_is_not_moved_by_a_later_change(self):
        # What was published stays, as a static in native code would.
        module = type(sys)(name())
        module.value = first = object()
        sys.modules[module.__name__] = module
        cache = import_cache.Imported(module.__name__, "value")
        assert cache.get() is first
        module.value = object()
        assert cache.get() is first

    def test_a_missing_name_is_an_error_each_time_and_then_found(self):
        module = type(sys)(name())
        sys.modules[module.__name__] = module
        cache = import_cache.Imported(module.__name__, "late")
        for _ in range(2):
            with pytest.raises(AttributeError, match="late"):
                cache.get()
        module.late = 7
        assert cache.get() == 7


class TestRegistry:
    def test_one_of_many_wins(self):
        registry = udf_registry.Registry()
        results = together(8, lambda index: registry.add("f", lambda: index))
        winners = [index for index, result in enumerate(results) if result is None]
        assert len(winners) == 1 and registry.find("f") == winners[0]
        assert {str(one) for one in results if one is not None} == {
            'a function "f" exists; remove it first'
        }

    def test_what_is_removed_dies_and_what_is_held_lives(self):
        class Function:
            pass

        registry = udf_registry.Registry()
        registry.add("f", Function)
        held = registry.find("f")
        alive = weakref.ref(held)
        assert registry.remove("f") and not registry.remove("f")
        assert registry.find("f") is None and alive() is held
        del held
        gc.collect()
        assert alive() is None

    def test_what_build_raises_is_what_the_caller_sees(self):
        registry = udf_registry.Registry()
        with pytest.raises(ZeroDivisionError):
            registry.add("f", lambda: 1 // 0)
        assert registry.find("f") is None

    def test_look_ups_beside_registrations(self):
        registry = udf_registry.Registry()

        def work(index):
            for turn in range(200):
                own = f"f{index}"
                registry.add(own, lambda: (index, turn))
                assert registry.find(own) == (index, turn)
                assert registry.remove(own)
            return registry.find(f"f{index}")

        assert together(8, work) == [None] * 8


class TestSingleton:
    def test_many_threads_one_engine(self):
        threads = together(8, lambda _: engine_singleton.after_run(threading.get_ident))
        assert len(set(threads)) == 1 and threads[0] != threading.get_ident()

    def test_an_exception_keeps_its_type_and_the_engine_goes_on(self):
        with pytest.raises(KeyError, match="absent"):
            engine_singleton.after_run(lambda: {}["absent"])
        assert engine_singleton.after_run(lambda: 7) == 7


class TestEagerInit:
    def test_every_kind_of_null_and_nothing_else(self):
        import numpy
        import pandas

        class Float(float):
            pass

        nulls = [None, float("nan"), pandas.NaT, pandas.NA, numpy.float64("nan").item()]
        others = [0, 0.0, "", b"", False, "NaN", "None", float("inf"), [], pandas.Timestamp(0)]
        # Exactly a float: what a subclass means is its own business.
        others.append(Float("nan"))
        got = eager_init.after_scan(nulls + others + nulls, 2, 3)
        size = len(nulls) + len(others)
        assert got == [*range(len(nulls)), *range(size, size + len(nulls))]

    @pytest.mark.parametrize("rows", [0, 1, 2, 63, 64, 65])
    def test_rows_do_not_depend_on_threads_or_blocks(self, rows):
        column = [None if row % 3 == 0 else row for row in range(rows)]
        expected = [row for row in range(rows) if row % 3 == 0]
        for threads in (1, 2, 8):
            for block in (1, 7, 64, 1000):
                assert eager_init.after_scan(column, threads, block) == expected

    def test_bad_arguments_are_named(self):
        with pytest.raises(ValueError, match="threads must be 1 to 1024 and block_rows at least 1"):
            eager_init.after_scan([], 0)
        with pytest.raises(TypeError):
            eager_init.after_scan(7)

    def test_an_iteration_that_fails_is_reported_and_drops_what_it_had(self):
        class Value:
            pass

        value = Value()
        alive = weakref.ref(value)

        def column(value):
            yield value
            raise OSError("the file ended")

        with pytest.raises(OSError, match="the file ended"):
            eager_init.after_scan(column(value))
        del value
        gc.collect()
        assert alive() is None


class TestDetach:
    @pytest.mark.parametrize("wait", ["once", "lock", "channel", "join"])
    def test_every_wait_comes_to_its_end(self, wait):
        ran = []
        detach_before_block.after(wait, lambda: ran.append(gc.collect()))
        assert len(ran) == 1

    def test_an_unknown_wait_is_named(self):
        with pytest.raises(ValueError, match='"sleep" is none of once, lock, channel, join'):
            detach_before_block.after("sleep", gc.collect)


def test_the_audited_count_counts_every_call():
    before = gil_declaration.after_count(1)
    together(4, lambda _: gil_declaration.after_count(10_000))
    # Other tests of this file may count beside this one.
    assert gil_declaration.after_count(1) - before >= 40_001
