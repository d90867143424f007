"""Imports modules one after another in this process and says, a JSON line each, what became of the GIL.
With a path beside its name, only that file is loaded: CPython decides before the module's body runs.

Which extension turned it on is seen at the loader: the state is asked for before and after each
extension is created and executed. The chain is the modules whose bodies were running.
"""

import importlib
import importlib.machinery
import importlib.util
import json
import os
import sys

out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what a module prints is not an answer
culprit = None


def chain():
    names = []
    frame = sys._getframe(2)
    while frame:
        name = frame.f_globals.get("__name__")
        if frame.f_code.co_name == "<module>" and name != "__main__" and name not in names:
            names.append(name)
        frame = frame.f_back
    return names[::-1]


def watched(method, name_of):
    def call(self, argument):
        global culprit
        before = sys._is_gil_enabled()
        try:
            return method(self, argument)
        finally:
            if not before and sys._is_gil_enabled() and culprit is None:
                culprit = {"module": name_of(argument), "file": self.path, "chain": chain()}

    return call


loader = importlib.machinery.ExtensionFileLoader
loader.create_module = watched(loader.create_module, lambda spec: spec.name)
loader.exec_module = watched(loader.exec_module, lambda module: module.__spec__.name)

def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path, loader=loader(name, path))
    importlib.util.module_from_spec(spec)


for name, path in json.load(sys.stdin):
    before = sys._is_gil_enabled()
    error = None
    try:
        load(name, path) if path else importlib.import_module(name)
    except BaseException as problem:  # a module may exit
        error = f"{type(problem).__name__}: {problem}"[:300]
    line = {"module": name, "before": before, "after": sys._is_gil_enabled(), "error": error}
    print(json.dumps(line | {"culprit": culprit}), file=out, flush=True)
    if sys._is_gil_enabled():
        break
os._exit(0)  # without the exit handlers of what was imported
