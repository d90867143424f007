//! What is read of small extensions whose source is known, and of damaged ones.

mod support;

use doctor::binary::{self, Declares};
use doctor::tags::Abi;
use proptest::prelude::*;
use std::time::{Duration, Instant};
use support::{FREE_THREADED, GIL_ENABLED, WAYS, compile};

fn abi(head: u32) -> Abi {
    let name = match head {
        FREE_THREADED => "x.cpython-314t-x86_64-linux-gnu.so",
        _ => "x.cpython-314-x86_64-linux-gnu.so",
    };
    Abi::of_file(name).unwrap().1
}

#[test]
#[cfg(target_arch = "x86_64")]
fn each_way_to_declare_is_read_in_each_layout_and_at_each_optimisation() {
    let folder = tempfile::tempdir().unwrap();
    for head in [FREE_THREADED, GIL_ENABLED] {
        for (name, code, free) in WAYS {
            for optimised in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
                let bytes = compile(folder.path(), name, head, code, &[optimised]);
                let read = binary::read(&bytes, "x", abi(head)).unwrap();
                let said = match &read.declares {
                    Declares::Free(_) => true,
                    Declares::Gil(_) => false,
                    other => panic!("{name} {optimised}: {other:?}"),
                };
                assert_eq!(said, free, "{name} {optimised} {head}: {:?}", read.declares);
            }
        }
    }
}

#[test]
fn a_file_without_a_tag_is_read_in_the_layout_that_has_its_name() {
    let folder = tempfile::tempdir().unwrap();
    for head in [FREE_THREADED, GIL_ENABLED] {
        let (_, code, _) = WAYS[0];
        let bytes = compile(folder.path(), "x", head, code, &["-O2"]);
        let read = binary::read(&bytes, "x", Abi::Plain).unwrap();
        assert!(matches!(read.declares, Declares::Free(_)), "{head}: {:?}", read.declares);
    }
}

#[test]
fn a_call_that_no_path_comes_to_is_not_taken_for_silence() {
    let folder = tempfile::tempdir().unwrap();
    let code = "
static Def def = {.name = \"x\"};
extern void (*later)(void *);
void other(void *module) { PyUnstable_Module_SetGIL(module, (void *)1); }
void *PyInit_x(void) { void *module = PyModule_Create2(&def, 1013); later(module); return module; }
";
    let bytes = compile(folder.path(), "later", FREE_THREADED, code, &["-O1"]);
    let read = binary::read(&bytes, "x", abi(FREE_THREADED)).unwrap();
    assert!(matches!(read.declares, Declares::CannotTell(_)), "{:?}", read.declares);
}

#[test]
fn relocations_in_the_packed_form_are_applied() {
    let folder = tempfile::tempdir().unwrap();
    let (_, code, _) = WAYS[0];
    let flags = ["-O2", "-Wl,-z,pack-relative-relocs"];
    let bytes = compile(folder.path(), "packed", FREE_THREADED, code, &flags);
    let read = binary::read(&bytes, "x", abi(FREE_THREADED)).unwrap();
    assert!(matches!(read.declares, Declares::Free(_)), "{:?}", read.declares);
}

#[test]
fn the_slots_of_3_15_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let code = "
static struct { unsigned short id, flags; unsigned reserved; void *value; } slots[] = {
    {85, 0, 0, run}, {87, 4, 0, (void *)1}, {0}};
void *PyModExport_x(void) { return slots; }
";
    let bytes = compile(folder.path(), "export", FREE_THREADED, code, &["-O2"]);
    let abi = Abi::of_file("x.abi3t.so").unwrap().1;
    let read = binary::read(&bytes, "x", abi).unwrap();
    assert!(matches!(read.declares, Declares::Free(_)), "{:?}", read.declares);
}

#[test]
fn a_library_without_an_initialiser_is_no_module() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = compile(folder.path(), "plain", 7, "int answer(void) { return 42; }", &[]);
    let read = binary::read(&bytes, "plain", Abi::Plain).unwrap();
    assert_eq!(read.declares, Declares::NoModule);
}

#[test]
fn what_is_computed_at_run_time_is_not_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let code = "
extern int decide(void);
static Def def = {.name = \"x\"};
void *PyInit_x(void) {
    void *module = PyModule_Create2(&def, 1013);
    PyUnstable_Module_SetGIL(module, (void *)(long)decide());
    return module;
}
";
    let bytes = compile(folder.path(), "decides", FREE_THREADED, code, &["-O2"]);
    let read = binary::read(&bytes, "x", abi(FREE_THREADED)).unwrap();
    assert!(matches!(read.declares, Declares::CannotTell(_)), "{:?}", read.declares);
}

#[test]
fn paths_that_tell_differently_are_not_settled_by_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let code = "
extern int built_with_threads(void);
static Slot slots[] = {{2, run}, {4, (void *)1}, {0, 0}};
static Def def = {.name = \"x\", .slots = slots};
void *PyInit_x(void) {
    if (!built_with_threads()) slots[1].value = (void *)0;
    return PyModuleDef_Init(&def);
}
";
    let bytes = compile(folder.path(), "either", FREE_THREADED, code, &["-O2"]);
    let read = binary::read(&bytes, "x", abi(FREE_THREADED)).unwrap();
    assert!(matches!(read.declares, Declares::CannotTell(_)), "{:?}", read.declares);
}

#[test]
fn an_endless_initialiser_comes_to_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let code = "
extern int more(void);
void *PyInit_x(void) { while (more()) { volatile int x = more() ? more() : 2; } for (;;); }
";
    // Without an import of either function it would not be walked at all.
    let code = format!("{code} void *other(void) {{ return PyModuleDef_Init(0); }}");
    let bytes = compile(folder.path(), "endless", FREE_THREADED, &code, &["-O1"]);
    let read = binary::read(&bytes, "x", abi(FREE_THREADED)).unwrap();
    assert!(matches!(read.declares, Declares::CannotTell(_)), "{:?}", read.declares);
}

#[test]
fn files_of_other_systems_are_named_and_others_refused() {
    let macho =
        [0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1, 3, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut padded = macho.to_vec();
    padded.resize(4096, 0);
    let read = binary::read(&padded, "x", Abi::Plain).unwrap();
    assert!(matches!(&read.declares, Declares::CannotTell(why) if why.contains("macOS")));
    for not in [&b""[..], b"\x7fELF", b"hello", &[0; 64], b"#!/bin/sh\n"] {
        let error = binary::read(not, "x", Abi::Plain).unwrap_err().to_string();
        assert!(error.contains("damaged"), "{error}");
    }
}

/// Damage of every kind: an answer or an error, and soon. `UNGIL_FUZZ_SECONDS=600` for a long run.
#[test]
fn a_damaged_file_is_an_error_and_never_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let seeds: Vec<Vec<u8>> = WAYS
        .iter()
        .map(|(name, code, _)| compile(folder.path(), name, FREE_THREADED, code, &["-O1"]))
        .collect();
    let seconds = std::env::var("UNGIL_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(5));
    let damage = (
        0..seeds.len(),
        prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..40),
        prop::option::of(any::<prop::sample::Index>()),
    );
    let mut tried = 0_u64;
    while Instant::now() < until {
        // A runner that has had its cases does no more: one for each round.
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
            cases: 64,
            // What fails is printed; nothing is written beside the sources.
            failure_persistence: None,
            ..ProptestConfig::default()
        });
        runner
            .run(&damage, |(seed, changes, cut)| {
                let mut bytes = seeds[seed].clone();
                for (place, value, early) in changes {
                    // Half of the damage to the headers, where it leads furthest.
                    let end = if early { 1024 } else { bytes.len() };
                    bytes[place.index(end)] = value;
                }
                if let Some(cut) = cut {
                    bytes.truncate(cut.index(bytes.len()));
                }
                let begin = Instant::now();
                let _ = binary::read(&bytes, "x", abi(FREE_THREADED));
                let took = begin.elapsed();
                prop_assert!(took < Duration::from_secs(20), "{took:?}");
                Ok(())
            })
            .unwrap();
        tried += 64;
    }
    println!("{tried} damaged files");
    assert!(tried >= 64);
}
