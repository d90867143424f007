"""What each variant of the lesson does, one function a run: see lesson.toml for how each ends."""

import gc
import pathlib
import sys
import tempfile
import threading
import time

import twin

from ungil import _faults
from ungil._ungil import import_cache

THREADS = 32


def module(name, source):
    """A module that can be imported, and has not been."""
    folder = tempfile.mkdtemp()
    pathlib.Path(folder, f"{name}.py").write_text(source)
    sys.path.insert(0, folder)


SLOW = """
import gc, time
time.sleep(0.2)
gc.collect()
time.sleep(0.2)
value = object()
"""

# Its attribute is made by code of its own, which counts, hands the GIL over and stops the world:
# whoever waits for it attached hangs, on either build.
COUNTED = """
import gc, threading, time
calls = []
lock = threading.Lock()
def __getattr__(name):
    if name != "value":
        raise AttributeError(name)
    with lock:
        calls.append(name)
    time.sleep(0.2)
    gc.collect()
    return calls
"""


def made(cache):
    module("counted", COUNTED)
    cache = cache("counted", "value")
    results = _faults.together(2, cache.get)
    assert all(result is results[0] for result in results), results
    return len(sys.modules["counted"].calls), 1


def plain_makes_it_twice():
    return made(import_cache.Plain)


def makes_it_once():
    return made(import_cache.Imported)


def attached_once():
    module("slow", SLOW)
    _faults.together(2, import_cache.AttachedOnce("slow", "value").get)


def cpp_attached_once():
    twin.import_cache.before_attached_once()


def collector(stop):
    """Collects all the time, but not for ever: the storm must not look like the deadlock."""
    end = time.monotonic() + 10
    while not stop.is_set() and time.monotonic() < end:
        gc.collect()
        time.sleep(0.001)


def cold_start():
    module("slow", SLOW)
    stop = threading.Event()
    storm = threading.Thread(target=collector, args=(stop,))
    storm.start()
    time.sleep(0.05)
    results = _faults.together(THREADS, import_cache.Imported("slow", "value").get)
    stop.set()
    storm.join()
    value = sys.modules["slow"].value
    return [result is value for result in results], [True] * THREADS


def failing_import():
    module("fails", "import sys\nsys.fails += 1\nif sys.fails == 1: raise ImportError('once')\nvalue = 7")
    sys.fails = 0
    cache = import_cache.Imported("fails", "value")
    results = _faults.together(8, cache.get, kept=ImportError)
    failed = [result for result in results if isinstance(result, ImportError)]
    # Threads that waited for the import lock may share the failure or import again themselves.
    assert failed and all(result == 7 for result in results if result not in failed), results
    return cache.get(), 7


def asks_for_itself():
    source = "def __getattr__(name):\n    import sys\n    return sys.cache.get()\n"
    module("recursive", source)
    sys.cache = import_cache.Imported("recursive", "value")
    try:
        sys.cache.get()
    except RuntimeError as error:
        return str(error), "recursive.value was asked for while it is being made"


def crossed_imports():
    """A module whose body asks for the cached object, imported beside a look-up of the same."""
    source = "import sys, time\ntime.sleep(0.2)\nvalue = 7\nassert sys.cache.get() == 7\n"
    module("crossed", source)
    sys.cache = import_cache.Imported("crossed", "value")
    turns = iter([sys.cache.get, lambda: __import__("crossed").value] * 4)
    work = [next(turns) for _ in range(8)]
    return sorted(set(_faults.together(8, lambda: work.pop()()))), [7]


def cpp_cached():
    assert twin.import_cache.after_cached() == 8
    # The caller whose import failed goes without; the next one tries again.
    assert twin.import_cache.after_failing() == 7
    try:
        twin.import_cache.after_reentrant()
    except RuntimeError as error:
        return str(error), "the import asks for what it is importing"


def stress():
    """New caches all the time, each looked up by whoever comes."""
    names = ["date", "time", "datetime", "timedelta", "timezone"]
    caches = {}

    def work(index):
        import datetime

        turn = len(caches) % 1000
        cache = caches.setdefault(turn, import_cache.Imported("datetime", names[turn % 5]))
        assert cache.get() is getattr(datetime, names[turn % 5])
        if index == 0 and turn == 999:
            caches.clear()

    return _faults.storm(work)
