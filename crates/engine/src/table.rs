//! Tables: Arrow record batches, mounted in the engine without a copy.

use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{Schema, SchemaRef};

use crate::bridge::ffi;
use crate::{Error, Result, Type};

/// A table that the engine reads in place.
///
/// Thread-safety: immutable. The buffers are released when the last table, query and result that
/// uses them is dropped, on the thread that drops it.
pub struct Table {
    pub(crate) schema: SchemaRef,
    pub(crate) types: Vec<Type>,
    pub(crate) raw: cxx::UniquePtr<ffi::TableBuilder>,
    rows: usize,
}

impl Table {
    /// Mounts `batches`, which all have `schema`.
    ///
    /// # Errors
    /// A column of a type that the engine does not have is refused by name.
    pub fn new(schema: SchemaRef, batches: &[RecordBatch]) -> Result<Arc<Self>> {
        let mut types = Vec::with_capacity(schema.fields().len());
        for field in schema.fields() {
            let (found, _) = Type::of(field.data_type()).ok_or_else(|| {
                Error::Data(format!(
                    "column {:?} is of type {}, which the engine does not have; it has {}",
                    field.name(),
                    field.data_type(),
                    Type::ALL.map(|t| t.to_string()).join(", ")
                ))
            })?;
            types.push(found);
        }
        let mut raw = ffi::new_table();
        let mut rows = 0;
        for batch in batches {
            if !same_types(&batch.schema(), &schema) {
                return Err(Error::Data("the batches of a table differ in their columns".into()));
            }
            for (array, id) in batch.columns().iter().zip(&types) {
                let wide = Type::of(array.data_type()).is_some_and(|(_, wide)| wide);
                // The cheap part of Arrow's validation: buffer sizes and the first and last offset.
                let data = array.to_data();
                data.validate().map_err(|error| Error::Data(error.to_string()))?;
                let mut exported = FFI_ArrowArray::new(&data);
                // SAFETY: `exported` is an array of the type that `types` says, which
                // Type::of derived from its data type; C++ takes it over and marks it released.
                unsafe {
                    ffi::push_column(
                        raw.pin_mut(),
                        (&raw mut exported).cast::<ffi::ArrowArray>(),
                        *id as u8,
                        wide,
                    )
                }
                .map_err(|error| Error::Data(error.what().into()))?;
            }
            ffi::end_chunk(raw.pin_mut()).map_err(|error| Error::Data(error.what().into()))?;
            rows += batch.num_rows();
        }
        Ok(Arc::new(Self { schema, types, raw, rows }))
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
}

fn same_types(one: &Schema, other: &Schema) -> bool {
    let types = |schema: &Schema| -> Vec<_> {
        schema.fields().iter().map(|field| field.data_type().clone()).collect()
    };
    types(one) == types(other)
}
