// Lesson import-cache: a look-up of `datetime.date` that is fast once it has been made.
#include <atomic>
#include <mutex>

#include "twin.h"

namespace {

PyObject* import_date() {
    PyObject* module = PyImport_ImportModule("datetime");
    PyObject* date = module ? PyObject_GetAttrString(module, "date") : nullptr;
    Py_XDECREF(module);
    return date;
}

// ANCHOR: before
// As it was: the GIL made the look and the write one step. Without it they are a data race.
struct Plain {
    PyObject* object = nullptr;
    PyObject* get() {
        if (!object) {  // race: plain flag
            object = import_date();
        }
        return object;
    }
};
// ANCHOR_END: before

// ANCHOR: once
// The first repair that comes to mind. Whoever loses the race blocks at the door, attached.
struct AttachedOnce {
    std::once_flag once;
    std::atomic<PyObject*> object = nullptr;
    PyObject* get(PyObject* (*import)()) {
        if (!object.load(std::memory_order_acquire)) {
            std::call_once(once, [&] { object.store(import(), std::memory_order_release); });
        }
        return object.load(std::memory_order_acquire);
    }
};
// ANCHOR_END: once

// ANCHOR: after
// After: detached at the door, attached inside; a failed import leaves it empty for the next
// caller.
struct Cached {
    std::mutex mutex;
    std::atomic<std::thread::id> maker{};
    std::atomic<PyObject*> object = nullptr;

    // A borrowed reference that lives as long as the process, or null with an exception set.
    PyObject* get(PyObject* (*import)()) {
        // Acquire: pairs with the release in slow(), so that the object is seen as it was made.
        if (PyObject* ready = object.load(std::memory_order_acquire)) return ready;
        return slow(import);
    }

    PyObject* slow(PyObject* (*import)()) {
        // Relaxed: only a thread that stored its own id can find it here.
        if (maker.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
            PyErr_SetString(PyExc_RuntimeError, "the import asks for what it is importing");
            return nullptr;
        }
        std::unique_lock lock(mutex, std::defer_lock);
        {
            Detach detached;
            lock.lock();
        }
        if (PyObject* ready = object.load(std::memory_order_relaxed)) return ready;
        maker.store(std::this_thread::get_id(), std::memory_order_relaxed);
        PyObject* made = import();
        maker.store({}, std::memory_order_relaxed);
        if (made) object.store(made, std::memory_order_release);
        return made;
    }
};
// ANCHOR_END: after

// An import that takes a while and collects, as big packages do.
PyObject* import_slowly() {
    if (!run_python("import gc, time\ntime.sleep(0.05)\ngc.collect()\ntime.sleep(0.05)\n")) {
        return nullptr;
    }
    return import_date();
}

template <class Cache, class... Import>
PyObject* look_up(int threads, Import... import) {
    // Not freed: what is cached lives as long as the process.
    auto* cache = new Cache;
    std::atomic<int> found = 0;
    on_threads(threads, [&](int) {
        Attach attached;
        PyObject* date = cache->get(import...);
        if (date && PyType_Check(date)) {
            found.fetch_add(1, std::memory_order_relaxed);
        } else {
            PyErr_Clear();
        }
    });
    return PyLong_FromLong(found.load(std::memory_order_relaxed));
}

PyObject* before_plain(PyObject*, PyObject*) { return look_up<Plain>(2); }
PyObject* before_attached_once(PyObject*, PyObject*) {
    return look_up<AttachedOnce>(2, import_slowly);
}
PyObject* after_cached(PyObject*, PyObject*) { return look_up<Cached>(8, import_slowly); }

// The first import fails; the threads after it get their date.
PyObject* fails_once() {
    static std::atomic<bool> failed = false;
    if (!failed.exchange(true)) {
        PyErr_SetString(PyExc_ImportError, "not this time");
        return nullptr;
    }
    return import_slowly();
}
PyObject* after_failing(PyObject*, PyObject*) { return look_up<Cached>(8, fails_once); }

Cached recursive;
PyObject* asks_itself() { return recursive.get(import_date); }
PyObject* after_reentrant(PyObject*, PyObject*) {
    PyObject* date = recursive.get(asks_itself);
    return Py_XNewRef(date);
}

}  // namespace

PyMethodDef import_cache_methods[] = {
    {"before_plain", before_plain, METH_NOARGS, "how many of 2 threads found datetime.date"},
    {"before_attached_once", before_attached_once, METH_NOARGS,
     "the same, through an attached once"},
    {"after_cached", after_cached, METH_NOARGS, "how many of 8 threads found datetime.date"},
    {"after_failing", after_failing, METH_NOARGS, "the same, when the first import fails"},
    {"after_reentrant", after_reentrant, METH_NOARGS, "raises: an import that asks for itself"},
    {nullptr, nullptr, 0, nullptr},
};
