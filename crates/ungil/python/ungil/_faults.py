"""One fault in a child interpreter: `python _faults.py <script> <variant>`.

The variant is a function of the script. It returns nothing, or a pair (got, expected). The last line
on standard output says what came of it; the parent adds what only it can see (signals, hangs).
"""

import faulthandler
import gc
import importlib.util
import json
import os
import signal
import sys
import threading
import time


def gil_enabled():
    return getattr(sys, "_is_gil_enabled", lambda: True)()


def together(count, work, kept=()):
    """Runs `work` on so many threads that begin at one time: without the barrier, on a busy machine,
    the first may be done before the last has begun, and nothing is shared. Gives what each returned;
    exceptions of the types `kept` count as results, any other is raised."""
    barrier = threading.Barrier(count)
    results, errors = [], []

    def run():
        barrier.wait()
        try:
            results.append(work())
        except kept as error:
            results.append(error)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def storm(work, threads=8):
    """Runs `work(i)` again and again on so many threads, beside one that collects, for as long as the
    environment says (UNGIL_STRESS_SECONDS). Says how often; the first exception ends it."""
    end = time.monotonic() + float(os.environ.get("UNGIL_STRESS_SECONDS", "3"))
    counts, errors = [0] * threads, []

    def repeat(index):
        try:
            while time.monotonic() < end and not errors:
                work(index)
                counts[index] += 1
        except BaseException as error:
            errors.append(error)

    def collect():
        # With a pause: a collector that never rests starves threads that attach.
        while time.monotonic() < end and not errors:
            gc.collect()
            time.sleep(0.001)

    workers = [threading.Thread(target=repeat, args=(index,)) for index in range(threads)]
    workers.append(threading.Thread(target=collect))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]
    assert all(counts), f"a thread never came to its turn: {counts}"
    return f"{sum(counts)} rounds"


def run(script, variant):
    spec = importlib.util.spec_from_file_location("faults", script)
    module = importlib.util.module_from_spec(spec)
    # Functions find their source and their globals through sys.modules.
    sys.modules["faults"] = module
    spec.loader.exec_module(module)
    return getattr(module, variant)()


def main():
    script, variant = sys.argv[1:]
    # The parent's watchdog asks for every thread's stack with this signal before it kills.
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    before = gil_enabled()
    try:
        pair = run(script, variant)
    except ModuleNotFoundError as error:
        outcome, text = "could-not-run", str(error)
    except BaseException as error:
        outcome, text = "exception", f"{type(error).__name__}: {error}"
    else:
        # `stress` says how much it did; the others say what they got and what they expected.
        done = pair if isinstance(pair, str) else ""
        got, expected = pair if pair and not done else (None, None)
        if got == expected:
            outcome, text = "ok", done
        else:
            outcome, text = "wrong-answer", f"got {got!r}, expected {expected!r}"
    if gil_enabled() and not before:
        outcome, text = "gil-turned-on", f"after: {outcome} {text}"
    print("\n" + json.dumps({"outcome": outcome, "text": text}), flush=True)


if __name__ == "__main__":
    main()
