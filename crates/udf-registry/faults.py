"""What each variant of the lesson does, one function a run: see lesson.toml for how each ends."""

import gc
import threading
import time

import twin
from ungil import _faults
from ungil._ungil import udf_registry

THREADS = 8


class Function:
    """Stands for a function whose making runs Python: `inspect.signature` imports and calls."""

    def __init__(self):
        time.sleep(0.05)
        gc.collect()


def winners(registry):
    return sum(_faults.together(THREADS, lambda: registry.add("f", Function), kept=ValueError)), 1


def check_then_act():
    # Every one of them looks before any has made its function.
    return winners(udf_registry.CheckThenAct())


def python_under_lock():
    return winners(udf_registry.UnderLock())


def cpp_check_then_act():
    return twin.udf_registry.before_check_then_act(Function), 1


def cpp_python_under_lock():
    return twin.udf_registry.before_python_under_lock(Function), 1


def one_wins():
    registry = udf_registry.Registry()
    results = _faults.together(THREADS, lambda: registry.add("f", Function), kept=ValueError)
    refused = [str(one) for one in results if isinstance(one, ValueError)]
    assert set(refused) == {'a function "f" exists; remove it first'}, refused
    return len(results) - len(refused), 1


def failing_build():
    """Nothing is registered, and the name is free."""
    registry = udf_registry.Registry()
    try:
        registry.add("f", lambda: 1 // 0)
    except ZeroDivisionError:
        registry.add("f", Function)
    return registry.find("f") is not None, True


def no_python_under_the_lock():
    """Making, replacing and dropping a function each use the registry, from another thread too."""
    registry = udf_registry.Registry()
    told = []

    def probe():
        """Ends only if no lock is held."""
        other = threading.Thread(target=registry.add, args=(f"probe{len(told)}", object))
        other.start()
        other.join(10)
        told.append(not other.is_alive())

    class Probing:
        def __init__(self):
            probe()

        def __del__(self):
            probe()

    registry.add("f", Probing)
    try:
        registry.add("f", Probing)
    except ValueError:
        pass
    # The loser of a race: its function is made, refused and dropped.
    results = _faults.together(THREADS, lambda: registry.add("g", Probing), kept=ValueError)
    losers = sum(isinstance(one, ValueError) for one in results)
    registry.remove("f")
    registry.remove("g")
    gc.collect()
    return (losers, all(told)), (THREADS - 1, True)


def running_query_keeps_its_function():
    registry = udf_registry.Registry()
    inside, removed = threading.Event(), threading.Event()

    def make():
        def function():
            inside.set()
            assert removed.wait(10)
            return 7

        return function

    registry.add("f", make)
    results = []
    query = threading.Thread(target=lambda: results.append(registry.run("f")))
    query.start()
    inside.wait(10)
    assert registry.remove("f")
    new = registry.run("f")
    removed.set()
    query.join()
    return (results, new), ([7], None)


def cpp_registry():
    """One winner; the finalizer of a function that is dropped may look the registry up."""
    registry = twin.udf_registry
    told = []

    class Probing:
        def __del__(self):
            told.append(registry.has())

    assert registry.after_register(Function) == 1
    assert registry.add(Probing) and not registry.add(Probing)
    assert registry.drop()
    gc.collect()
    return told, [False]


def stress():
    """All names by all threads; whoever registers one also drops it."""
    registry = udf_registry.Registry()

    class Finalized:
        def __del__(self):
            registry.find("f0")

    def work(index):
        own = f"f{index % 3}"
        try:
            registry.add(own, Finalized)
        except ValueError:
            registry.find(own)
        else:
            assert registry.remove(own)

    return _faults.storm(work)
