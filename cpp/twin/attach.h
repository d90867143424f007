// Attaching and detaching by scope.
#pragma once

// Before any other header: it sets macros that the C library looks at.
#include <Python.h>

// Attached from here to the end of the scope; the thread need not have been known to Python.
class Attach {
  public:
    Attach() : state_(PyGILState_Ensure()) {}
    ~Attach() { PyGILState_Release(state_); }
    Attach(const Attach&) = delete;
    Attach& operator=(const Attach&) = delete;

  private:
    PyGILState_STATE state_;
};

// Detached from here to the end of the scope.
class Detach {
  public:
    Detach() : state_(PyEval_SaveThread()) {}
    ~Detach() { PyEval_RestoreThread(state_); }
    Detach(const Detach&) = delete;
    Detach& operator=(const Detach&) = delete;

  private:
    PyThreadState* state_;
};
