"""What each variant of the lesson does, one function a run: see lesson.toml for how each ends."""

import atexit
import gc
import os
import signal
import sys
import threading
import time
import warnings
import weakref

import twin
from ungil import _faults
from ungil._ungil import attach_once

THREADS = 2
TASKS = 50


def connections(run):
    """How many connections a per-thread cache opens, in so many tasks on two threads."""
    cache = threading.local()
    opened = []

    def task(number):
        if not hasattr(cache, "connection"):
            cache.connection = object()
            opened.append(number)
        time.sleep(0.001)

    run(TASKS, task)
    return len(opened)


def forgets_thread_locals():
    return connections(attach_once.Forgetful(THREADS).run), THREADS


def cpp_forgets_thread_locals():
    return connections(twin.attach_once.before_run), THREADS


def keeps_thread_locals():
    found = [connections(attach_once.Pool(THREADS).run), connections(twin.attach_once.after_run)]
    if sys.version_info >= (3, 15):
        found.append(connections(twin.attach_once.after_guarded))
    assert all(1 <= opened <= THREADS for opened in found), found


def closes_attached():
    """The caller joins the threads while attached, and a job is not yet over."""
    pool = attach_once.Forgetful(THREADS)
    started = threading.Event()

    def task(_):
        started.set()
        time.sleep(0.2)
        gc.collect()

    # The run goes on in another thread while this one closes the pool.
    threading.Thread(target=pool.run, args=(1, task), daemon=True).start()
    started.wait()
    pool.close()


def closes_detached():
    pool = attach_once.Pool(THREADS)
    started = threading.Event()
    ended = []

    def task(_):
        started.set()
        time.sleep(0.2)
        gc.collect()
        ended.append(True)

    runner = threading.Thread(target=pool.run, args=(1, task))
    runner.start()
    started.wait()
    closers = [threading.Thread(target=pool.close) for _ in range(4)]
    for closer in closers:
        closer.start()
    for thread in [*closers, runner]:
        thread.join()
    try:
        pool.run(1, task)
    except RuntimeError as error:
        return (ended, str(error)), ([True], "the pool is closed")


def in_a_fork(pool):
    """What a forked child says of the pool; a child that hangs is ended by its own alarm."""
    pool.run(4, lambda task: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        try:
            pool.run(4, lambda task: None)
            os._exit(0)
        except RuntimeError as error:
            if "stayed in the process" not in str(error):
                os._exit(1)
            # A pool of its own works, and closing the parent's is no harm.
            done = []
            attach_once.Pool(2).run(4, done.append)
            pool.close()
            os._exit(7 if sorted(done) == [0, 1, 2, 3] else 1)
        except BaseException:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def fork():
    return in_a_fork(attach_once.Forgetful(THREADS)), 0


def fork_is_an_error():
    return in_a_fork(attach_once.Pool(THREADS)), 7


def idle_holds_nothing_up():
    """Idle threads are detached: a collection, the GIL and a fork need not wait for them."""
    pool = attach_once.Pool(8)
    pool.run(8, lambda task: None)
    for _ in range(100):
        gc.collect()
    return sum(thread.name.startswith("Dummy") for thread in threading.enumerate()), 0


class Held:
    pass


def drains():
    """What a task dropped while detached is freed before the caller goes on."""
    pool = attach_once.Pool(THREADS)
    held = Held()
    alive = weakref.ref(held)
    pool.drop_detached(held)
    del held
    return alive(), None


def drops_the_work():
    """The function and what it holds go with the call: no idle thread keeps them."""
    pool = attach_once.Pool(THREADS)
    for _ in range(100):
        held = Held()
        pool.run(4, lambda task, held=held: None)
        alive = weakref.ref(held)
        del held
        # On the free-threaded build a function is freed by the collector alone if it was shared.
        gc.collect()
        assert alive() is None
    return None


def first_error():
    """Of the tasks that fail, the first is reported, at any number of threads; the pool goes on."""
    pool = attach_once.Pool(8)

    def task(number):
        if number >= 20:
            raise ValueError(number)

    for _ in range(50):
        try:
            pool.run(100, task)
        except ValueError as error:
            assert error.args == (20,), error
        else:
            return "nothing raised", "ValueError"
    done = []
    pool.run(10, done.append)
    return sorted(done), list(range(10))


def nested():
    """A task that waits for its own pool would wait for itself: an error, not a hang."""
    pool = attach_once.Pool(1)
    for inner in (lambda _: pool.run(1, print), lambda _: pool.close()):
        try:
            pool.run(1, inner)
        except RuntimeError as error:
            assert "must not" in str(error), error
        else:
            return "nothing raised", "RuntimeError"


def interrupted():
    pool = attach_once.Pool(THREADS)
    main = threading.main_thread().ident
    begun = []

    def task(number):
        begun.append(number)
        if len(begun) == 2:
            signal.pthread_kill(main, signal.SIGINT)
        time.sleep(0.05)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        pool.run(1000, task)
    except KeyboardInterrupt:
        assert len(begun) < 100, len(begun)
        pool.run(2, begun.append)
        return
    return "not interrupted", "KeyboardInterrupt"


def exits_while_it_works():
    """The interpreter ends while tasks are at work: `atexit` waits until all of them are done."""
    done = []

    def look():
        # Registered before the pool, so it runs after the pool was closed.
        if len(done) != 100:
            os.abort()

    atexit.register(look)
    pool = attach_once.Pool(THREADS)
    started = threading.Event()

    def task(number):
        started.set()
        time.sleep(0.01)
        done.append(number)

    # A daemon, which the end of the interpreter does not wait for by itself.
    threading.Thread(target=pool.run, args=(100, task), daemon=True).start()
    started.wait()


def stress():
    pools = [attach_once.Pool(THREADS) for _ in range(3)]

    def work(index):
        done = []
        if index == 0:
            pools.append(attach_once.Pool(1))
            pools.pop(0).close()
        # A copy: thread 0 changes the list meanwhile, and it is never empty.
        now = list(pools)
        try:
            now[index % len(now)].run(20, done.append)
        except RuntimeError as error:
            # Whoever closes a pool lets it finish what it has, and refuses what comes later.
            assert str(error) == "the pool is closed" and not done, (error, done)
        else:
            assert sorted(done) == list(range(20)), done

    return _faults.storm(work)
