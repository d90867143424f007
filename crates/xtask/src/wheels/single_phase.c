/* What many extensions still are: the stable ABI of the GIL-enabled builds, and a module made at once. */
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

static PyObject* answer(PyObject* self, PyObject* args) {
    (void)self, (void)args;
    return PyLong_FromLong(42);
}

static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {0}};
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "single", 0, -1, methods, 0, 0, 0, 0};

PyMODINIT_FUNC PyInit_single(void) {
    return PyModule_Create(&def);
}
