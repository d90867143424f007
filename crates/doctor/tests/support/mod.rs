//! Small extensions without Python.h, compiled by the machine's C compiler: one for each way to
//! declare, in the layout of each build.

use std::path::Path;
use std::process::Command;

/// `HEAD` is the object's header and the three words behind it, in words of eight bytes.
const PRELUDE: &str = "
typedef unsigned long word;
typedef struct { int slot; void *value; } Slot;
typedef struct { word head[HEAD]; const char *name; const char *doc; long size; void *methods;
                 Slot *slots; void *traverse, *clear, *free; } Def;
extern void *PyModuleDef_Init(Def *);
extern void *PyModule_Create2(Def *, int);
extern int PyUnstable_Module_SetGIL(void *, void *);
extern void *PyErr_Occurred(void);
extern int PyType_Ready(void *);
extern void *malloc(word);
static int run(void *module) { return 0; }
";

pub const FREE_THREADED: u32 = 7;
pub const GIL_ENABLED: u32 = 5;

pub fn compile(folder: &Path, name: &str, head: u32, code: &str, flags: &[&str]) -> Vec<u8> {
    let source = folder.join(format!("{name}.c"));
    let library = folder.join(format!("{name}.so"));
    std::fs::write(&source, format!("{PRELUDE}{code}")).unwrap();
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-w"])
        .args(flags)
        .arg(format!("-DHEAD={head}"))
        .arg("-o")
        .arg(&library)
        .arg(&source)
        .status()
        .expect("a C compiler, which building the engine needs too");
    assert!(status.success());
    std::fs::read(library).unwrap()
}

/// Name, code, and whether it declares that it needs no GIL.
pub const WAYS: [(&str, &str, bool); 8] = [
    (
        "slots_not_used",
        "
static Slot slots[] = {{2, run}, {3, (void *)2}, {4, (void *)1}, {0, 0}};
static Def def = {.name = \"x\", .slots = slots};
void *PyInit_x(void) { return PyModuleDef_Init(&def); }
",
        true,
    ),
    (
        "slots_used",
        "
static Slot slots[] = {{2, run}, {4, (void *)0}, {0, 0}};
static Def def = {.name = \"x\", .slots = slots};
void *PyInit_x(void) { return PyModuleDef_Init(&def); }
",
        false,
    ),
    (
        "slots_silent",
        "
static Slot slots[] = {{2, run}, {0, 0}};
static Def def = {.name = \"x\", .slots = slots};
void *PyInit_x(void) { return PyModuleDef_Init(&def); }
",
        false,
    ),
    (
        "slots_made_at_run_time",
        "
static Slot slots[4];
static Def def;
static void fill(Slot *at, int slot, void *value) { at->slot = slot; at->value = value; }
void *PyInit_x(void) {
    fill(&slots[0], 2, run);
    fill(&slots[1], 4, (void *)1);
    fill(&slots[2], 0, 0);
    def.name = \"x\";
    def.slots = slots;
    return PyModuleDef_Init(&def);
}
",
        true,
    ),
    (
        "single_silent",
        "
static Def def = {.name = \"x\"};
void *PyInit_x(void) { return PyModule_Create2(&def, 1013); }
",
        false,
    ),
    (
        "single_not_used",
        "
static Def def = {.name = \"x\"};
void *PyInit_x(void) {
    if (PyType_Ready(0) < 0) return 0;
    void *module = PyModule_Create2(&def, 1013);
    if (!module) return 0;
    if (PyUnstable_Module_SetGIL(module, (void *)1) < 0) return 0;
    return module;
}
",
        true,
    ),
    (
        "single_used",
        "
static Def def = {.name = \"x\"};
void *PyInit_x(void) {
    void *module = PyModule_Create2(&def, 1013);
    PyUnstable_Module_SetGIL(module, (void *)0);
    return module;
}
",
        false,
    ),
    (
        "by_a_flag_of_its_own",
        "
struct options { int not_used; };
static Def def = {.name = \"x\"};
static __attribute__((noinline)) void *make(struct options options) {
    void *module = PyModule_Create2(&def, 1013);
    PyUnstable_Module_SetGIL(module, options.not_used ? (void *)1 : (void *)0);
    return module;
}
void *PyInit_x(void) { struct options options = {1}; return make(options); }
",
        true,
    ),
];
