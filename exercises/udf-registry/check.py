import threading
import time

import _faults
import exercise


def no_python_under_the_lock():
    registry = exercise.Registry()

    def factory():
        # Somebody else looks a name up meanwhile, and the factory waits for them.
        other = threading.Thread(target=registry.has, args=("another",), daemon=True)
        other.start()
        other.join()
        return len

    assert registry.add("name", factory) is True
    return registry.find("name"), len


def one_was_first():
    registry = exercise.Registry()

    def factory():
        time.sleep(0.1)
        return object()

    told = _faults.together(8, lambda: registry.add("name", factory))
    assert registry.find("name") is not None
    return sorted(told), [False] * 7 + [True]


def the_loser_is_dropped_outside():
    registry = exercise.Registry()
    seen = []

    class Function:
        def __del__(self):
            seen.append(registry.has("name"))

    def factory():
        registry.add("name", lambda: len)
        return Function()

    told = registry.add("name", factory)
    return (told, seen, registry.find("name")), (False, [True], len)
