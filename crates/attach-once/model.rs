//! A pool whose worker attaches once, in the modelled interpreter: one worker, one caller.

use interp_model::sync::Arc;
use interp_model::sync::mpsc::channel;
use interp_model::{Build, Interp, Python, explore, spawn, trace};

pub const MODELS: &[(&str, fn(Build))] = &[
    ("waits_attached", |build| pool(build, Plan { idle_detached: false, ..Plan::AFTER })),
    ("closes_attached", |build| {
        pool(build, Plan { joined_detached: false, job_over: false, ..Plan::AFTER })
    }),
    ("idle_detached", |build| pool(build, Plan { ends: false, ..Plan::AFTER })),
    ("closes_and_ends", |build| pool(build, Plan::AFTER)),
    ("mutant_ends_first", |build| pool(build, Plan { closed_first: false, ..Plan::AFTER })),
    ("mutant_told_before_let_go", |build| pool(build, Plan { let_go_first: false, ..Plan::AFTER })),
];

/// What the pool does where it has a choice.
#[derive(Clone, Copy)]
struct Plan {
    /// The worker detaches before it waits for a job.
    idle_detached: bool,
    /// The worker drops its share of the work before it says that it is done.
    let_go_first: bool,
    /// The job is waited for before the pool is closed.
    job_over: bool,
    /// Whoever closes detaches before it joins.
    joined_detached: bool,
    /// The interpreter ends at last, and only after the pool was closed.
    ends: bool,
    closed_first: bool,
}

impl Plan {
    const AFTER: Self = Self {
        idle_detached: true,
        let_go_first: true,
        job_over: true,
        joined_detached: true,
        ends: true,
        closed_first: true,
    };
}

fn pool(build: Build, plan: Plan) {
    explore(move || {
        let interp = Interp::new(build);
        let (jobs, queue) = channel::<Option<Arc<()>>>();
        let (done, over) = channel();
        let other = interp.clone();
        let worker = spawn("worker", move || {
            let wait = || {
                trace::waits("a job");
                let job = queue.recv();
                trace::goes_on();
                job
            };
            // One job: its Python hands the GIL over, and collects.
            let mut job = |work: Arc<()>, run: &mut dyn FnMut()| {
                run();
                if plan.let_go_first {
                    drop(work);
                    done.send(()).unwrap();
                } else {
                    done.send(()).unwrap();
                    trace::step("lets go of the work");
                    drop(work);
                }
            };
            let python = |py: &Python<'_>| {
                py.run_python();
                py.stop_the_world(|| ());
            };
            // Once for its life.
            let _ = other.attach(|py| {
                if plan.idle_detached {
                    py.detach(|| {
                        while let Ok(Some(work)) = wait() {
                            // The thread state is found again.
                            job(work, &mut || other.attach(|py| python(py)).unwrap());
                        }
                    });
                } else {
                    while let Ok(Some(work)) = wait() {
                        job(work, &mut || python(py));
                    }
                }
            });
        });
        interp
            .attach(|py| {
                let work = Arc::new(());
                jobs.send(Some(work.clone())).unwrap();
                if plan.job_over {
                    py.detach(|| {
                        trace::waits("the pool");
                        over.recv().unwrap();
                        trace::goes_on();
                    });
                    let count = Arc::strong_count(&work);
                    assert_eq!(count, 1, "a detached thread has the last reference");
                    // The worker is idle, or about to be.
                    py.stop_the_world(|| ());
                }
                if plan.closed_first {
                    jobs.send(None).unwrap();
                    let join = || {
                        trace::waits("the worker to end");
                        worker.join().unwrap();
                        trace::goes_on();
                    };
                    if plan.joined_detached {
                        py.detach(join)
                    } else {
                        join()
                    }
                    if plan.ends {
                        py.finalize();
                    }
                } else {
                    py.finalize();
                    jobs.send(None).unwrap();
                    trace::waits("the worker to end");
                    worker.join().unwrap();
                    trace::goes_on();
                }
            })
            .unwrap();
    });
}
