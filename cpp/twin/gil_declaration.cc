// Lesson gil-declaration: what a module says about itself, and the audit that must come first.
#include <atomic>
#include <chrono>

#include "twin.h"

namespace {

constexpr int kThreads = 4;
constexpr int kCalls = 2'000'000;

// ANCHOR: before
// As it was: the GIL made every call of the module one step.
int64_t calls = 0;
[[gnu::noinline]] void count_plain() {
    ++calls;  // race: plain counter
}
// ANCHOR_END: before

// ANCHOR: after
// After the audit. Relaxed: a count orders nothing else.
std::atomic<int64_t> counted = 0;
void count_atomic() { counted.fetch_add(1, std::memory_order_relaxed); }
// ANCHOR_END: after

// Threads that count, until a call is lost: (counted, made). Two threads on one core lose nothing,
// since the increment is one instruction; so they are more than two, begin together, and try again
// for as long as a busy machine may keep them on one core. Where there is a GIL, trying longer
// would only take longer.
using Seconds = std::chrono::seconds;
#ifdef Py_GIL_DISABLED
constexpr Seconds kUntilLost{20};
#else
constexpr Seconds kUntilLost{1};
#endif

template <void count(), class Counted>
PyObject* run(Counted counted, Seconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    long long made = 0;
    do {
        std::atomic<int> waiting = kThreads;
        on_threads(kThreads, [&](int) {
            waiting.fetch_sub(1);
            while (waiting.load() > 0) std::this_thread::yield();
            Attach attached;
            for (int i = 0; i < kCalls; ++i) count();
        });
        made += 1LL * kThreads * kCalls;
    } while (counted() == made && std::chrono::steady_clock::now() < end);
    return Py_BuildValue("LL", static_cast<long long>(counted()), made);
}

PyObject* before_count(PyObject*, PyObject*) {
    return run<count_plain>([] { return calls; }, kUntilLost);
}

PyObject* after_count(PyObject*, PyObject*) {
    return run<count_atomic>([] { return counted.load(std::memory_order_relaxed); }, Seconds(1));
}

PyModuleDef single_phase = {
    PyModuleDef_HEAD_INIT, "single", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};

PyModuleDef_Slot silent_slots[] = {{0, nullptr}};

// ANCHOR: declared
PyModuleDef_Slot declared_slots[] = {
#ifdef Py_mod_gil  // since 3.13
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr},
};
// ANCHOR_END: declared

PyModuleDef silent = {PyModuleDef_HEAD_INIT, "silent", nullptr, 0,      nullptr,
                      silent_slots,          nullptr,  nullptr, nullptr};
PyModuleDef declared = {PyModuleDef_HEAD_INIT, "declared", nullptr, 0,      nullptr,
                        declared_slots,        nullptr,    nullptr, nullptr};

}  // namespace

// The same file under four names: an extension is loaded by the PyInit_ function of its name.
PyMODINIT_FUNC PyInit_multi_silent() { return PyModuleDef_Init(&silent); }
PyMODINIT_FUNC PyInit_multi_declared() { return PyModuleDef_Init(&declared); }
PyMODINIT_FUNC PyInit_single_silent() { return PyModule_Create(&single_phase); }

// ANCHOR: single
// Single-phase initialisation has no slots; it says so by a call.
PyMODINIT_FUNC PyInit_single_declared() {
    PyObject* module = PyModule_Create(&single_phase);
#ifdef Py_GIL_DISABLED
    if (module) PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
    return module;
}
// ANCHOR_END: single

PyMethodDef gil_declaration_methods[] = {
    {"before_count", before_count, METH_NOARGS, "(counted, made) by a plain counter"},
    {"after_count", after_count, METH_NOARGS, "(counted, made) by an atomic counter"},
    {nullptr, nullptr, 0, nullptr},
};
