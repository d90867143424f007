//! Which tool made an extension: what to do about it differs.

use memchr::memmem;
use serde::Serialize;

/// From marks that the tools leave in the file. Immutable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Flavour {
    PyO3,
    Cython,
    Pybind11,
    Nanobind,
    Cffi,
    Mypyc,
    Hand,
}

impl Flavour {
    pub fn name(&self) -> &'static str {
        match self {
            Self::PyO3 => "PyO3",
            Self::Cython => "Cython",
            Self::Pybind11 => "pybind11",
            Self::Nanobind => "nanobind",
            Self::Cffi => "cffi",
            Self::Mypyc => "mypyc",
            Self::Hand => "C API",
        }
    }

    /// What its author does about an extension that does not declare.
    pub fn cure(&self) -> &'static str {
        match self {
            Self::PyO3 => {
                "audit, then `#[pymodule(gil_used = false)]` (the default from PyO3 0.28)"
            }
            Self::Cython => "audit, then `# cython: freethreading_compatible=True` in each module",
            Self::Pybind11 => "audit, then `PYBIND11_MODULE(name, m, py::mod_gil_not_used())`",
            Self::Nanobind => "audit, then `nanobind_add_module(name FREE_THREADED ...)`",
            Self::Cffi => "build with cffi 2.0 or later, which declares it",
            Self::Mypyc => "build with a mypyc that declares it, or install the pure wheel",
            Self::Hand => {
                "audit, then `{Py_mod_gil, Py_MOD_GIL_NOT_USED}` in the slots, or \
                 PyUnstable_Module_SetGIL where there are none"
            }
        }
    }
}

pub fn of(bytes: &[u8]) -> Flavour {
    let has = |mark: &str| memmem::find(bytes, mark.as_bytes()).is_some();
    // In this order: this file's own words are in the extension that it is compiled into.
    if has("pyo3_runtime.PanicException") {
        Flavour::PyO3
    } else if has("__pyx_capi__") || has("_cython_3") || has("_cython_0") || has("cython_runtime") {
        Flavour::Cython
    } else if has("nanobind") {
        Flavour::Nanobind
    } else if has("pybind11") {
        Flavour::Pybind11
    } else if has("_cffi_backend") {
        Flavour::Cffi
    } else if has("CPyStatics") || has("mypyc") {
        Flavour::Mypyc
    } else {
        Flavour::Hand
    }
}
