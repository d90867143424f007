// Lesson detach-before-block: four ways to wait for a thread that runs Python.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <string_view>

#include "twin.h"

namespace {

using Work = std::function<void()>;

// ANCHOR: waits
// What the owner does while others wait, and how they wait: nothing here knows of Python.
struct Once {
    std::once_flag flag;
    void own(const Work& work) { std::call_once(flag, work); }
    void wait() {
        std::call_once(flag, [] {});
    }
};
struct Lock {
    std::mutex mutex;
    void own(const Work& work) {
        std::lock_guard lock(mutex);
        work();
    }
    void wait() { std::lock_guard lock(mutex); }
};
struct Channel {
    std::promise<void> sender;
    std::future<void> receiver = sender.get_future();
    void own(const Work& work) {
        work();
        sender.set_value();
    }
    void wait() { receiver.wait(); }
};
// ANCHOR_END: waits

// The owner runs Python that hands the GIL over, and no collection.
void hands_over() { run_python("import time\ntime.sleep(0.2)\nsum(range(1000))\n"); }

// The owner asks for a stop-the-world, and never hands the GIL over before.
void collects() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (std::chrono::steady_clock::now() < until) {
    }
    PyGC_Collect();
}

// The owner is attached and inside; then `wait` runs, attached. True if both came to an end.
template <class Resource, class Wait>
PyObject* meet(void owner(), Wait wait) {
    Resource resource;
    std::promise<void> inside;
    std::thread thread([&] {
        Attach attached;
        resource.own([&] {
            inside.set_value();
            owner();
        });
    });
    {
        Detach detached;
        inside.get_future().wait();
    }
    wait(resource);
    {
        Detach detached;
        thread.join();
    }
    Py_RETURN_TRUE;
}

// ANCHOR: before
struct Attached {
    template <class Resource>
    void operator()(Resource& resource) const {
        resource.wait();  // attached: whoever must attach or stop the world waits for this thread
    }
};
// ANCHOR_END: before

// ANCHOR: after
struct Detached {
    template <class Resource>
    void operator()(Resource& resource) const {
        PyThreadState* state = PyEval_SaveThread();
        resource.wait();
        PyEval_RestoreThread(state);
    }
};
// ANCHOR_END: after

// ANCHOR: join
// Joining is waiting too: the thread must attach to come to its end.
template <bool detached>
PyObject* join(void owner()) {
    std::promise<void> inside;
    std::thread thread([&] {
        Attach attached;
        inside.set_value();
        owner();
    });
    {
        Detach scope;
        inside.get_future().wait();
    }
    PyThreadState* state = detached ? PyEval_SaveThread() : nullptr;
    thread.join();
    if (state) PyEval_RestoreThread(state);
    Py_RETURN_TRUE;
}
// ANCHOR_END: join

template <class Wait, bool detached>
PyObject* run(PyObject*, PyObject* args) {
    const char *what = nullptr, *how = nullptr;
    if (!PyArg_ParseTuple(args, "ss", &what, &how)) return nullptr;
    const std::string_view name = what;
    const auto owner = std::string_view(how) == "collects" ? collects : hands_over;
    if (name == "once") return meet<Once>(owner, Wait());
    if (name == "lock") return meet<Lock>(owner, Wait());
    if (name == "channel") return meet<Channel>(owner, Wait());
    if (name == "join") return join<detached>(owner);
    PyErr_Format(PyExc_ValueError, "%s is none of once, lock, channel, join", what);
    return nullptr;
}

// Whoever must not block may be tempted to poll. A plain flag is a data race.
bool plain_done = false;
PyObject* before_poll(PyObject*, PyObject*) {
    on_threads(2, [](int i) {
        if (i == 0) {
            plain_done = true;
        } else {
            for (int tries = 0; tries < 1000 && !plain_done; ++tries) {  // race: plain flag
                std::this_thread::yield();
            }
        }
    });
    Py_RETURN_NONE;
}

// Every wait, with an owner that collects.
PyObject* after_all(PyObject*, PyObject*) {
    PyObject* all[] = {
        meet<Once>(collects, Detached()),
        meet<Lock>(collects, Detached()),
        meet<Channel>(collects, Detached()),
        join<true>(collects),
    };
    for (PyObject* one : all) Py_XDECREF(one);
    Py_RETURN_NONE;
}

}  // namespace

PyMethodDef detach_before_block_methods[] = {
    {"before", run<Attached, false>, METH_VARARGS, "(wait, owner): waits attached"},
    {"before_poll", before_poll, METH_NOARGS, "polls a plain flag"},
    {"after_all", after_all, METH_NOARGS, "every wait, detached"},
    {"after", run<Detached, true>, METH_VARARGS, "(wait, owner): waits detached"},
    {nullptr, nullptr, 0, nullptr},
};
