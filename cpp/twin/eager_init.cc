// Lesson eager-init: what a scan thread that has no thread state does at the first null.
#include <csignal>

#include <atomic>
#include <cstring>
#include <mutex>

#include "twin.h"

namespace {

// Runs `body` on a thread that Python does not know, and waits for it detached.
template <class Body>
void on_scan_thread(Body body) {
    on_threads(1, [&](int) { body(); });
}

// ANCHOR: before
// As it was: pandas.NaT is looked up when the scan first needs it. On a thread without a thread
// state that is an import without an interpreter.
bool is_null_lazily(PyObject* object) {
    static PyObject* nat = nullptr;
    if (object == Py_None) return true;
    if (!nat) {
        PyObject* pandas = PyImport_ImportModule("pandas");
        nat = pandas ? PyObject_GetAttrString(pandas, "NaT") : nullptr;
    }
    return object == nat;
}
// ANCHOR_END: before

// ANCHOR: after
// After: resolved while attached, compared by address on the scan thread.
struct Nulls {
    PyObject* nat = nullptr;
    PyObject* na = nullptr;

    // Attached. False with an exception set.
    bool resolve() {
        PyObject* pandas = PyImport_ImportModule("pandas");
        if (!pandas) return false;
        nat = PyObject_GetAttrString(pandas, "NaT");
        na = nat ? PyObject_GetAttrString(pandas, "NA") : nullptr;
        Py_DECREF(pandas);
        return na != nullptr;
    }

    // Any thread, attached or not: it reads addresses, a type pointer and a double.
    bool contains(PyObject* object) const {
        if (object == Py_None || object == nat || object == na) return true;
        if (Py_TYPE(object) != &PyFloat_Type) return false;
        const double value = PyFloat_AS_DOUBLE(object);
        return value != value;
    }
};
// ANCHOR_END: after

// How many of a list's items are null. The list must not change meanwhile; `scan` runs detached.
template <class IsNull>
PyObject* scan(PyObject* list, IsNull is_null) {
    PyObject* objects = PySequence_Tuple(list);
    if (!objects) return nullptr;
    long nulls = 0;
    on_scan_thread([&] {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(objects); ++i) {
            nulls += is_null(PyTuple_GET_ITEM(objects, i));
        }
    });
    Py_DECREF(objects);
    return PyLong_FromLong(nulls);
}

PyObject* before_scan(PyObject*, PyObject* list) { return scan(list, is_null_lazily); }

// ANCHOR: handler
// A fatal-signal handler that takes a lock, as crash reporters do. If the thread that crashed has
// the lock, the crash becomes a silence.
std::mutex log_lock;
void report(int) {
    std::lock_guard lock(log_lock);
    _exit(139);
}
// ANCHOR_END: handler

PyObject* before_scan_reported(PyObject*, PyObject* list) {
    std::signal(SIGSEGV, report);
    return scan(list, [](PyObject* object) {
        std::lock_guard lock(log_lock);  // the engine writes a line of its log
        return is_null_lazily(object);
    });
}

PyObject* after_scan(PyObject*, PyObject* list) {
    Nulls nulls;
    if (!nulls.resolve()) return nullptr;
    PyObject* count = scan(list, [&](PyObject* object) { return nulls.contains(object); });
    Py_DECREF(nulls.nat);
    Py_DECREF(nulls.na);
    return count;
}

// For ThreadSanitizer: scan threads that run already while the sentinel is resolved.
PyObject* plain_nat = nullptr;
std::atomic<PyObject*> published_nat = nullptr;

void resolve_plain() { plain_nat = Py_None; }
long scan_plain(PyObject* object) {
    return object == plain_nat;  // race: plain sentinel
}
void resolve_published() { published_nat.store(Py_None, std::memory_order_release); }
long scan_published(PyObject* object) {
    // Acquire: pairs with the release above, so that the sentinel is seen as it was made.
    return object == published_nat.load(std::memory_order_acquire);
}
template <void resolve(), long scan(PyObject*)>
PyObject* resolve_beside_scan(PyObject*, PyObject*) {
    std::atomic<long> found = 0;
    on_threads(2, [&](int i) {
        if (i == 0) {
            resolve();
        } else {
            found.fetch_add(scan(Py_None), std::memory_order_relaxed);
        }
    });
    Py_RETURN_NONE;
}

// One call of the C API from a thread without a thread state; true if it came back.
PyObject* call(PyObject*, PyObject* args) {
    const char* name = nullptr;
    PyObject* object = nullptr;
    if (!PyArg_ParseTuple(args, "sO", &name, &object)) return nullptr;
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    std::atomic<bool> known = true;
    on_scan_thread([&] {
        Py_ssize_t size = 0;
        if (is("PyUnicode_Check")) {
            (void)PyUnicode_Check(object);
        } else if (is("Py_INCREF")) {
            Py_INCREF(object);
        } else if (is("Py_DECREF")) {
            Py_DECREF(object);
        } else if (is("PyUnicode_GET_LENGTH")) {
            (void)PyUnicode_GET_LENGTH(object);
        } else if (is("PyUnicode_1BYTE_DATA")) {
            (void)PyUnicode_1BYTE_DATA(object);
        } else if (is("PyFloat_AsDouble")) {
            PyFloat_AsDouble(object);
        } else if (is("PyLong_AsLong")) {
            PyLong_AsLong(object);
        } else if (is("PyObject_IsTrue")) {
            PyObject_IsTrue(object);
        } else if (is("PyGILState_Check")) {
            PyGILState_Check();
        } else if (is("PyUnicode_AsUTF8AndSize")) {
            PyUnicode_AsUTF8AndSize(object, &size);
        } else if (is("PyLong_FromLong")) {
            PyLong_FromLong(1 << 20);
        } else if (is("PyUnicode_FromString")) {
            PyUnicode_FromString("made without an interpreter");
        } else if (is("PyObject_GetAttrString")) {
            PyObject_GetAttrString(object, "real");
        } else if (is("PyImport_ImportModule")) {
            PyImport_ImportModule("datetime");
        } else if (is("PyErr_Occurred")) {
            PyErr_Occurred();
        } else if (is("PyList_GetItemRef")) {
            PyList_GetItemRef(object, 0);
        } else {
            // Relaxed: read after the thread was joined.
            known.store(false, std::memory_order_relaxed);
        }
    });
    return PyBool_FromLong(known.load(std::memory_order_relaxed));
}

}  // namespace

PyMethodDef eager_init_methods[] = {
    {"before_scan", before_scan, METH_O, "nulls of a list, looked up lazily"},
    {"before_scan_reported", before_scan_reported, METH_O, "the same, with a crash reporter"},
    {"after_scan", after_scan, METH_O, "nulls of a list, looked up before the scan"},
    {"before_publish", resolve_beside_scan<resolve_plain, scan_plain>, METH_NOARGS,
     "resolves beside a scan, unsynchronised"},
    {"after_publish", resolve_beside_scan<resolve_published, scan_published>, METH_NOARGS,
     "resolves beside a scan, published"},
    {"call", call, METH_VARARGS, "(name, object): one call without a thread state"},
    {nullptr, nullptr, 0, nullptr},
};
