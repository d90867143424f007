//! What a call into CPython or the C library comes to during the walk: mostly success.

use iced_x86::Register;

use super::machine::{Machine, Value};

pub enum Then {
    /// `PyModuleDef_Init` of this definition.
    Definition(Value),
    /// `PyUnstable_Module_SetGIL` with this value.
    SetGil(Value),
    /// A module was made in a single phase.
    Single,
    /// It does not return.
    Never,
    Back,
}

const ARGUMENTS: [Register; 4] = [Register::RDI, Register::RSI, Register::RDX, Register::RCX];
const CLOBBERED: [Register; 9] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
];
const LARGEST_COPY: u64 = 1 << 14;

/// Sets what the function returns and forgets what it may change.
pub fn call(machine: &mut Machine<'_>, name: &str, minor: u32) -> Then {
    let [a, b, c, _] = ARGUMENTS.map(|register| machine.get(register));
    let returned = match name {
        "PyModuleDef_Init" => return Then::Definition(a),
        "PyUnstable_Module_SetGIL" => return Then::SetGil(b),
        "abort"
        | "exit"
        | "_exit"
        | "__stack_chk_fail"
        | "_Unwind_Resume"
        | "__cxa_throw"
        | "__cxa_rethrow"
        | "Py_FatalError"
        | "_Py_FatalErrorFunc"
        | "__assert_fail"
        | "__cxa_call_unexpected"
        | "_ZSt9terminatev"
        | "__cxa_bad_cast"
        | "longjmp" => {
            return Then::Never;
        }
        // CPython's own version, which pybind11 compares with that of its compilation.
        "Py_GetVersion" => {
            let at = machine.allocate(16, true);
            for (k, byte) in format!("3.{minor}.0 (main)").bytes().enumerate() {
                machine.write_byte(at + k as u64, Some(byte));
            }
            Some(at)
        }
        "PyModule_Create2" | "PyModule_FromDefAndSpec2" | "PyModule_Create2TraceRefs" => {
            Some(machine.allocate(64, false))
        }
        "malloc" | "PyMem_Malloc" | "PyObject_Malloc" | "PyMem_RawMalloc" | "_Znwm" | "_Znam" => {
            Some(machine.allocate(a.unwrap_or(64), false))
        }
        "calloc" | "PyMem_Calloc" | "PyObject_Calloc" | "PyMem_RawCalloc" => {
            let size = a.unwrap_or(64).saturating_mul(b.unwrap_or(1));
            Some(machine.allocate(size, true))
        }
        "memcpy" | "memmove" | "__memcpy_chk" | "__memmove_chk" => copy(machine, a, b, c),
        "memset" | "__memset_chk" => fill(machine, a, b, c),
        "strlen" => a.and_then(|a| text(machine, a)).map(|text| text.len() as u64),
        "strcmp" => compare(machine, a, b, u64::MAX),
        "strncmp" | "memcmp" => c.and_then(|c| compare(machine, a, b, c)),
        "__cxa_guard_acquire" => Some(1),
        // The first import finds nothing.
        "PyState_FindModule" => Some(0),
        "__cxa_atexit"
        | "pthread_mutex_lock"
        | "pthread_mutex_unlock"
        | "PyErr_Occurred"
        | "PyType_Ready"
        | "PyGILState_Ensure"
        | "PyList_Append"
        | "PyErr_CheckSignals"
        | "PyErr_WarnEx"
        | "PyErr_ExceptionMatches" => Some(0),
        _ if name.starts_with("PyModule_Add")
            || name.starts_with("PyDict_Set")
            || name.starts_with("PyObject_Set")
            || name.starts_with("PyThread_tss_") =>
        {
            Some(0)
        }
        // Numbers, and what may be absent.
        _ if ["GetItem", "Contains", "Size", "Length", "Is", "Check", "_As", "AddModule"]
            .iter()
            .any(|part| name.contains(part)) =>
        {
            None
        }
        _ if name.starts_with("Py") || name.starts_with("_Py") => Some(machine.allocate(64, false)),
        _ => None,
    };
    forget(machine, returned);
    if name.starts_with("PyModule_Create2") || name == "PyModule_FromDefAndSpec2" {
        return Then::Single;
    }
    Then::Back
}

/// After any call: the registers that a function may change.
pub fn forget(machine: &mut Machine<'_>, returned: Value) {
    for register in CLOBBERED {
        machine.set(register, None);
    }
    for k in 0..16 {
        machine.set_vector(Register::XMM0 + k, [None; 16]);
    }
    machine.flags = Default::default();
    machine.set(Register::RAX, returned);
}

fn copy(machine: &mut Machine<'_>, to: Value, from: Value, size: Value) -> Value {
    let (to, from, size) = (to?, from?, size?);
    let bytes: Vec<_> =
        (0..size.min(LARGEST_COPY)).map(|k| machine.byte(from.wrapping_add(k))).collect();
    for (k, byte) in bytes.into_iter().enumerate() {
        machine.write_byte(to.wrapping_add(k as u64), byte);
    }
    Some(to)
}

fn fill(machine: &mut Machine<'_>, to: Value, byte: Value, size: Value) -> Value {
    let to = to?;
    for k in 0..size.unwrap_or(0).min(LARGEST_COPY) {
        machine.write_byte(to.wrapping_add(k), byte.map(|byte| byte as u8));
    }
    Some(to)
}

fn text(machine: &Machine<'_>, at: u64) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for k in 0..256 {
        match machine.byte(at.wrapping_add(k))? {
            0 => return Some(out),
            byte => out.push(byte),
        }
    }
    None
}

fn compare(machine: &Machine<'_>, a: Value, b: Value, most: u64) -> Value {
    let (a, b) = (a?, b?);
    for k in 0..most.min(256) {
        let (x, y) = (machine.byte(a.wrapping_add(k))?, machine.byte(b.wrapping_add(k))?);
        if x != y {
            return Some(if x < y { -1_i64 as u64 } else { 1 });
        }
        if x == 0 {
            break;
        }
    }
    Some(0)
}
