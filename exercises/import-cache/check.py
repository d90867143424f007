import gc
import sys
import threading
import time

import _faults
import exercise


class Loader:
    """Counts, hands the GIL over and stops the world, as a big package's import does."""

    def __init__(self, fails=0):
        self.calls, self.fails, self.lock = 0, fails, threading.Lock()

    def __call__(self, name):
        with self.lock:
            self.calls += 1
            failed = self.calls <= self.fails
        time.sleep(0.2)
        gc.collect()
        if failed:
            raise ImportError(f"no {name} this time")
        return ("module", name)


def one_initialiser_ran():
    sys.exercise_loader = loader = Loader()
    cached = exercise.Cached("pandas")
    results = _faults.together(4, cached.get)
    assert results == [("module", "pandas")] * 4, results
    return loader.calls, 1


def a_failure_leaves_it_empty():
    sys.exercise_loader = loader = Loader(fails=1)
    cached = exercise.Cached("pandas")
    try:
        cached.get()
    except ImportError:
        pass
    else:
        raise AssertionError("the loader's ImportError was lost")
    return (cached.get(), loader.calls), (("module", "pandas"), 2)
