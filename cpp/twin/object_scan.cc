// Lesson object-scan: items of a container that other threads change.
#include <atomic>

#include "twin.h"

namespace {

int64_t value(PyObject* item) {
    const int64_t value = PyLong_AsLongLong(item);
    if (value == -1) PyErr_Clear();
    return value;
}

// ANCHOR: before
int64_t sum_borrowed(PyObject* list) {
    int64_t sum = 0;
    const Py_ssize_t length = PyList_Size(list);  // true now
    for (Py_ssize_t i = 0; i < length; ++i) {
        PyObject* item = PyList_GetItem(list, i);  // alive now
        Py_INCREF(item);
        sum += value(item);
        Py_DECREF(item);
    }
    return sum;
}
// ANCHOR_END: before

// ANCHOR: after
// A new reference, taken while the item cannot be removed; or null where the list has become
// shorter.
int64_t sum_owned(PyObject* list) {
    int64_t sum = 0;
    for (Py_ssize_t i = 0; PyObject* item = PyList_GetItemRef(list, i); ++i) {
        sum += value(item);
        Py_DECREF(item);
    }
    PyErr_Clear();  // the IndexError at the end
    return sum;
}

// PyDict_Next lends key and value: they are safe for as long as the dictionary's critical section
// is held, and nothing in here may run Python or detach.
int64_t sum_dict(PyObject* dict) {
    int64_t sum = 0;
    Py_BEGIN_CRITICAL_SECTION(dict);
    PyObject *key = nullptr, *item = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &item);) sum += value(item);
    Py_END_CRITICAL_SECTION();
    return sum;
}
// ANCHOR_END: after

template <int64_t sum(PyObject*)>
PyObject* repeat(PyObject*, PyObject* args) {
    PyObject* container = nullptr;
    int times = 0;
    if (!PyArg_ParseTuple(args, "Oi", &container, &times)) return nullptr;
    uint64_t total = 0;
    for (int i = 0; i < times; ++i) total += uint64_t(sum(container));
    return PyLong_FromUnsignedLongLong(total);
}

int64_t sum_any(PyObject* container) {
    return PyDict_Check(container) ? sum_dict(container) : sum_owned(container);
}

// For ThreadSanitizer, which does not see into CPython: native state that both the scan and the one
// that changes the container keep, its size.
int64_t plain_size = 0;
[[gnu::noinline]] void set_size(int64_t size) {
    plain_size = size;  // race: plain size
}
[[gnu::noinline]] int64_t get_size() { return plain_size; }
std::atomic<int64_t> published_size = 0;

PyObject* before_size(PyObject*, PyObject*) {
    on_threads(2, [](int thread) {
        Attach attached;
        for (int i = 0; i < 1000; ++i) {
            if (thread == 0) set_size(i);
            if (thread == 1 && get_size() < 0) break;
        }
    });
    Py_RETURN_NONE;
}

PyObject* after_size(PyObject*, PyObject*) {
    on_threads(2, [](int thread) {
        Attach attached;
        for (int i = 0; i < 1000; ++i) {
            // Relaxed: a size alone orders nothing. Whoever uses it as a bound looks at the
            // container again, under its lock.
            if (thread == 0) published_size.store(i, std::memory_order_relaxed);
            if (thread == 1 && published_size.load(std::memory_order_relaxed) < 0) break;
        }
    });
    Py_RETURN_NONE;
}

}  // namespace

PyMethodDef object_scan_methods[] = {
    {"before_sum", repeat<sum_borrowed>, METH_VARARGS, "(list, times): borrowed items"},
    {"before_size", before_size, METH_NOARGS, "a plain size on two threads"},
    {"after_sum", repeat<sum_any>, METH_VARARGS, "(list or dict, times): owned items"},
    {"after_size", after_size, METH_NOARGS, "an atomic size on two threads"},
    {nullptr, nullptr, 0, nullptr},
};
