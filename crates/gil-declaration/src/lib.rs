//! Lesson `gil-declaration`: one line says that a module can run without the GIL. The audit behind it
//! is the work.
//!
//! *Before*, a module that says nothing turns the GIL on for the whole process; or one that says it
//! can, and whose state the GIL had been guarding. *After*, the state is synchronised, the module says
//! so, and a guard raises at the moment anything else turns the GIL on (`gil_guard.py`).

pub mod after;
pub mod before;
pub mod python;
