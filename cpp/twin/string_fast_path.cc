// Lesson string-fast-path: strings to UTF-8. The whole of the after is
// crates/string-fast-path/src/after/strings.c, which C++ code can take as it is.
#include <atomic>
#include <string>

#include "twin.h"

namespace {

// Calls `one(item, &bytes)` for each item of a list; the length of all.
template <class One>
PyObject* bytes_of(PyObject* list, One one) {
    std::string bytes;
    const Py_ssize_t rows = PyList_Size(list);
    for (Py_ssize_t row = 0; row < rows; ++row) {
        PyObject* item = PyList_GetItemRef(list, row);
        const bool good = item && one(item, &bytes);
        Py_XDECREF(item);
        if (!good) return nullptr;
    }
    return rows < 0 ? nullptr : PyLong_FromSize_t(bytes.size());
}

// ANCHOR: before
bool append_utf8(PyObject* text, std::string* bytes) {
    Py_ssize_t length = 0;
    const char* utf8 = PyUnicode_AsUTF8AndSize(text, &length);
    if (utf8) bytes->append(utf8, size_t(length));
    return utf8 != nullptr;
}
// ANCHOR_END: before

// ANCHOR: after
// Compact ASCII is its own UTF-8; the rest of the kinds are in strings.c.
bool append_fast(PyObject* text, std::string* bytes) {
    if (PyUnicode_CheckExact(text) && PyUnicode_IS_COMPACT_ASCII(text)) {
        bytes->append(static_cast<const char*>(PyUnicode_DATA(text)),
                      size_t(PyUnicode_GET_LENGTH(text)));
        return true;
    }
    // A bytes object of its own, freed at once: nothing is kept beside the string.
    PyObject* encoded = PyUnicode_AsUTF8String(text);
    if (encoded) bytes->append(PyBytes_AS_STRING(encoded), size_t(PyBytes_GET_SIZE(encoded)));
    Py_XDECREF(encoded);
    return encoded != nullptr;
}
// ANCHOR_END: after

PyObject* before_bytes(PyObject*, PyObject* list) { return bytes_of(list, append_utf8); }
PyObject* after_bytes(PyObject*, PyObject* list) { return bytes_of(list, append_fast); }

// For ThreadSanitizer, which does not see CPython's own store: a string that keeps its UTF-8.
template <class Pointer>
struct Text {
    size_t length = 0;
    Pointer utf8{};
};

PyObject* before_publish(PyObject*, PyObject*) {
    Text<const char*> text;
    on_threads(2, [&](int thread) {
        Attach attached;
        if (thread == 0) {
            text.length = 6;
            text.utf8 = "Zürich";
        } else {
            for (int tries = 0; tries < 1000 && !text.utf8; ++tries) {  // race: plain pointer
                std::this_thread::yield();
            }
        }
    });
    Py_RETURN_NONE;
}

PyObject* after_publish(PyObject*, PyObject*) {
    Text<std::atomic<const char*>> text;
    std::atomic<size_t> seen = 0;
    on_threads(2, [&](int thread) {
        if (thread == 0) {
            text.length = 7;
            text.utf8.store("Zürich", std::memory_order_release);
        } else {
            // Acquire: pairs with the store above, so the length is the text's.
            while (!text.utf8.load(std::memory_order_acquire)) std::this_thread::yield();
            seen.store(text.length, std::memory_order_relaxed);
        }
    });
    return PyLong_FromSize_t(seen.load(std::memory_order_relaxed));
}

}  // namespace

PyMethodDef string_fast_path_methods[] = {
    {"before_bytes", before_bytes, METH_O, "bytes of a list of strings, kept beside each"},
    {"before_publish", before_publish, METH_NOARGS, "a plain pointer on two threads"},
    {"after_bytes", after_bytes, METH_O, "bytes of a list of strings"},
    {"after_publish", after_publish, METH_NOARGS, "a released pointer on two threads"},
    {nullptr, nullptr, 0, nullptr},
};
