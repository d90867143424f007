import gc
import threading

import exercise


def one_thread_state():
    pool = exercise.Pool()
    kept = threading.local()

    def function():
        kept.calls = getattr(kept, "calls", 0) + 1
        return kept.calls

    return [pool.call(function) for _ in range(3)], [1, 2, 3]


def waits_detached():
    pool = exercise.Pool()
    first = pool.call(threading.get_ident)
    # The pool is idle now. Each of these needs it to be detached: the first on the free-threaded
    # build, the thread on the other.
    gc.collect()
    seen = []
    other = threading.Thread(target=lambda: seen.append(gc.collect()))
    other.start()
    other.join()
    return (len(seen), pool.call(threading.get_ident)), (1, first)


def one_thread():
    pool = exercise.Pool()
    # Kept alive, so that no identifier is used again for another thread.
    seen = [(pool.call(threading.current_thread), pool.call(threading.get_native_id)) for _ in range(3)]
    natives = {native for _, native in seen}
    return (len(natives), threading.get_native_id() in natives), (1, False)
