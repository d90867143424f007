// Lesson shared-refcounts: what a call counts on, and who else does.
#include <atomic>

#include "twin.h"

namespace {

// ANCHOR: share
// When a function is registered: the free-threaded build counts no reference to these any more, and
// the collector alone frees them. What cannot be deferred is left as it is.
void share(PyObject* object, int depth = 8) {
#if PY_VERSION_HEX >= 0x030E0000
    if (!object || PyUnstable_Object_EnableDeferredRefcount(object) == 0 || depth == 0) return;
    if (PyMethod_Check(object)) {
        share(PyMethod_GET_FUNCTION(object), depth - 1);
        share(PyMethod_GET_SELF(object), depth - 1);
    } else if (PyFunction_Check(object)) {
        PyObject* closure = PyFunction_GetClosure(object);  // borrowed, of a function that we have
        for (Py_ssize_t i = 0; closure && i < PyTuple_GET_SIZE(closure); ++i) {
            PyObject* cell = PyTuple_GET_ITEM(closure, i);
            share(cell, depth - 1);
            PyObject* inside =
                PyCell_Get(cell);  // a new reference: another thread may set the cell
            share(inside, depth - 1);
            Py_XDECREF(inside);
        }
    }
#else
    (void)object, (void)depth;
#endif
}
// ANCHOR_END: share

PyObject* after_share(PyObject*, PyObject* function) {
    share(function);
    return PyObject_CallFunction(function, "ii", 1000, 1001);
}

// ANCHOR: counters
// The native form of a counter that every call adds to.
int64_t plain_calls = 0;
void count_plain() {
    ++plain_calls;  // race: plain counter
}

// Each thread has its own, and they are added up when somebody asks.
struct PerThread {
    static constexpr int kThreads = 2;
    // A cache line each: neighbours on one line are contended like a single counter.
    struct alignas(64) Slot {
        std::atomic<int64_t> calls = 0;
    };
    Slot slots[kThreads];
    void count(int thread) { slots[thread].calls.fetch_add(1, std::memory_order_relaxed); }
    int64_t total() const {
        int64_t sum = 0;
        for (const auto& slot : slots) sum += slot.calls.load(std::memory_order_relaxed);
        return sum;
    }
};
// ANCHOR_END: counters

PyObject* before_count(PyObject*, PyObject*) {
    on_threads(2, [](int) {
        Attach attached;
        for (int i = 0; i < 1000; ++i) count_plain();
    });
    return PyLong_FromLongLong(plain_calls);
}

PyObject* after_count(PyObject*, PyObject*) {
    PerThread counters;
    on_threads(PerThread::kThreads, [&](int thread) {
        Attach attached;
        for (int i = 0; i < 1000; ++i) counters.count(thread);
    });
    return PyLong_FromLongLong(counters.total());
}

}  // namespace

PyMethodDef shared_refcounts_methods[] = {
    {"after_share", after_share, METH_O, "defers what is behind a function, and calls it"},
    {"before_count", before_count, METH_NOARGS, "a plain counter on two threads"},
    {"after_count", after_count, METH_NOARGS, "a counter for each of two threads"},
    {nullptr, nullptr, 0, nullptr},
};
