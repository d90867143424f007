import gc
import os
import signal
import threading
import warnings

import _faults
import exercise


def the_function_is_called():
    def function():
        # On the free-threaded build this stops the world: who is attached and waits holds it up.
        gc.collect()
        return threading.get_ident()

    assert exercise.run(function) != threading.get_ident(), "it ran on the caller's thread"
    try:
        exercise.run(lambda: 1 / 0)
    except ZeroDivisionError:
        return None
    raise AssertionError("the function's exception was lost")


def one_engine():
    results = _faults.together(8, lambda: exercise.run(lambda: 7))
    assert results == [7] * 8, results
    return exercise.engines(), 1


def a_forked_child_is_told():
    assert exercise.run(lambda: 7) == 7
    with warnings.catch_warnings():
        # What CPython warns of here is what this is about.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        # A child that waits is ended by the kernel, so that nothing is left behind.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(5)
        try:
            exercise.run(lambda: 7)
        except RuntimeError:
            os._exit(40)
        os._exit(41)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    told = {40: "RuntimeError", 41: "no error", -signal.SIGALRM: "it waited for ever"}
    return told.get(code, code), "RuntimeError"
