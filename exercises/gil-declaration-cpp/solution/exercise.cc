// SOLUTION include
#include <atomic>
// STARTER
// END

#include "attach.h"

namespace {

// SOLUTION state
std::atomic<long> tickets = 0;
// STARTER
// long tickets = 0;
// END

// The next ticket.
PyObject* take(PyObject*, PyObject*) {
    // SOLUTION take
    // Relaxed: the number orders nothing else.
    return PyLong_FromLong(tickets.fetch_add(1, std::memory_order_relaxed) + 1);
    // STARTER
    // ++tickets;
    // return PyLong_FromLong(tickets);
    // END
}

PyMethodDef methods[] = {
    {"take", take, METH_NOARGS, "the next ticket"},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef_Slot slots[] = {
    // SOLUTION slot
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
    // STARTER
    // END
    {0, nullptr},
};

PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "exercise", nullptr, 0, methods, slots, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_exercise() { return PyModuleDef_Init(&module); }
