//! The story of a run. In a file of its own, since a process tells one story at a time.
#![cfg(loom)]

use interp_model::{Build, Interp, explore, trace};

#[test]
fn the_story_of_a_run_is_told_by_thread_and_number() {
    explore(|| {
        let interp = Interp::new(Build::Gil);
        interp.attach(|py| py.detach(|| trace::waits("an answer"))).unwrap();
    });
    let story = trace::story();
    let expected = [
        " 1. main attaches.",
        " 2. main detaches.",
        " 3. main waits for an answer.",
        " 4. main attaches again.",
        " 5. main detaches.",
        "    main, detached, waits for an answer.",
    ];
    assert_eq!(story.lines().collect::<Vec<_>>(), expected);
}
