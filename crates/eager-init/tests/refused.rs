//! What a scan thread may not do, refused by the compiler. The messages lie beside the cases; update
//! them with TRYBUILD=overwrite.

#[test]
fn the_compiler_refuses_what_a_bare_thread_may_not_do() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
