// Lesson gil-declaration: what a module says about itself, and the audit that must come first.
#include <atomic>

#include "twin.h"

namespace {

constexpr int kThreads = 2;
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

// Two threads that count, until a call is lost: (counted, made). On a busy machine the threads may
// follow one another for a while, and lose nothing.
template <void count(), class Counted>
PyObject* run(Counted counted) {
    long long made = 0;
    do {
        on_threads(kThreads, [](int) {
            Attach attached;
            for (int i = 0; i < kCalls; ++i) count();
        });
        made += 1LL * kThreads * kCalls;
    } while (counted() == made && made < 50LL * kThreads * kCalls);
    return Py_BuildValue("LL", static_cast<long long>(counted()), made);
}

PyObject* before_count(PyObject*, PyObject*) {
    return run<count_plain>([] { return calls; });
}

PyObject* after_count(PyObject*, PyObject*) {
    return run<count_atomic>([] { return counted.load(std::memory_order_relaxed); });
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
