// The module `twin`: one submodule for each lesson, each with its before_* and after_*.
#include "twin.h"

bool run_python(const char* source) {
    PyObject* globals = PyDict_New();
    if (!globals) return false;
    PyObject* result = PyRun_String(source, Py_file_input, globals, globals);
    Py_DECREF(globals);
    Py_XDECREF(result);
    return result != nullptr;
}

namespace {

struct Lesson {
    const char* name;
    PyMethodDef* methods;
};

int add_lessons(PyObject* module) {
    const Lesson lessons[] = {
        {"gil_declaration", gil_declaration_methods},
        {"import_cache", import_cache_methods},
        {"udf_registry", udf_registry_methods},
        {"engine_singleton", engine_singleton_methods},
        {"eager_init", eager_init_methods},
        {"detach_before_block", detach_before_block_methods},
        {"attach_once", attach_once_methods},
        {"call_frame", call_frame_methods},
        {"shared_refcounts", shared_refcounts_methods},
        {"string_fast_path", string_fast_path_methods},
        {"object_scan", object_scan_methods},
        {"arrow_zero_copy", arrow_zero_copy_methods},
    };
    for (const auto& lesson : lessons) {
        PyObject* submodule = PyModule_New(lesson.name);
        if (!submodule || PyModule_AddFunctions(submodule, lesson.methods) < 0 ||
            PyModule_Add(module, lesson.name, submodule) < 0) {
            return -1;
        }
    }
    return 0;
}

PyModuleDef_Slot slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(add_lessons)},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "twin", nullptr, 0, nullptr, slots, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_twin() { return PyModuleDef_Init(&definition); }
