//! After: string columns scanned in place.
//!
//! Copy this folder. It needs pyo3, arrow-array and arrow-data (for the structures of the Arrow C
//! interface), and std.

mod chunk;
mod import;

use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

pub use chunk::{Chunk, Segment};

/// Rows that a thread takes at a time.
pub const BLOCK: usize = 65_536;

/// A column of strings that is somebody else's memory: `string`, `large_string` or `string_view`, in any
/// number of chunks.
///
/// What it promises: it reads and never writes; no offset leads outside of its buffer, as of the moment
/// when the column was taken over; the buffers are released once, attached, when this is dropped.
///
/// What it demands: that nobody writes to the buffers while this exists. Arrow data is immutable by its
/// specification, and the C interface has no lock to ask for. A writer to the *text* would make the
/// answer some mixture; a writer to the *offsets* would make this read outside of the text.
///
/// Thread-safety: immutable.
pub struct Strings {
    chunks: ManuallyDrop<Vec<Chunk>>,
    rows: usize,
}

impl Strings {
    /// Takes over anything with `__arrow_c_stream__` or `__arrow_c_array__`: a pandas `str` Series,
    /// ArrowDtype, pyarrow arrays, polars Series.
    ///
    /// # Errors
    /// `TypeError` for what exports no Arrow strings, `ValueError` for offsets that go backward or
    /// views that lead outside; both before any row is read.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let chunks = import::chunks(object)?;
        let rows = chunks.iter().map(Chunk::rows).sum();
        Ok(Self { chunks: ManuallyDrop::new(chunks), rows })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The rows of `range`, cut at the borders of chunks.
    pub fn segments(&self, range: Range<usize>) -> impl Iterator<Item = Segment<'_>> {
        let mut first = 0;
        self.chunks.iter().filter_map(move |chunk| {
            let (from, to) = (range.start.max(first), range.end.min(first + chunk.rows()));
            let start = first;
            first += chunk.rows();
            (from < to).then(|| chunk.segment(from - start..to - start))
        })
    }

    // ANCHOR: scan
    /// Calls `each` for every segment, on `threads` threads that never attach, while the caller is
    /// detached. The results come in the order of the rows, so they do not depend on the threads; they
    /// may borrow from the column.
    ///
    /// # Panics
    /// If `each` does.
    pub fn scan<'a, T: Send>(
        &'a self,
        py: Python<'_>,
        threads: usize,
        each: impl Fn(Segment<'a>) -> T + Sync,
    ) -> Vec<T> {
        let blocks = self.rows.div_ceil(BLOCK);
        let next = AtomicUsize::new(0);
        let done: Vec<Mutex<Vec<T>>> = (0..blocks).map(|_| Mutex::default()).collect();
        let work = || {
            loop {
                // Relaxed: it hands out numbers; the joins below publish the results.
                let block = next.fetch_add(1, Ordering::Relaxed);
                if block >= blocks {
                    break;
                }
                let rows = block * BLOCK..self.rows.min((block + 1) * BLOCK);
                let results = self.segments(rows).map(&each).collect();
                *done[block].lock().unwrap_or_else(PoisonError::into_inner) = results;
            }
        };
        py.detach(|| {
            std::thread::scope(|scope| {
                for _ in 0..threads.clamp(1, blocks.max(1)) {
                    scope.spawn(work);
                }
            })
        });
        let results = done.into_iter();
        results.flat_map(|one| one.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
    }
    // ANCHOR_END: scan
}

// ANCHOR: release
impl Drop for Strings {
    fn drop(&mut self) {
        // SAFETY: taken out once, here.
        let chunks = unsafe { ManuallyDrop::take(&mut self.chunks) };
        let mut chunks = ManuallyDrop::new(chunks);
        // The producer's release may drop Python objects: a bytearray, an array of NumPy's. Once the
        // interpreter has begun to end, the buffers are left to it.
        Python::try_attach(|_| {
            // SAFETY: as above.
            unsafe { ManuallyDrop::drop(&mut chunks) }
        });
    }
}
// ANCHOR_END: release

// Two examples of what a scan is for.

/// The number of code points of a segment.
pub fn code_points(segment: Segment<'_>) -> usize {
    match segment.text() {
        // Without nulls the text of all rows lies in one piece.
        Some(text) => code_points_of(text),
        None => (0..segment.rows()).filter_map(|row| segment.get(row)).map(code_points_of).sum(),
    }
}

/// The number of bytes that do not continue a character.
pub fn code_points_of(text: &[u8]) -> usize {
    let begins = |byte: &u8| u8::from((*byte as i8) >= -0x40);
    // Counted in bytes side by side, so that the compiler uses vectors; a byte holds 255.
    let (lines, rest) = text.as_chunks::<64>();
    let mut total: usize = rest.iter().map(|byte| usize::from(begins(byte))).sum();
    for lines in lines.chunks(255) {
        let mut counts = [0_u8; 64];
        for line in lines {
            for (count, byte) in counts.iter_mut().zip(line) {
                *count += begins(byte);
            }
        }
        total += counts.iter().map(|count| usize::from(*count)).sum::<usize>();
    }
    total
}

// ANCHOR: contains
/// The rows that contain `needle`; a null contains nothing, whatever bytes its slot has.
pub fn containing(segment: Segment<'_>, finder: &impl Fn(&[u8]) -> Option<usize>) -> Vec<u32> {
    let mut rows = Vec::new();
    // What is found in nothing is found in every row.
    let (everywhere, text) = (finder(&[]).is_some(), segment.text());
    let (Some(text), false) = (text, everywhere) else {
        let hit = |row: &usize| segment.get(*row).is_some_and(|text| finder(text).is_some());
        rows.extend((0..segment.rows()).filter(hit).map(|row| row as u32));
        return rows;
    };
    // One search over the text of all rows; a hit counts if it ends in the row where it begins.
    let (mut row, mut at) = (0, 0);
    while let Some(found) = finder(&text[at..]) {
        let place = at + found;
        while segment.end(row) <= place {
            row += 1;
        }
        let from = if row == 0 { 0 } else { segment.end(row - 1) };
        // The first hit in the text may straddle the border; one inside the row may follow it.
        if finder(&text[place.max(from)..segment.end(row)]).is_some() {
            rows.push(row as u32);
        }
        at = segment.end(row);
    }
    rows
}
// ANCHOR_END: contains
