// Lesson udf-registry: functions by name, looked up by many threads and registered by some.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "twin.h"

namespace {

constexpr int kThreads = 8;

// What is registered: made by running Python, destroyed by running Python.
struct Function {
    explicit Function(PyObject* made) : object(made) {}
    ~Function() {
        Attach attached;
        Py_DECREF(object);
    }
    PyObject* object;
};
using Shared = std::shared_ptr<Function>;

// Null with an exception set.
Shared build(PyObject* make) {
    PyObject* made = PyObject_CallNoArgs(make);
    return made ? std::make_shared<Function>(made) : nullptr;
}

// ANCHOR: before
// As it was: the GIL guarded the map, and nobody asked what happens while `make` runs.
struct Unlocked {
    std::map<std::string, Shared> functions;
    bool add(const std::string& name, PyObject* make) {
        if (functions.contains(name)) return false;
        auto function = build(make);
        functions[name] = function;  // race: plain map
        return true;
    }
};
// ANCHOR_END: before

// ANCHOR: under
// The first repair that comes to mind: one lock around all of it. Python runs under the lock.
struct UnderLock {
    std::shared_mutex mutex;
    std::map<std::string, Shared> functions;
    bool add(const std::string& name, PyObject* make) {
        std::unique_lock lock(mutex);
        if (functions.contains(name)) return false;
        functions[name] = build(make);
        return true;
    }
};
// ANCHOR_END: under

// ANCHOR: after
// After: no Python under the lock, so that waiting for it attached is harmless.
struct Registry {
    std::shared_mutex mutex;
    std::map<std::string, Shared> functions;

    Shared find(const std::string& name) {
        std::shared_lock lock(mutex);
        const auto found = functions.find(name);
        return found == functions.end() ? nullptr : found->second;
    }

    bool add(const std::string& name, PyObject* make) {
        if (find(name)) return false;   // cheap, and the common refusal
        Shared function = build(make);  // runs Python: no lock is held
        if (!function) return false;
        std::unique_lock lock(mutex);
        // Again: another thread may have come first. A loser's function dies after the lock is
        // released, since `function` was declared before `lock`.
        return functions.try_emplace(name, function).second;
    }

    bool drop(const std::string& name) {
        Shared removed;  // declared before the lock, so destroyed after it
        std::unique_lock lock(mutex);
        const auto found = functions.find(name);
        if (found == functions.end()) return false;
        removed = std::move(found->second);
        functions.erase(found);
        return true;
    }
};
// ANCHOR_END: after

// How many of the threads were told that they registered the one name.
template <class Registry>
PyObject* winners(PyObject*, PyObject* make) {
    Registry registry;
    std::atomic<int> won = 0;
    on_threads(kThreads, [&](int) {
        Attach attached;
        // Relaxed: read after the threads were joined.
        if (registry.add("f", make)) won.fetch_add(1, std::memory_order_relaxed);
        PyErr_Clear();
    });
    return PyLong_FromLong(won.load(std::memory_order_relaxed));
}

// Dropping a function whose finalizer looks the registry up must not hang.
Registry shared;
PyObject* has(PyObject*, PyObject*) { return PyBool_FromLong(shared.find("f") != nullptr); }
PyObject* add(PyObject*, PyObject* make) {
    const bool added = shared.add("f", make);
    return PyErr_Occurred() ? nullptr : PyBool_FromLong(added);
}
PyObject* drop(PyObject*, PyObject*) { return PyBool_FromLong(shared.drop("f")); }

// For ThreadSanitizer, which sees no thread of Python's own: a `make` that is a type.
PyObject* before_unlocked(PyObject* self, PyObject*) {
    return winners<Unlocked>(self, reinterpret_cast<PyObject*>(&PyBaseObject_Type));
}
PyObject* after_locked(PyObject* self, PyObject*) {
    return winners<Registry>(self, reinterpret_cast<PyObject*>(&PyBaseObject_Type));
}

}  // namespace

PyMethodDef udf_registry_methods[] = {
    {"before_unlocked", before_unlocked, METH_NOARGS, "winners, without a lock"},
    {"before_check_then_act", winners<Unlocked>, METH_O, "winners, without a lock"},
    {"before_python_under_lock", winners<UnderLock>, METH_O, "winners, all under one lock"},
    {"after_locked", after_locked, METH_NOARGS, "winners"},
    {"after_register", winners<Registry>, METH_O, "winners"},
    {"add", add, METH_O, "registers what the callable makes; whether it was the first"},
    {"has", has, METH_NOARGS, "whether it is registered"},
    {"drop", drop, METH_NOARGS, "takes it out; whether it was there"},
    {nullptr, nullptr, 0, nullptr},
};
