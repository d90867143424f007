//! After: a snapshot of owned references, scanned by any number of threads.
//!
//! Copy this folder. It needs pyo3 alone.

mod refused;
mod values;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyDict, PyList};

pub use refused::Refused;
pub use values::{Nulls, Value};

/// Rows that a thread takes at a time.
pub const BLOCK: usize = 65_536;

/// The objects of a column, each with a reference of its own: whatever becomes of the container they
/// came from, they live as long as this.
///
/// Thread-safety: immutable. Dropped while detached, its references go through PyO3's queue.
pub struct Snapshot {
    objects: Vec<Py<PyAny>>,
    nulls: Nulls,
}

/// Values, and for each row whether it is there. Thread-safety: immutable.
#[derive(Debug, PartialEq)]
pub struct Column<T> {
    /// A default where it is not.
    pub values: Vec<T>,
    /// True where the row had a value.
    pub valid: Vec<bool>,
}

impl Snapshot {
    // ANCHOR: snapshot
    /// Takes what is in the container now: a list, or what has `tolist` (NumPy, pandas), or any
    /// iterable.
    ///
    /// # Errors
    /// What iterating raises.
    pub fn of(container: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = container.py();
        let nulls = Nulls::known(py)?;
        let list = match container.cast::<PyList>() {
            Ok(list) => list.clone(),
            // NumPy takes the references itself; an array that others write to meanwhile is theirs
            // to guard, as it has no lock.
            Err(_) => match container.getattr_opt("tolist")? {
                Some(tolist) => tolist.call0()?.cast_into()?,
                None => container
                    .try_iter()?
                    .collect::<PyResult<Vec<_>>>()?
                    .into_pyobject(py)?
                    .cast_into()?,
            },
        };
        // While the section is held every other writer of the list waits: its length and its items
        // stay, and each gets a reference before anybody can give up the list's own.
        let objects =
            with_critical_section(&list, || list.iter().map(Bound::unbind).collect::<Vec<_>>());
        Ok(Self { objects, nulls })
    }

    /// The values of a dictionary, in its order.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn of_values(dict: &Bound<'_, PyDict>) -> PyResult<Self> {
        // PyDict_Values holds the section itself, and gives a list of owned references.
        Self::of(dict.values().as_any())
    }
    // ANCHOR_END: snapshot

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.objects.len()
    }

    // ANCHOR: scan
    /// Reads every row as a `T`, on `threads` threads that attach once each. The result does not
    /// depend on their number.
    ///
    /// # Errors
    /// At the first row that is no `T`: `TypeError` or `OverflowError` with row, value and type, or
    /// what the row's own code raised.
    pub fn scan<T: Value>(&self, py: Python<'_>, threads: usize) -> PyResult<Column<T>> {
        let rows = self.rows();
        // Made at once and shared out: joining the blocks afterwards would be work for one thread.
        let mut column = Column { values: vec![T::default(); rows], valid: vec![false; rows] };
        let parts = self.objects.chunks(BLOCK).zip(column.values.chunks_mut(BLOCK));
        let parts = parts.zip(column.valid.chunks_mut(BLOCK));
        // Each block is taken once; the lock is how Rust is told so.
        let blocks: Vec<Mutex<Option<_>>> = parts.map(|part| Mutex::new(Some(part))).collect();
        let failures = Mutex::new(Vec::new());
        let (next, count) = (AtomicUsize::new(0), blocks.len());
        let work = || {
            Python::try_attach(|py| {
                loop {
                    // Relaxed: it hands out numbers; the results are published by the join.
                    let block = next.fetch_add(1, Ordering::Relaxed);
                    let Some(part) = blocks.get(block).and_then(take) else { return };
                    let ((objects, values), valid) = part;
                    if let Err(error) = self.block(py, objects, values, valid, block * BLOCK) {
                        // Earlier blocks were all taken; later ones are not wanted.
                        next.store(count, Ordering::Relaxed);
                        locked(&failures).push((block, error));
                    }
                }
            })
        };
        // Detached: the threads attach, and one of them may stop the world.
        let attached = py.detach(|| {
            std::thread::scope(|scope| {
                let threads = (0..threads.clamp(1, count.max(1))).map(|_| scope.spawn(work));
                let threads: Vec<_> = threads.collect();
                threads.into_iter().all(|thread| matches!(thread.join(), Ok(Some(()))))
            })
        });
        if !attached {
            return Err(PyRuntimeError::new_err(
                "a thread panicked, or the interpreter is shutting down",
            ));
        }
        let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
        match failures.into_iter().min_by_key(|(block, _)| *block) {
            Some((_, error)) => Err(error),
            None => {
                drop(blocks);
                Ok(column)
            }
        }
    }

    fn block<T: Value>(
        &self,
        py: Python<'_>,
        objects: &[Py<PyAny>],
        values: &mut [T],
        valid: &mut [bool],
        first: usize,
    ) -> PyResult<()> {
        for (row, object) in objects.iter().enumerate() {
            // Bound to the snapshot's reference: no count is touched.
            let object = object.bind(py);
            // The commonest first: an exact instance needs no look at the nulls.
            let read = match T::exact(object) {
                Some(read) => read.map(Some),
                None if self.nulls.contains(object) => Ok(None),
                None => T::other(object).map(Some),
            };
            match read {
                Ok(Some(value)) => (values[row], valid[row]) = (value, true),
                Ok(None) => {}
                Err(refused) => return Err(refused.into_err::<T>(object, first + row)),
            }
        }
        Ok(())
    }
    // ANCHOR_END: scan
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn take<T>(slot: &Mutex<Option<T>>) -> Option<T> {
    locked(slot).take()
}
