//! Before: addresses.

// ANCHOR: before
/// A column of `large_string`, as the addresses of its buffers: what `buffer.address` gives.
///
/// Thread-safety: none, and no owner: whoever lets go of the column meanwhile frees what is read here.
pub struct Addresses {
    pub validity: usize,
    pub offsets: usize,
    pub bytes: usize,
    pub rows: usize,
}

impl Addresses {
    fn offset(&self, row: usize) -> usize {
        // SAFETY: there is none: the buffer may be gone, and of a chunk without rows it may be null.
        unsafe { *(self.offsets as *const i64).add(row) as usize }
    }

    fn text(&self, from: usize, to: usize) -> &[u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts((self.bytes as *const u8).add(from), to - from) }
    }

    /// Bytes of all rows. A slice of a column has an offset, which nobody asked for.
    pub fn length(&self) -> usize {
        self.offset(self.rows) - self.offset(0)
    }

    /// Rows that contain `needle`: one search over the text of all, and then which row it was.
    pub fn count(&self, needle: &[u8]) -> usize {
        let (first, last) = (self.offset(0), self.offset(self.rows));
        let text = self.text(first, last);
        let (mut count, mut row, mut at) = (0, 0, 0);
        while let Some(found) = text[at..].windows(needle.len()).position(|w| w == needle) {
            let place = first + at + found;
            // It may end in the next row. And whether this row is null, nobody asked either.
            while self.offset(row + 1) <= place {
                row += 1;
            }
            count += 1;
            at = self.offset(row + 1) - first;
        }
        count
    }
}
// ANCHOR_END: before
