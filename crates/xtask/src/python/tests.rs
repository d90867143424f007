//! Every way of the resolution order, with fakes: scripts that answer as an interpreter would.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::verify::{Facts, check};
use super::{Build, Machine, pip, resolve};

const FT: Build = Build { minor: 14, free_threaded: true };
const STOCK: Build = Build { minor: 14, free_threaded: false };

fn facts(minor: u8, free_threaded_build: bool, gil_enabled: bool) -> Facts {
    Facts {
        version: format!("3.{minor}.1"),
        implementation: "CPython".into(),
        minor,
        free_threaded_build,
        gil_enabled,
        include: "include".into(),
        has_header: true,
        failed_imports: vec![],
    }
}

/// A program that prints `facts` whatever it is asked.
fn fake(dir: &Path, name: &str, facts: &Facts) -> PathBuf {
    let failed = serde_json::to_string(&facts.failed_imports).unwrap();
    let json = format!(
        r#"{{"version":"{}","implementation":"{}","minor":{},"free_threaded_build":{},"gil_enabled":{},"include":"{}","has_header":{},"failed_imports":{failed}}}"#,
        facts.version,
        facts.implementation,
        facts.minor,
        facts.free_threaded_build,
        facts.gil_enabled,
        facts.include,
        facts.has_header
    );
    script(dir, name, &format!("printf '%s' '{json}'"))
}

fn script(dir: &Path, name: &str, body: &str) -> PathBuf {
    std::fs::create_dir_all(dir).unwrap();
    let path = dir.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    pip::executable(&path).unwrap();
    path
}

fn machine() -> Machine {
    Machine {
        variable: Box::new(|_| None),
        path: vec![],
        uv: None,
        fetch_uv: || bail!("no uv here"),
        assembled: Box::new(|_| PathBuf::from("absent")),
        assemble: |_| bail!("nothing to assemble from"),
    }
}

fn failure<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("expected an error"),
        Err(error) => format!("{error:#}"),
    }
}

#[test]
fn the_variable_comes_first() {
    let dir = tempfile::tempdir().unwrap();
    let named = fake(dir.path(), "anything", &facts(14, true, false));
    fake(dir.path(), "python3.14t", &facts(14, true, false));
    let value = named.display().to_string();
    let machine = Machine {
        variable: Box::new(move |name| (name == "UNGIL_PYTHON_3_14T").then(|| value.clone())),
        path: vec![dir.path().into()],
        ..machine()
    };
    let found = resolve(FT, &machine).unwrap();
    assert_eq!(found.exe, named);
    assert_eq!(found.how, "named by UNGIL_PYTHON_3_14T");
}

#[test]
fn a_variable_that_names_a_wrong_build_is_an_error_and_not_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    fake(dir.path(), "python3.14t", &facts(14, true, false));
    for (given, expected) in [
        (facts(13, true, false), "it is version 3.13.1; set UNGIL_PYTHON_3_14T to a CPython 3.14"),
        (facts(14, false, true), "it is a GIL-enabled build of 3.14.1; 3.14t needs"),
        (facts(14, true, true), "its GIL is on at start-up: PYTHON_GIL=1 is set"),
    ] {
        let value = fake(dir.path(), "named", &given).display().to_string();
        let machine = Machine {
            variable: Box::new(move |_| Some(value.clone())),
            path: vec![dir.path().into()],
            ..machine()
        };
        let error = failure(resolve(FT, &machine));
        assert!(error.contains("UNGIL_PYTHON_3_14T is set"), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    let absent = Machine { variable: Box::new(|_| Some("absent".into())), ..machine() };
    assert!(failure(resolve(FT, &absent)).contains("names absent, which is not a file"));
}

#[test]
fn path_comes_next_and_a_wrong_one_on_it_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let right = fake(dir.path(), "python3.14t", &facts(14, true, false));
    let machine = Machine { path: vec![dir.path().into()], ..machine() };
    let found = resolve(FT, &machine).unwrap();
    assert_eq!((found.exe, found.how.as_str()), (right, "found on PATH"));

    fake(dir.path(), "python3.14t", &facts(14, false, true));
    let error = failure(resolve(FT, &machine));
    assert!(error.contains("no way led to a CPython 3.14t. Set UNGIL_PYTHON_3_14T"), "{error}");
}

#[test]
fn what_uv_has_comes_before_what_it_would_download() {
    let dir = tempfile::tempdir().unwrap();
    let python = fake(dir.path(), "from-uv", &facts(14, true, false));
    let log = dir.path().join("log");
    let has = script(
        dir.path(),
        "uv-has",
        &format!("echo \"$*\" >> {}; echo {}", log.display(), python.display()),
    );
    let found = resolve(FT, &Machine { uv: Some(has), ..machine() }).unwrap();
    assert_eq!((found.exe, found.how.as_str()), (python.clone(), "one that uv has"));
    assert!(!std::fs::read_to_string(&log).unwrap().contains("install"));

    // This one answers `find` only after `install` was called.
    let mark = dir.path().join("installed");
    let downloads = script(
        dir.path(),
        "uv-downloads",
        &format!(
            "case \"$2\" in install) touch {m};; *) [ -e {m} ] || exit 2; echo {p};; esac",
            m = mark.display(),
            p = python.display()
        ),
    );
    let found = resolve(FT, &Machine { uv: Some(downloads), ..machine() }).unwrap();
    assert_eq!((found.exe, found.how.as_str()), (python, "downloaded by uv"));
}

#[test]
fn an_earlier_assembly_serves_again_and_is_checked_again() {
    let dir = tempfile::tempdir().unwrap();
    let python = fake(dir.path(), "assembled", &facts(14, true, false));
    let place = python.clone();
    let machine = Machine { assembled: Box::new(move |_| place.clone()), ..machine() };
    let found = resolve(FT, &machine).unwrap();
    assert_eq!(found.exe, python);
    assert_eq!(found.how, "assembled earlier from published parts");
    fake(dir.path(), "assembled", &facts(14, true, true));
    assert!(failure(resolve(FT, &machine)).contains("and try again"));
}

#[test]
fn the_assembly_comes_last_and_its_result_is_checked_too() {
    let dir = tempfile::tempdir().unwrap();
    let refuses = script(dir.path(), "uv", "echo 'no network' >&2; exit 2");
    let error = failure(resolve(STOCK, &Machine { uv: Some(refuses.clone()), ..machine() }));
    assert!(error.contains("nothing to assemble from"), "{error}");

    let not_python =
        Machine { uv: Some(refuses), assemble: |_| Ok(PathBuf::from("true")), ..machine() };
    let error = failure(resolve(STOCK, &not_python));
    assert!(error.contains("answered something else than a Python interpreter"), "{error}");
}

#[test]
fn each_check_says_what_to_do() {
    for (given, build, expected) in [
        (facts(14, true, false), STOCK, "needs a GIL-enabled build (its name has no t)"),
        (facts(15, true, false), FT, "set UNGIL_PYTHON_3_14T to a CPython 3.14 or unset it"),
        (Facts { implementation: "PyPy".into(), ..facts(14, false, true) }, STOCK, "it is PyPy"),
        (Facts { has_header: false, ..facts(14, true, false) }, FT, "install its development"),
        (
            Facts { failed_imports: vec!["_ctypes: no libffi".into()], ..facts(14, true, false) },
            FT,
            "cannot import a C extension module of its standard library: _ctypes: no libffi",
        ),
    ] {
        let error = failure(check(&given, build));
        assert!(error.contains(expected), "{error}");
    }
    check(&facts(14, true, false), FT).unwrap();
    check(&facts(14, false, true), STOCK).unwrap();
}

#[test]
fn names_of_builds() {
    assert_eq!(Build::parse("3.14t").unwrap(), FT);
    assert_eq!(Build::parse("3.15").unwrap().name(), "3.15");
    assert_eq!(FT.variable(), "UNGIL_PYTHON_3_14T");
    assert!(failure(Build::parse("3.13t")).contains("known are 3.14, 3.14t, 3.15 and 3.15t"));
}
