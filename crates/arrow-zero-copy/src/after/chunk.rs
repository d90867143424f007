//! One chunk: three layouts of strings, read in place.

use std::ops::Range;

use arrow_array::ffi::FFI_ArrowArray;

/// Where the text of a row is.
#[derive(Clone, Copy)]
pub(super) enum Layout {
    /// 32-bit offsets and the text.
    Small { offsets: *const i32, text: *const u8 },
    /// 64-bit offsets and the text.
    Large { offsets: *const i64, text: *const u8 },
    /// Views of 16 bytes: short texts lie in the view, longer ones in one of the buffers.
    View { views: *const u128, buffers: usize },
}

/// A chunk of a column, with whatever keeps its buffers alive. Thread-safety: immutable.
pub struct Chunk {
    // Dropping it releases the buffers.
    pub(super) array: FFI_ArrowArray,
    pub(super) layout: Layout,
    // Null: every row is valid.
    pub(super) validity: *const u8,
}

// SAFETY: the pointers lead into buffers that `array` keeps alive; nothing here writes to them, and by
// Arrow's specification nobody else does. The release may be called by any thread.
unsafe impl Send for Chunk {}
// SAFETY: as above: shared access only reads.
unsafe impl Sync for Chunk {}

impl Chunk {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.array.len()
    }

    pub(super) fn segment(&self, rows: Range<usize>) -> Segment<'_> {
        debug_assert!(rows.end <= self.rows());
        let first = self.array.offset() + rows.start;
        let mut segment = Segment { chunk: self, first, rows: rows.len(), nulls: false };
        segment.nulls = !self.validity.is_null() && (0..rows.len()).any(|row| !segment.valid(row));
        segment
    }

    /// Where row `at`, counted from the start of the buffers, has its text, in the text buffer.
    fn ends(&self, at: usize) -> (usize, usize) {
        // SAFETY: `at` is a row of the chunk, so the offsets have an element behind it; they were
        // checked to go forward from 0 or more when the chunk was made.
        unsafe {
            match self.layout {
                Layout::Small { offsets, .. } => {
                    (*offsets.add(at) as usize, *offsets.add(at + 1) as usize)
                }
                Layout::Large { offsets, .. } => {
                    (*offsets.add(at) as usize, *offsets.add(at + 1) as usize)
                }
                Layout::View { .. } => unreachable!("views have no offsets"),
            }
        }
    }
}

/// Some rows of a chunk. Thread-safety: immutable.
#[derive(Clone, Copy)]
pub struct Segment<'a> {
    chunk: &'a Chunk,
    // Counted from the start of the buffers: the array's own offset is in it.
    first: usize,
    rows: usize,
    nulls: bool,
}

// ANCHOR: segment
impl<'a> Segment<'a> {
    /// The number of rows, at least 1.
    pub fn rows(&self) -> usize {
        self.rows
    }

    fn valid(&self, row: usize) -> bool {
        let at = self.first + row;
        // SAFETY: the validity buffer has a bit for each row, least significant first.
        unsafe { *self.chunk.validity.add(at >> 3) >> (at & 7) & 1 == 1 }
    }

    /// The bytes of a row, which the producer promises to be UTF-8; `None` for null, whatever lies in
    /// its slot.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn get(&self, row: usize) -> Option<&'a [u8]> {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        if self.nulls && !self.valid(row) {
            return None;
        }
        match self.chunk.layout {
            Layout::View { views, buffers } => Some(self.view(views, buffers, row)),
            Layout::Small { text, .. } | Layout::Large { text, .. } => {
                let (from, to) = self.chunk.ends(self.first + row);
                Some(slice(text, from, to))
            }
        }
    }

    /// The text of all rows in one piece: there is one if no row is null and the layout has offsets.
    pub fn text(&self) -> Option<&'a [u8]> {
        match self.chunk.layout {
            Layout::Small { text, .. } | Layout::Large { text, .. } if !self.nulls => {
                let from = self.chunk.ends(self.first).0;
                let to = self.chunk.ends(self.first + self.rows - 1).1;
                Some(slice(text, from, to))
            }
            _ => None,
        }
    }

    /// Where a row ends in [`text`](Self::text).
    pub fn end(&self, row: usize) -> usize {
        self.chunk.ends(self.first + row).1 - self.chunk.ends(self.first).0
    }

    fn view(&self, views: *const u128, buffers: usize, row: usize) -> &'a [u8] {
        // SAFETY: a view for each row; that it leads inside of its buffer was checked.
        unsafe {
            let view = views.add(self.first + row);
            let length = view.cast::<u32>().read() as usize;
            if length <= 12 {
                return std::slice::from_raw_parts(view.cast::<u8>().add(4), length);
            }
            let buffer = view.cast::<u32>().add(2).read() as usize;
            let offset = view.cast::<u32>().add(3).read() as usize;
            debug_assert!(buffer < buffers);
            slice(self.chunk.array.buffer(2 + buffer), offset, offset + length)
        }
    }
}
// ANCHOR_END: segment

/// An empty text may come without a buffer: no arithmetic on a null pointer.
fn slice<'a>(text: *const u8, from: usize, to: usize) -> &'a [u8] {
    if from == to {
        return &[];
    }
    // SAFETY: `from <= to`, and the producer's last offset is the length of the text.
    unsafe { std::slice::from_raw_parts(text.add(from), to - from) }
}
