// Before any other header: it sets macros that the C library looks at.
#include <Python.h>

#include "udf_in_process.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace {

PyObject* box(int64_t value) { return PyLong_FromLongLong(value); }
PyObject* box(double value) { return PyFloat_FromDouble(value); }

bool unbox(PyObject* object, int64_t* out) {
    int overflow = 0;
    // An exact int: a bool is one too, and is not what was declared.
    const bool fits = PyLong_CheckExact(object) &&
                      (*out = PyLong_AsLongLongAndOverflow(object, &overflow), overflow == 0);
    if (!fits) PyErr_SetString(PyExc_TypeError, "the function did not return an int64");
    return fits;
}

bool unbox(PyObject* object, double* out) {
    const bool fits = PyFloat_CheckExact(object);
    if (fits) *out = PyFloat_AS_DOUBLE(object);
    if (!fits) PyErr_SetString(PyExc_TypeError, "the function did not return a float");
    return fits;
}

// ANCHOR: call
// One row, attached. Slot 0 of the frame belongs to the callee (PY_VECTORCALL_ARGUMENTS_OFFSET).
template <class Number>
bool call_row(PyObject* function, Number a, Number b, Number* out) {
    PyObject* frame[3] = {nullptr, box(a), box(b)};
    PyObject* result = nullptr;
    if (frame[1] && frame[2]) {
        result =
            PyObject_Vectorcall(function, frame + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
    }
    Py_XDECREF(frame[1]);
    Py_XDECREF(frame[2]);
    const bool fits = result && unbox(result, out);
    Py_XDECREF(result);
    return fits;
}
// ANCHOR_END: call

}  // namespace

// ANCHOR: block
int64_t after_call_block(void* function, const int64_t* a, const int64_t* b, int64_t rows,
                         int64_t* out) {
    // Once for the block. On a thread that Python has not seen this makes a thread state, which is
    // far dearer than a row: see after_enter_thread.
    const PyGILState_STATE state = PyGILState_Ensure();
    int64_t row = 0;
    while (row < rows && call_row(static_cast<PyObject*>(function), a[row], b[row], out + row))
        ++row;
    if (row < rows) PyErr_Print();
    PyGILState_Release(state);
    return row;
}
// ANCHOR_END: block

// ANCHOR: kept
void after_enter_thread() {
    // One Ensure that is not released, so the thread state stays; then detached until a block
    // comes.
    PyGILState_Ensure();
    PyEval_SaveThread();
}

void after_leave_thread() {
    const PyGILState_STATE state = PyGILState_Ensure();
    // The one of after_enter_thread, then the one above: the last to leave destroys the state.
    PyGILState_Release(PyGILState_LOCKED);
    PyGILState_Release(state);
}
// ANCHOR_END: kept

namespace {

// ANCHOR: limit
template <class Number>
bool loop(PyObject* function, const Number* a, const Number* b, int64_t rows, int threads,
          Number* sum) {
    std::vector<std::thread> workers;
    std::vector<Number> sums(static_cast<size_t>(threads), 0);
    std::atomic<bool> ok = true;
    constexpr int64_t kChunk = 16'384;
    std::atomic<int64_t> next = 0;
    for (int t = 0; t < threads; ++t) {
        workers.emplace_back([&, t] {
            const PyGILState_STATE state = PyGILState_Ensure();
            Number total = 0;
            // Whoever is free takes the next rows: a limit must not wait for a thread that the
            // machine slowed down. Relaxed, as the flag below: read only after the joins.
            for (int64_t i; ok.load(std::memory_order_relaxed) &&
                            (i = next.fetch_add(kChunk, std::memory_order_relaxed)) < rows;) {
                for (const int64_t end = std::min(i + kChunk, rows); i < end; ++i) {
                    Number out = 0;
                    if (!call_row(function, a[i], b[i], &out)) {
                        PyErr_Print();
                        ok.store(false, std::memory_order_relaxed);
                        break;
                    }
                    total += out;
                }
            }
            sums[static_cast<size_t>(t)] = total;
            PyGILState_Release(state);
        });
    }
    for (auto& worker : workers) worker.join();
    *sum = 0;
    for (const Number total : sums) *sum += total;
    return ok.load(std::memory_order_relaxed);
}
// ANCHOR_END: limit

}  // namespace

bool limit_c_loop_int64(void* function, const int64_t* a, const int64_t* b, int64_t rows,
                        int threads, int64_t* sum) {
    return loop(static_cast<PyObject*>(function), a, b, rows, threads, sum);
}

bool limit_c_loop_float64(void* function, const double* a, const double* b, int64_t rows,
                          int threads, double* sum) {
    return loop(static_cast<PyObject*>(function), a, b, rows, threads, sum);
}
