// Lesson call-frame: two arguments to a Python function, for each row.
#include "twin.h"

namespace {

// Calls `one(function, i)` for each row; null with the exception set if a row fails.
template <class One>
PyObject* rows(PyObject* args, One one) {
    PyObject* function = nullptr;
    int count = 0;
    if (!PyArg_ParseTuple(args, "Oi", &function, &count)) return nullptr;
    for (int i = 0; i < count; ++i) {
        PyObject* result = one(function, i);
        if (!result) return nullptr;
        Py_DECREF(result);
    }
    Py_RETURN_NONE;
}

// ANCHOR: tuple
PyObject* call_tuple(PyObject* function, int row) {
    PyObject* arguments = Py_BuildValue("(ii)", row + 1000, row + 1000);
    PyObject* result = arguments ? PyObject_CallObject(function, arguments) : nullptr;
    Py_XDECREF(arguments);
    return result;
}
// ANCHOR_END: tuple

// ANCHOR: frame
PyObject* call_frame(PyObject* function, int row) {
    // Slot 0 belongs to the callee.
    PyObject* frame[3] = {nullptr, PyLong_FromLong(row + 1000), PyLong_FromLong(row + 1000)};
    PyObject* result = nullptr;
    if (frame[1] && frame[2]) {
        result =
            PyObject_Vectorcall(function, frame + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
    }
    Py_XDECREF(frame[1]);
    Py_XDECREF(frame[2]);
    return result;
}
// ANCHOR_END: frame

// ANCHOR: shared
// Reuse, one step too far: one frame for the function, whoever calls it.
PyObject* shared[3];
PyObject* call_shared(PyObject* function, int row) {
    // Small integers, which are immortal: else this would not mix up values but free them twice.
    shared[1] = PyLong_FromLong(row & 127);  // race: shared frame
    shared[2] = PyLong_FromLong(row & 127);
    return PyObject_Vectorcall(function, shared + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
}
// ANCHOR_END: shared

PyObject* before_tuple(PyObject*, PyObject* args) { return rows(args, call_tuple); }
PyObject* before_shared(PyObject*, PyObject* args) { return rows(args, call_shared); }
PyObject* after_frame(PyObject*, PyObject* args) { return rows(args, call_frame); }

PyObject* before_kept(PyObject*, PyObject* args) {
    std::vector<PyObject*> tuples;
    PyObject* done = rows(args, [&](PyObject* function, int row) {
        tuples.push_back(Py_BuildValue("(ii)", row + 1000, row + 1000));
        return tuples.back() ? PyObject_CallObject(function, tuples.back()) : nullptr;
    });
    for (PyObject* tuple : tuples) Py_XDECREF(tuple);
    return done;
}

// For ThreadSanitizer: two threads that call a builtin through the frame.
template <PyObject* call(PyObject*, int)>
PyObject* on_two(PyObject*, PyObject*) {
    PyObject* function = PyEval_GetBuiltins();  // borrowed
    function = function ? PyMapping_GetItemString(function, "max") : nullptr;
    if (!function) return nullptr;
    on_threads(2, [&](int) {
        Attach attached;
        for (int i = 0; i < 1000; ++i) {
            PyObject* result = call(function, i);
            if (!result) PyErr_Clear();
            Py_XDECREF(result);
        }
    });
    Py_DECREF(function);
    Py_RETURN_NONE;
}

}  // namespace

PyMethodDef call_frame_methods[] = {
    {"before_tuple", before_tuple, METH_VARARGS, "(function, rows): a tuple a row"},
    {"before_kept", before_kept, METH_VARARGS, "(function, rows): tuples kept to the end"},
    {"before_shared", before_shared, METH_VARARGS, "(function, rows): one frame for all threads"},
    {"before_race", on_two<call_shared>, METH_NOARGS, "two threads, one frame"},
    {"after_frame", after_frame, METH_VARARGS, "(function, rows): a frame on the stack"},
    {"after_local", on_two<call_frame>, METH_NOARGS, "two threads, a frame each"},
    {nullptr, nullptr, 0, nullptr},
};
