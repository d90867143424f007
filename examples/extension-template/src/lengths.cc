// The bytes of strings in UTF-8, by CPython's inline functions. A string that is ASCII has as many as
// characters; nothing is asked of the interpreter for it. Called attached.

#include <Python.h>

#include <cstddef>

// Writes `out[0..count]`; gives the index of the first that is no string or has no UTF-8, with the
// exception set, or `count`.
extern "C" std::size_t fastlines_lengths(PyObject* const* texts, std::size_t count,
                                         std::size_t* out) noexcept {
    for (std::size_t k = 0; k < count; ++k) {
        PyObject* text = texts[k];
        if (!PyUnicode_Check(text)) {
            PyErr_Format(PyExc_TypeError, "row %zu: expected str, got %T", k, text);
            return k;
        }
        if (PyUnicode_IS_COMPACT_ASCII(text)) {
            out[k] = static_cast<std::size_t>(PyUnicode_GET_LENGTH(text));
            continue;
        }
        Py_ssize_t size = 0;
        if (PyUnicode_AsUTF8AndSize(text, &size) == nullptr) return k;
        out[k] = static_cast<std::size_t>(size);
    }
    return count;
}
