"""What each variant of the lesson does, one function a run: see lesson.toml for how each ends."""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import warnings

import twin
from ungil import _faults
from ungil._ungil import engine_singleton


def answer():
    return 42


def collecting():
    gc.collect()
    return 42


def waits_attached():
    return engine_singleton.before_run(answer), 42


def waits_attached_collecting():
    return engine_singleton.before_run(collecting), 42


def cpp_waits_attached():
    return twin.engine_singleton.before_run(answer), 42


def cpp_waits_attached_collecting():
    return twin.engine_singleton.before_run(collecting), 42


def waits_detached():
    """From many threads, with a function that collects: one engine, made once."""
    results = []

    def run():
        for _ in range(20):
            results.append(engine_singleton.after_run(collecting))
            results.append(twin.engine_singleton.after_run(collecting))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return set(results), {42}


def raises():
    """An exception of the callback reaches the caller, and the engine goes on."""
    for run in (engine_singleton.after_run, twin.engine_singleton.after_run):
        try:
            run(lambda: 1 // 0)
        except ZeroDivisionError:
            assert run(answer) == 42
        else:
            return "nothing raised", "ZeroDivisionError"


def in_a_fork(run):
    """What a forked child says of a second query; a child that hangs is ended by its own alarm."""
    run(answer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # "multi-threaded, use of fork()"
        pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        try:
            run(answer)
            os._exit(0)
        except RuntimeError as error:
            os._exit(7 if "start processes with the method" in str(error) else 1)
        except BaseException:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def fork():
    """The child waits for a thread that it does not have; it is ended by its own alarm."""
    # The parent's query works on the free-threaded build alone, so each waits detached here.
    return in_a_fork(twin.engine_singleton.before_run_detached), 0


def fork_is_an_error():
    codes = [in_a_fork(engine_singleton.after_run), in_a_fork(twin.engine_singleton.after_run)]
    return codes, [7, 7]


def work(_):
    return engine_singleton.after_run(answer)


def start_methods():
    """spawn and forkserver start afresh; fork says what to do instead."""
    # Where a process that starts afresh finds `work`.
    sys.path.insert(0, os.path.dirname(__file__))
    engine_singleton.after_run(answer)
    told = {}
    for method in ("spawn", "forkserver", "fork"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            with multiprocessing.get_context(method).Pool(1) as pool:
                try:
                    told[method] = pool.map_async(work, [0]).get(30)[0]
                except RuntimeError as error:
                    told[method] = str(error)[-54:]
    expected = 'start processes with the method "spawn" or "forkserver"'[-54:]
    return told, {"spawn": 42, "forkserver": 42, "fork": expected}


def second_interpreter():
    """Refused clearly: the engine, like every module made with PyO3, serves one interpreter."""
    import _interpreters

    interpreter = _interpreters.create()
    path = [entry for entry in sys.path if entry]
    code = f"import sys\nsys.path[:] = {path!r}\nimport ungil\n"
    failure = _interpreters.exec(interpreter, code)
    assert engine_singleton.after_run(answer) == 42
    return failure is not None and "does not support loading in subinterpreters" in failure.msg or (
        failure.msg if failure else "it was loaded"
    ), True


def stress():
    def work(index):
        assert engine_singleton.after_run(lambda: index) == index
        assert twin.engine_singleton.after_run(lambda: index) == index

    return _faults.storm(work)
