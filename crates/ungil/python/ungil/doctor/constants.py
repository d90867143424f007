"""Which modules' constants do all threads fight over?

    python -m ungil.doctor.constants [--json] [module ...]

On the free-threaded build a module that was compiled in this process, because there was no .pyc to
read, has mortal constants: every use of `1.5` counts on one object, from all threads. From a .pyc they
are immortal. `PYTHONDONTWRITEBYTECODE=1`, which container images often set, makes that permanent.

The named modules are imported first. Ends with 1 if there are such modules.
"""

import argparse
import importlib
import json
import sys
import types


def _codes(code, seen):
    if code in seen:
        return
    seen.add(code)
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant, seen)


def _functions(module):
    """The module's own functions, and those of its classes.

    Only at objects of known types is looked: others may answer any question with code of their own.
    """
    for value in list(vars(module).values()):
        inside = list(vars(value).values()) if type(value) is type else []
        for one in [value, *inside]:
            if isinstance(one, (staticmethod, classmethod)):
                one = one.__func__
            if isinstance(one, property):
                one = one.fget
            if isinstance(one, types.FunctionType) and one.__module__ == module.__name__:
                yield one


def free_threaded():
    return not getattr(sys, "_is_gil_enabled", lambda: True)()


def mortal(module):
    """The constants of a module's functions that threads count on: pairs (function, constant)."""
    found, seen = [], set()
    for function in _functions(module):
        for code in _codes(function.__code__, seen):
            for constant in code.co_consts:
                if not isinstance(constant, types.CodeType) and not sys._is_immortal(constant):
                    found.append((code.co_qualname, constant))
    return found


def check(names=()):
    """A dictionary for each module with mortal constants; nothing where there is a GIL."""
    for name in names:
        importlib.import_module(name)
    if not free_threaded():
        return []
    found = []
    for name, module in sorted(sys.modules.items()):
        # The main script is compiled in every run, and its constants are interned all the same.
        if not isinstance(module, types.ModuleType) or name == "__main__":
            continue
        constants = mortal(module)
        if constants:
            found.append({"module": name, "file": getattr(module, "__file__", None),
                          "constants": len(constants), "example": repr(constants[0][1])[:40],
                          "in": constants[0][0]})  # fmt: skip
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m ungil.doctor.constants")
    parser.add_argument("module", nargs="*", help="imported before the check")
    parser.add_argument("--json", action="store_true", help="a line for each module")
    options = parser.parse_args(arguments)
    try:
        found = check(options.module)
    except ImportError as error:
        parser.error(f"cannot import {error.name}: {error}")
    for one in found:
        if options.json:
            print(json.dumps(one))
        else:
            print(f"{one['module']}: {one['constants']} mortal, as {one['example']} in {one['in']}()")
    if options.json:
        return bool(found)
    if not free_threaded():
        print("This interpreter has its GIL on: constants are not contended.")
    elif found:
        print("\nThey were compiled in this process. Let Python write a .pyc:")
        print("  unset PYTHONDONTWRITEBYTECODE and run once, or")
        print("  python -m compileall <the package's folder>")
    else:
        print("No module has mortal constants.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
