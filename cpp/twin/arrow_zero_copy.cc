// Lesson arrow-zero-copy: a column of large_string, taken over by the Arrow C interface.
#include <atomic>
#include <memory>

#include "../engine/include/engine/arrow_c.h"
#include "twin.h"

namespace {

// ANCHOR: before
// An address and a length. Who owns the buffer is not in it.
int64_t length_of(const int64_t* offsets, Py_ssize_t rows) { return offsets[rows] - offsets[0]; }
// ANCHOR_END: before

PyObject* before_length(PyObject*, PyObject* args) {
    unsigned long long address = 0;
    Py_ssize_t rows = 0;
    if (!PyArg_ParseTuple(args, "Kn", &address, &rows)) return nullptr;
    return PyLong_FromLongLong(length_of(reinterpret_cast<const int64_t*>(address), rows));
}

// ANCHOR: after
// The array is ours from the moment it is moved out of its capsule, and is released once. The
// release may drop Python objects: it runs attached.
struct Column {
    ArrowArray array{};
    ~Column() {
        if (!array.release) return;
        Attach attached;
        array.release(&array);
    }
};

std::unique_ptr<Column> take(PyObject* object) {
    auto column = std::make_unique<Column>();
    PyObject* pair = PyObject_CallMethod(object, "__arrow_c_array__", nullptr);
    PyObject* capsule = pair ? PyTuple_GetItem(pair, 1) : nullptr;  // borrowed from the pair
    void* source = capsule ? PyCapsule_GetPointer(capsule, "arrow_array") : nullptr;
    if (source) {
        column->array = *static_cast<ArrowArray*>(source);
        static_cast<ArrowArray*>(source)->release = nullptr;  // moved
    }
    Py_XDECREF(pair);
    return source ? std::move(column) : nullptr;
}

PyObject* after_length(PyObject*, PyObject* object) {
    auto column = take(object);
    if (!column) return nullptr;
    int64_t bytes = 0;
    bool forward = true;
    {
        // Nothing below needs Python.
        Detach detached;
        const ArrowArray& array = column->array;
        // A chunk without rows may come without offsets; a slice has an offset of its own.
        if (array.length > 0) {
            const auto* offsets = static_cast<const int64_t*>(array.buffers[1]) + array.offset;
            for (int64_t row = 0; row < array.length; ++row) {
                forward &= offsets[row] <= offsets[row + 1];
            }
            bytes = offsets[array.length] - offsets[0];
        }
    }
    if (!forward) {
        PyErr_SetString(PyExc_ValueError, "the column's offsets go backward");
        return nullptr;
    }
    return PyLong_FromLongLong(bytes);
}
// ANCHOR_END: after

// For ThreadSanitizer: a column that is written while it is read, and one that is finished first.
int64_t plain_offsets[1001];
PyObject* before_write(PyObject*, PyObject*) {
    std::atomic<int64_t> sum = 0;
    on_threads(2, [&](int thread) {
        for (int row = 0; row < 1000; ++row) {
            if (thread == 0) {
                plain_offsets[row + 1] = row;  // race: written while read
            } else {
                sum.fetch_add(plain_offsets[row + 1], std::memory_order_relaxed);
            }
        }
    });
    return PyLong_FromLongLong(sum.load(std::memory_order_relaxed));
}

PyObject* after_write(PyObject*, PyObject*) {
    static int64_t offsets[1001];
    // Before the threads start: starting a thread orders what was written before it.
    for (int row = 0; row < 1000; ++row) offsets[row + 1] = row;
    std::atomic<int64_t> sum = 0;
    on_threads(2, [&](int) {
        for (int row = 0; row < 1000; ++row) {
            sum.fetch_add(offsets[row + 1], std::memory_order_relaxed);
        }
    });
    return PyLong_FromLongLong(sum.load(std::memory_order_relaxed));
}

}  // namespace

PyMethodDef arrow_zero_copy_methods[] = {
    {"before_length", before_length, METH_VARARGS, "(address of offsets, rows): bytes of the text"},
    {"before_write", before_write, METH_NOARGS, "written while read"},
    {"after_length", after_length, METH_O, "bytes of the text of an Arrow array"},
    {"after_write", after_write, METH_NOARGS, "written before it is read"},
    {nullptr, nullptr, 0, nullptr},
};
