//! A column of numbers that grows by a row at a time.

use arrow_array::PrimitiveArray;
use arrow_array::types::ArrowPrimitiveType;
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};

/// Values, and validity only from the first null on: most columns of results have none.
pub struct Numbers<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    validity: Option<BooleanBufferBuilder>,
}

impl<T: ArrowPrimitiveType> Numbers<T> {
    pub fn new(rows: usize) -> Self {
        Self { values: Vec::with_capacity(rows), validity: None }
    }

    #[inline(always)]
    pub fn append_value(&mut self, value: T::Native) {
        self.values.push(value);
        if let Some(validity) = &mut self.validity {
            validity.append(true);
        }
    }

    pub fn append_null(&mut self) {
        let before = self.values.len();
        self.values.push(T::default_value());
        self.validity
            .get_or_insert_with(|| {
                let mut validity = BooleanBufferBuilder::new(self.values.capacity());
                validity.append_n(before, true);
                validity
            })
            .append(false);
    }

    pub fn finish(self) -> PrimitiveArray<T> {
        let validity = self.validity.map(|mut bits| NullBuffer::new(bits.finish()));
        PrimitiveArray::new(self.values.into(), validity)
    }
}
