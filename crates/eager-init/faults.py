"""What each variant of the lesson does, one function a run: see lesson.toml for how each ends."""

import json
import os
import pathlib
import subprocess
import sys
import sysconfig

import twin
from ungil import _faults
from ungil._ungil import eager_init

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
NAN = float("nan")


def lazy():
    return eager_init.before_scan(["a", None, "b"]), 1


def cpp_lazy():
    return twin.eager_init.before_scan(["a", None, "b"]), 1


def cpp_lazy_reported():
    """The crash reporter takes a lock that the crashing thread has."""
    return twin.eager_init.before_scan_reported(["a", None, "b"]), 1


def cpp_eager():
    import pandas

    values = ["a", None, pandas.NaT, pandas.NA, NAN, 1.0, "NaT", 0]
    return twin.eager_init.after_scan(values), 4


def without_pandas():
    """Only None and NaN are left, and that is no error."""
    sys.modules["pandas"] = None
    return eager_init.after_scan(["a", None, NAN]), [1, 2]


def real_column():
    """The air times of the real flights as an object column, which has NaN of its own, with every
    kind of null planted in its first, a middle and its last block."""
    import pandas
    import pyarrow.feather as feather

    path = pathlib.Path(os.environ["UNGIL_DATA"], "flights.arrow")
    column = feather.read_table(path, columns=["air_time"]).to_pandas()["air_time"].astype(object)
    rows, block = len(column), 65_536
    kinds = [None, NAN, pandas.NaT, pandas.NA]
    for base in (0, rows // block // 2 * block, rows - len(kinds)):
        for offset, kind in enumerate(kinds):
            column.iat[base + offset] = kind
    expected = [row for row, null in enumerate(column.isna()) if null]
    assert len(expected) > 2000, "cancelled flights have no air time"
    for threads, size in ((1, block), (2, block), (8, 1000), (2, 7), (2, rows), (2, 10 * rows)):
        if eager_init.after_scan(column, threads, size) != expected:
            return (threads, size), "the rows that pandas calls null"


# One call each from a thread without a thread state, and an argument for it.
CALLS = {
    "PyUnicode_Check": "'text'",
    "Py_INCREF": "object()",
    "PyUnicode_GET_LENGTH": "'text'",
    "PyUnicode_1BYTE_DATA": "'text'",
    "PyFloat_AsDouble": "1.5",
    "PyLong_AsLong": "7",
    "PyObject_IsTrue": "'text'",
    "PyGILState_Check": "None",
    "Py_DECREF": "kept",
    "PyList_GetItemRef": "[1]",
    "PyUnicode_AsUTF8AndSize": "'caf\\xe9' * 3",
    "PyLong_FromLong": "None",
    "PyUnicode_FromString": "None",
    "PyObject_GetAttrString": "7",
    "PyImport_ImportModule": "None",
    "PyErr_Occurred": "None",
}


def table():
    """`ok` or the signal, for each call, each in a child of its own."""
    told = {}
    for name, argument in CALLS.items():
        # Kept twice over, so that one DECREF too many frees nothing.
        code = f"import twin; kept = object(); more = [kept] * 9; assert twin.eager_init.call({name!r}, {argument})"
        child = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
        told[name] = {0: "ok", -11: "SIGSEGV"}.get(child.returncode, str(child.returncode))
    return told


def what_a_bare_thread_may_call():
    expected = json.loads(pathlib.Path(__file__).with_name("bare-thread.json").read_text())
    build = "3.14t" if FREE_THREADED else "3.14"
    return table(), {name: outcomes[build] for name, outcomes in expected.items()}


def stress():
    """One list, scanned by all and changed by all: each scan sees a list as it was at some moment."""
    import pandas

    column = [None, NAN, pandas.NaT, "a", 1.0] * 40

    def work(index):
        column[index * 5 + 3] = f"text{index}"
        rows = eager_init.after_scan(list(column), 2, 16)
        assert rows == [row for row in range(200) if row % 5 < 3], rows

    return _faults.storm(work)


if __name__ == "__main__":
    print(json.dumps(table(), indent=1), os.path.basename(sys.executable))
