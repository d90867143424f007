// Lesson attach-once: native threads that take jobs, and when they attach.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "twin.h"

namespace {

using Job = std::function<void()>;

// What the threads wait for. It knows nothing of Python: nobody runs any under its lock.
class Queue {
  public:
    void push(Job job) {
        {
            std::lock_guard lock(mutex_);
            jobs_.push_back(std::move(job));
        }
        changed_.notify_one();
    }
    void close() {
        {
            std::lock_guard lock(mutex_);
            closed_ = true;
        }
        changed_.notify_all();
    }
    // False once it is closed and empty.
    bool pop(Job* job) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
        if (jobs_.empty()) return false;
        *job = std::move(jobs_.front());
        jobs_.pop_front();
        return true;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> jobs_;
    bool closed_ = false;
};

// ANCHOR: before
// A thread state is made for each job and destroyed after it.
void forgetful_worker(Queue& jobs) {
    for (Job job; jobs.pop(&job);) {
        Attach attached;
        job();
    }
}
// ANCHOR_END: before

// ANCHOR: after
// The thread state lives as long as the thread, which is detached while it waits.
void worker(Queue& jobs) {
    Attach known;
    Detach detached;
    for (Job job; jobs.pop(&job);) {
        Attach attached;  // finds the state again
        job();
    }
}
// ANCHOR_END: after

// ANCHOR: ensure
#if PY_VERSION_HEX >= 0x030F0000
// The same from CPython 3.15 on (PEP 788): a guard keeps the interpreter from ending, so the thread
// can always attach while it has one. The end of the interpreter waits for the guard to be closed:
// close the queue in `atexit`, as before.
void guarded_worker(PyInterpreterGuard* guard, Queue& jobs) {
    if (PyThreadStateToken* known = PyThreadState_Ensure(guard)) {
        {
            Detach detached;
            for (Job job; jobs.pop(&job);) {
                PyThreadStateToken* attached = PyThreadState_Ensure(guard);
                job();
                PyThreadState_Release(attached);
            }
        }
        PyThreadState_Release(known);
    }
    PyInterpreterGuard_Close(guard);
}
#endif
// ANCHOR_END: ensure

// Calls `function(task)` for each task on two threads; the number of calls that did not raise.
template <class Start>
PyObject* run(PyObject* args, Start start) {
    PyObject* function = nullptr;
    int tasks = 0;
    if (!PyArg_ParseTuple(args, "iO", &tasks, &function)) return nullptr;
    Queue jobs;
    std::atomic<int> good = 0;
    for (int task = 0; task < tasks; ++task) {
        jobs.push([&good, function, task] {
            PyObject* result = PyObject_CallFunction(function, "i", task);
            if (!result) PyErr_Print();
            // Relaxed: read after the threads are joined.
            if (result) good.fetch_add(1, std::memory_order_relaxed);
            Py_XDECREF(result);
        });
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) threads.push_back(start(jobs));
    jobs.close();
    {
        Detach detached;
        for (auto& thread : threads) thread.join();
    }
    return PyLong_FromLong(good.load(std::memory_order_relaxed));
}

PyObject* before_run(PyObject*, PyObject* args) {
    return run(args, [](Queue& jobs) { return std::thread([&] { forgetful_worker(jobs); }); });
}
PyObject* after_run(PyObject*, PyObject* args) {
    return run(args, [](Queue& jobs) { return std::thread([&] { worker(jobs); }); });
}
PyObject* after_guarded(PyObject*, PyObject* args) {
#if PY_VERSION_HEX >= 0x030F0000
    return run(args, [](Queue& jobs) {
        PyInterpreterGuard* guard = PyInterpreterGuard_FromCurrent();
        return std::thread([&jobs, guard] { guarded_worker(guard, jobs); });
    });
#else
    (void)args;
    PyErr_SetString(PyExc_NotImplementedError, "PyThreadState_Ensure is new in CPython 3.15");
    return nullptr;
#endif
}

// For ThreadSanitizer: tasks shared out by a plain counter. Under the GIL, and with a job that
// attached before it looked, the counter was never touched by two threads.
int plain_next = 0;
[[gnu::noinline]] int next_task() {
    return plain_next++;  // race: plain counter
}
PyObject* before_share_out(PyObject*, PyObject*) {
    on_threads(2, [](int) {
        Attach attached;
        while (next_task() < 1000) {
        }
    });
    Py_RETURN_NONE;
}
PyObject* after_share_out(PyObject*, PyObject*) {
    Queue jobs;
    std::atomic<int> done = 0;
    for (int i = 0; i < 1000; ++i) jobs.push([&] { done.fetch_add(1, std::memory_order_relaxed); });
    jobs.close();
    on_threads(2, [&](int) { worker(jobs); });
    return PyLong_FromLong(done.load(std::memory_order_relaxed));
}

}  // namespace

PyMethodDef attach_once_methods[] = {
    {"before_run", before_run, METH_VARARGS, "(tasks, function): a thread state a task"},
    {"after_run", after_run, METH_VARARGS, "(tasks, function): a thread state a thread"},
    {"after_guarded", after_guarded, METH_VARARGS, "the same by PEP 788, on CPython 3.15"},
    {"before_share_out", before_share_out, METH_NOARGS, "a plain counter on two threads"},
    {"after_share_out", after_share_out, METH_NOARGS, "a queue on two threads"},
    {nullptr, nullptr, 0, nullptr},
};
