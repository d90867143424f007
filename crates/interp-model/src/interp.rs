//! The interpreter: who is attached, who must wait.

use std::marker::PhantomData;

use crate::sync::{Arc, Condvar, Mutex, MutexGuard};
use crate::trace;

/// Which CPython is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// 3.14: one attached thread at a time.
    Gil,
    /// 3.14t: many, and stop-the-world.
    FreeThreaded,
}

/// The interpreter shuts down: nobody can attach any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finalizing;

/// A modelled interpreter. Thread-safety: internally synchronised; share it by its [`Arc`].
pub struct Interp {
    build: Build,
    books: Mutex<Books>,
    changed: Condvar,
}

struct Books {
    /// Threads that may run Python now; a thread that waits at a safepoint is not among them.
    attached: usize,
    /// Free-threaded build: somebody has asked the others to stop, or has stopped them.
    stopping: bool,
    finalizing: bool,
}

impl Interp {
    pub fn new(build: Build) -> Arc<Self> {
        let books = Mutex::new(Books { attached: 0, stopping: false, finalizing: false });
        Arc::new(Self { build, books, changed: Condvar::new() })
    }

    /// Which build this is.
    pub fn build(&self) -> Build {
        self.build
    }

    /// Runs `f` attached, as PyO3's `Python::try_attach` does.
    ///
    /// # Errors
    /// [`Finalizing`] once the interpreter shuts down.
    pub fn attach<R>(&self, f: impl FnOnce(&Python<'_>) -> R) -> Result<R, Finalizing> {
        drop(self.enter(self.books())?);
        trace::attached(true, "attaches");
        let python = Python { interp: self, _thread: PhantomData };
        let result = f(&python);
        self.leave("detaches");
        Ok(result)
    }

    /// A call into the C API, which in C any thread can make.
    ///
    /// # Panics
    /// If the calling thread is not attached: in CPython it would read a null thread state.
    pub fn c_api(&self, call: &str) {
        trace::step(format!("calls {call}"));
        assert!(trace::is_attached(), "{call} without a thread state");
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().expect("a model that panicked is over")
    }

    fn enter<'a>(
        &self,
        mut books: MutexGuard<'a, Books>,
    ) -> Result<MutexGuard<'a, Books>, Finalizing> {
        let mut waited = false;
        loop {
            if books.finalizing {
                return Err(Finalizing);
            }
            let occupied = match self.build {
                Build::Gil => books.attached > 0,
                Build::FreeThreaded => books.stopping,
            };
            if !occupied {
                break;
            }
            if !waited {
                waited = true;
                trace::waits(match self.build {
                    Build::Gil => "the GIL",
                    Build::FreeThreaded => "the world to go on",
                });
            }
            books = self.changed.wait(books).expect("as above");
        }
        if waited {
            trace::goes_on();
        }
        books.attached += 1;
        Ok(books)
    }

    fn leave(&self, text: &str) {
        self.books().attached -= 1;
        trace::attached(false, text);
        self.changed.notify_all();
    }

    /// What CPython 3.14 does to a thread that wants to come back to an interpreter that is gone.
    fn hang(&self) -> ! {
        trace::waits("an interpreter that has shut down");
        let mut books = self.books();
        loop {
            books = self.changed.wait(books).expect("as above");
        }
    }
}

/// The calling thread is attached. Thread-safety: thread-local.
pub struct Python<'i> {
    interp: &'i Interp,
    _thread: PhantomData<*const ()>,
}

impl Python<'_> {
    /// Which build this is.
    pub fn build(&self) -> Build {
        self.interp.build
    }

    pub(crate) fn interp(&self) -> &Interp {
        self.interp
    }

    /// Runs `f` detached and attaches again, as PyO3's `Python::detach` and as
    /// `PyEval_SaveThread`/`PyEval_RestoreThread` do. If the interpreter has shut down meanwhile, the
    /// thread never returns.
    pub fn detach<R>(&self, f: impl FnOnce() -> R) -> R {
        self.interp.leave("detaches");
        let result = f();
        if self.interp.enter(self.interp.books()).is_err() {
            self.interp.hang();
        }
        trace::attached(true, "attaches again");
        result
    }

    /// Python code runs. On the GIL-enabled build it may hand the GIL over; on the free-threaded
    /// build the thread stops here if somebody asked for a stop-the-world.
    pub fn run_python(&self) {
        let interp = self.interp;
        let mut books = interp.books();
        match interp.build {
            Build::Gil => {
                // Whoever waits may take it before this thread comes back.
                books.attached -= 1;
                drop(books);
                trace::set_attached(false);
                interp.changed.notify_all();
                if interp.enter(interp.books()).is_err() {
                    interp.hang();
                }
                trace::set_attached(true);
            }
            Build::FreeThreaded => drop(self.safepoint(books)),
        }
    }

    /// Stops every other thread, runs `f` and lets them go on: a collection, `fork`, `settrace`.
    ///
    /// On the GIL-enabled build there is nobody to stop.
    pub fn stop_the_world<R>(&self, f: impl FnOnce() -> R) -> R {
        let interp = self.interp;
        if interp.build == Build::Gil {
            return f();
        }
        trace::step("asks for a stop-the-world");
        let mut books = self.safepoint(interp.books());
        books.stopping = true;
        let mut waited = false;
        while books.attached > 1 {
            if !waited {
                waited = true;
                trace::waits("the attached threads to stop");
            }
            books = interp.changed.wait(books).expect("as above");
        }
        if waited {
            trace::goes_on();
        }
        drop(books);
        let result = f();
        interp.books().stopping = false;
        interp.changed.notify_all();
        result
    }

    /// The interpreter shuts down. As in CPython the caller stays attached, and whoever is attached
    /// beside it on the free-threaded build is stopped first and never goes on.
    pub fn finalize(&self) {
        trace::step("shuts the interpreter down");
        self.stop_the_world(|| self.interp.books().finalizing = true);
        self.interp.changed.notify_all();
    }

    fn safepoint<'a>(&self, mut books: MutexGuard<'a, Books>) -> MutexGuard<'a, Books> {
        if books.stopping {
            let interp = self.interp;
            books.attached -= 1;
            interp.changed.notify_all();
            trace::attached(false, "comes to a safepoint and stops");
            while books.stopping {
                books = interp.changed.wait(books).expect("as above");
            }
            if books.finalizing {
                drop(books);
                interp.hang();
            }
            books.attached += 1;
            trace::attached(true, "goes on from the safepoint");
        }
        books
    }
}
