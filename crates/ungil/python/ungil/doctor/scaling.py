"""Why does my function not scale?

    python -m ungil.doctor.scaling [--json] package.module:function

Names the objects that every call of a function counts references on, or writes to, from all threads:
nested functions and what they close over, bound objects, globals that are neither immortal nor
deferred, constants without a .pyc. It reads the code and runs nothing of it.
"""

import argparse
import dis
import functools
import importlib
import json
import random
import sys
import types

# A deferred object's count has this much added to it (_Py_REF_DEFERRED in CPython).
_DEFERRED = sys.maxsize // 8


def deferred(value):
    """Whether threads need not count on an object, because the collector does."""
    return sys.getrefcount(value) >= _DEFERRED


def uncontended(value):
    return sys._is_immortal(value) or deferred(value)


def _short(value):
    return f"{type(value).__name__} {value!r}"[:50]


class _Report:
    def __init__(self):
        self.lines, self.seen = [], set()

    def add(self, what, value, cure):
        self.lines.append({"object": what, "value": _short(value), "cure": cure})


_SHARE = "register it: ungil gives it deferred counts (shared_refcounts.share)"


def _counted(report, what, value, cure):
    """One object that each call takes a reference to."""
    if id(value) not in report.seen and not uncontended(value):
        report.seen.add(id(value))
        report.add(what, value, cure)


def _global(report, name, value):
    if isinstance(value, types.BuiltinMethodType) and isinstance(value.__self__, random.Random):
        report.add(f"global {name}", value, "all threads draw from one generator, under its lock: "
                   "give each thread a random.Random of its own (threading.local)")  # fmt: skip
    elif isinstance(value, (list, dict, set, bytearray)):
        report.add(f"global {name}", value, "each access locks it or counts on it: read from a tuple "
                   "or types.MappingProxyType of immortal values, or keep one for each thread")  # fmt: skip
    elif not isinstance(value, (types.ModuleType, type)):
        _counted(report, f"global {name}", value, "make it a local, a constant of the code, or one "
                 "for each thread")  # fmt: skip


def _code(report, function):
    code = function.__code__
    for constant in code.co_consts:
        if not isinstance(constant, types.CodeType):
            _counted(report, f"constant in {code.co_qualname}()", constant, "import the module from a "
                     ".pyc: python -m ungil.doctor.constants")  # fmt: skip
    last = None
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL" and step.argval in function.__globals__:
            last = function.__globals__[step.argval]
            _global(report, step.argval, last)
            continue
        if step.opname.startswith("LOAD_ATTR") and isinstance(last, types.ModuleType):
            # `random.random`: the attribute is what the threads meet at.
            name = f"{last.__name__}.{step.argval}"
            last = getattr(last, step.argval, None)
            if not isinstance(last, types.ModuleType):
                _global(report, name, last)
            continue
        if step.opname in ("STORE_GLOBAL", "STORE_DEREF"):
            report.add(f"{step.argval} (assigned)", step.argval, "all threads write it, and an update "
                       "can be lost: count for each thread and add up at the end")  # fmt: skip
        last = None


def _walk(report, value, depth):
    if depth == 0 or id(value) in report.seen:
        return
    if isinstance(value, types.MethodType):
        _counted(report, "bound method", value, _SHARE)
        _counted(report, "bound object", value.__self__, _SHARE)
        _walk(report, value.__func__, depth - 1)
    elif isinstance(value, functools.partial):
        _counted(report, "partial", value, _SHARE)
        _walk(report, value.func, depth - 1)
        for argument in value.args:
            _counted(report, "partial's argument", argument, "bind it in a module's function")
    elif isinstance(value, types.FunctionType):
        # The code's name: functools.wraps gives a wrapper the name of what it wraps.
        name = value.__code__.co_qualname
        what = "nested function" if "<locals>" in name else "function"
        _counted(report, f"{what} {name}", value, _SHARE)
        _code(report, value)
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
            try:
                inside = cell.cell_contents
            except ValueError:
                continue
            _counted(report, f"cell {name}", cell, _SHARE)
            if callable(inside):
                _walk(report, inside, depth - 1)
            else:
                number = isinstance(inside, (int, float, str, bytes, complex))
                _counted(report, f"closed over {name}", inside, "numbers and strings cannot be deferred: "
                         "write it as a constant, or pass it as an argument" if number else _SHARE)  # fmt: skip
    elif isinstance(getattr(type(value), "__call__", None), types.FunctionType):
        _counted(report, "callable object", value, _SHARE)
        _walk(report, type(value).__call__, depth - 1)


def why(function):
    """What all threads meet at when they call `function`: a dictionary for each object, with its cure.

    Empty where nothing was found, and on builds with a GIL, where threads meet at the GIL.
    """
    if not callable(function):
        raise TypeError(f"{function!r} cannot be called")
    report = _Report()
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        _walk(report, function, 8)
    return report.lines


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m ungil.doctor.scaling")
    parser.add_argument("function", help="package.module:function")
    parser.add_argument("--json", action="store_true", help="a line for each object")
    options = parser.parse_args(arguments)
    module, _, path = options.function.partition(":")
    if not path:
        parser.error("write package.module:function")
    try:
        function = functools.reduce(getattr, path.split("."), importlib.import_module(module))
    except (ImportError, AttributeError) as error:
        parser.error(str(error))
    found = why(function)
    for one in found:
        if options.json:
            print(json.dumps(one))
        else:
            print(f"{one['object']} ({one['value']})\n    {one['cure']}")
    if not found and not options.json:
        print("Nothing found that threads meet at.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
