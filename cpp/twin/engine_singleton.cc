// Lesson engine-singleton: one engine for the process, whose thread calls back into Python.
#include <unistd.h>

#include <condition_variable>
#include <functional>
#include <mutex>

#include "twin.h"

namespace {

// The engine: a thread of its own that does one job after the other. It knows nothing of Python.
class Engine {
  public:
    Engine() : thread_([this] { work(); }) { thread_.detach(); }

    // Hands the job over and waits until it is done.
    void run(const std::function<void()>& job) {
        std::unique_lock lock(mutex_);
        free_.wait(lock, [this] { return !job_; });
        job_ = &job;
        changed_.notify_all();
        changed_.wait(lock, [&] { return job_ != &job; });
        free_.notify_one();
    }

  private:
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return job_ != nullptr; });
            const auto* job = job_;
            lock.unlock();
            (*job)();
            lock.lock();
            job_ = nullptr;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_, free_;
    const std::function<void()>* job_ = nullptr;
    std::thread thread_;
};

// The engine's callback into Python: runs on the engine's thread.
struct Job {
    PyObject* function;
    PyObject* result = nullptr;
    PyObject* error = nullptr;
    void operator()() {
        Attach attached;
        result = PyObject_CallNoArgs(function);
        if (!result) error = PyErr_GetRaisedException();
    }
    PyObject* take() {
        if (error) PyErr_SetRaisedException(error);
        return result;
    }
};

// ANCHOR: before
// As it was: made at the first query, and waited for by the thread that has the GIL.
PyObject* before_run(PyObject*, PyObject* function) {
    static Engine* engine = new Engine;
    Job job{function};
    engine->run([&] { job(); });
    return job.take();
}
// ANCHOR_END: before

// Half of the repair: detached, and with no thought of fork.
PyObject* before_run_detached(PyObject*, PyObject* function) {
    static Engine* engine = new Engine;
    Job job{function};
    {
        Detach detached;
        engine->run([&] { job(); });
    }
    return job.take();
}

// For ThreadSanitizer: two threads that both ask for the engine first.
Engine* plain_engine = nullptr;
void make_plain() {
    if (!plain_engine) plain_engine = new Engine;  // race: plain singleton
}
std::once_flag made;
Engine* made_engine = nullptr;
void make_once() {
    std::call_once(made, [] { made_engine = new Engine; });
}
template <void make()>
PyObject* make_on_threads(PyObject*, PyObject*) {
    on_threads(2, [](int) { make(); });
    Py_RETURN_NONE;
}

// ANCHOR: after
// After: made and waited for detached. A child of fork has the engine's memory and not its thread,
// so it gets an error; a process that needs an engine starts afresh ("spawn").
PyObject* after_run(PyObject*, PyObject* function) {
    static std::once_flag once;
    static Engine* engine;
    static pid_t owner;
    Job job{function};
    bool forked = false;
    {
        Detach detached;
        std::call_once(once, [] {
            engine = new Engine;
            owner = getpid();
        });
        forked = owner != getpid();
        if (!forked) engine->run([&] { job(); });
    }
    if (forked) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the engine was started before this process was forked; start processes "
                        "with the method \"spawn\" or \"forkserver\"");
        return nullptr;
    }
    return job.take();
}
// ANCHOR_END: after

}  // namespace

PyMethodDef engine_singleton_methods[] = {
    {"before_run", before_run, METH_O, "calls the function on the engine's thread"},
    {"before_run_detached", before_run_detached, METH_O, "the same, waiting detached"},
    {"before_make", make_on_threads<make_plain>, METH_NOARGS,
     "two threads make it, unsynchronised"},
    {"after_make", make_on_threads<make_once>, METH_NOARGS, "two threads make it once"},
    {"after_run", after_run, METH_O, "calls the function on the engine's thread"},
    {nullptr, nullptr, 0, nullptr},
};
