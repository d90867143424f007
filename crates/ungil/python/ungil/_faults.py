"""One fault in a child interpreter: `python _faults.py <script> <variant>`.

The variant is a function of the script. It returns nothing, or a pair (got, expected). The last line
on standard output says what came of it; the parent adds what only it can see (signals, hangs).
"""

import faulthandler
import importlib.util
import json
import signal
import sys


def gil_enabled():
    return getattr(sys, "_is_gil_enabled", lambda: True)()


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
        got, expected = pair if pair is not None else (None, None)
        if got == expected:
            outcome, text = "ok", ""
        else:
            outcome, text = "wrong-answer", f"got {got!r}, expected {expected!r}"
    if gil_enabled() and not before:
        outcome, text = "gil-turned-on", f"after: {outcome} {text}"
    print("\n" + json.dumps({"outcome": outcome, "text": text}), flush=True)


if __name__ == "__main__":
    main()
