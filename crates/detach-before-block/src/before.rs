//! Before: the waits as they compile.

use std::sync::mpsc::Receiver;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

// ANCHOR: before
/// Waits for the thread that initialises.
pub fn once(cell: &OnceLock<()>) {
    cell.get_or_init(|| ());
}

/// Waits for the thread that has the lock.
pub fn lock(mutex: &Mutex<()>) {
    drop(mutex.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Waits for the thread that sends.
pub fn receive(channel: &Receiver<()>) {
    channel.recv().expect("the owner sends");
}

/// Waits for the thread to end.
pub fn join(thread: JoinHandle<()>) {
    thread.join().expect("the owner does not panic");
}
// ANCHOR_END: before
