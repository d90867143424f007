// Before any other header: it sets macros that the C library looks at.
#include <Python.h>

#include "udf_in_process.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace {

// ANCHOR: call
// One row, attached. Slot 0 of the frame belongs to the callee (PY_VECTORCALL_ARGUMENTS_OFFSET).
bool call_row(PyObject* function, int64_t a, int64_t b, int64_t* out) {
    PyObject* frame[3] = {nullptr, PyLong_FromLongLong(a), PyLong_FromLongLong(b)};
    PyObject* result = nullptr;
    if (frame[1] && frame[2]) {
        result =
            PyObject_Vectorcall(function, frame + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
    }
    Py_XDECREF(frame[1]);
    Py_XDECREF(frame[2]);
    if (!result) return false;
    int overflow = 0;
    // An exact int: a bool is one too, and is not what was declared.
    const bool fits = PyLong_CheckExact(result) &&
                      (*out = PyLong_AsLongLongAndOverflow(result, &overflow), overflow == 0);
    Py_DECREF(result);
    if (!fits) PyErr_SetString(PyExc_TypeError, "the function did not return an int64");
    return fits;
}
// ANCHOR_END: call

}  // namespace

// ANCHOR: block
int64_t after_call_block(void* function, const int64_t* a, const int64_t* b, int64_t rows,
                         int64_t* out) {
    // Once for the block: on a thread that Python has not seen this makes a thread state, which is
    // far dearer than a row (lesson attach-once).
    const PyGILState_STATE state = PyGILState_Ensure();
    int64_t row = 0;
    while (row < rows && call_row(static_cast<PyObject*>(function), a[row], b[row], out + row))
        ++row;
    if (row < rows) PyErr_Print();
    PyGILState_Release(state);
    return row;
}
// ANCHOR_END: block

bool limit_c_loop(void* function, const int64_t* a, const int64_t* b, int64_t rows,
                  int64_t block_rows, int threads, int64_t* sum) {
    std::vector<std::thread> workers;
    std::vector<int64_t> sums(static_cast<size_t>(threads), 0);
    std::atomic<bool> ok = true;
    const int64_t block = block_rows > 0 ? block_rows : (rows + threads - 1) / threads;
    for (int t = 0; t < threads; ++t) {
        workers.emplace_back([&, t] {
            int64_t total = 0;
            for (int64_t first = t * block; first < rows; first += threads * block) {
                const PyGILState_STATE state = PyGILState_Ensure();
                for (int64_t i = first; i < std::min(rows, first + block); ++i) {
                    int64_t out = 0;
                    if (!call_row(static_cast<PyObject*>(function), a[i], b[i], &out)) {
                        PyErr_Print();
                        // Relaxed: read only after the joins below.
                        ok.store(false, std::memory_order_relaxed);
                        break;
                    }
                    total += out;
                }
                PyGILState_Release(state);
            }
            sums[static_cast<size_t>(t)] = total;
        });
    }
    for (auto& worker : workers) worker.join();
    *sum = 0;
    for (const int64_t total : sums) *sum += total;
    return ok.load(std::memory_order_relaxed);
}
