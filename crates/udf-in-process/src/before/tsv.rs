//! TabSeparated: one row a line, tabs between fields, backslash escapes, `\N` for NULL.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

/// Appends `bytes` with everything escaped that could be mistaken for structure.
pub fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        let letter = match byte {
            b'\t' => b't',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\\' => b'\\',
            0 => b'0',
            0x08 => b'b',
            0x0c => b'f',
            _ => {
                out.push(byte);
                continue;
            }
        };
        out.extend([b'\\', letter]);
    }
}

/// Undoes [`escape`]. An unknown escape stands for its letter, as in the format's description.
pub fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut bytes = field.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b't') => out.push(b'\t'),
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b'0') => out.push(0),
            Some(b'b') => out.push(0x08),
            Some(b'f') => out.push(0x0c),
            Some(&other) => out.push(other),
            None => out.push(b'\\'),
        }
    }
    out
}

/// Appends one field; NULL is `\N`.
pub fn write_field(column: &ArrayRef, row: usize, out: &mut Vec<u8>) {
    use std::io::Write;
    if column.is_null(row) {
        out.extend(b"\\N");
        return;
    }
    // Writing to a Vec cannot fail.
    let _ = match column.data_type() {
        DataType::Int64 => write!(out, "{}", column.as_primitive::<Int64Type>().value(row)),
        // The shortest text that reads back as the same float, here and in Python.
        DataType::Float64 => write!(out, "{:?}", column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => write!(out, "{}", column.as_boolean().value(row)),
        _ => {
            escape(column.as_string::<i32>().value(row).as_bytes(), out);
            Ok(())
        }
    };
}

/// Reads one result a line.
///
/// # Errors
/// A text that names the line (from 0), what it holds and the expected type.
pub fn read_column(lines: &[&[u8]], kind: &DataType) -> Result<ArrayRef, String> {
    let wrong = |row: usize, line: &[u8]| {
        format!("row {row} of the block: {:?} is not {kind}", String::from_utf8_lossy(line))
    };
    macro_rules! parse {
        ($builder:ident, $read:expr) => {{
            let mut builder = $builder::with_capacity(lines.len());
            for (row, line) in lines.iter().enumerate() {
                if *line == b"\\N" {
                    builder.append_null();
                } else {
                    let text = std::str::from_utf8(line).ok();
                    builder.append_value(text.and_then($read).ok_or_else(|| wrong(row, line))?);
                }
            }
            Ok(Arc::new(builder.finish()))
        }};
    }
    match kind {
        DataType::Int64 => parse!(Int64Builder, |text| text.parse().ok()),
        DataType::Float64 => parse!(Float64Builder, |text| text.parse().ok()),
        DataType::Boolean => parse!(BooleanBuilder, |text| match text {
            "true" | "True" | "1" => Some(true),
            "false" | "False" | "0" => Some(false),
            _ => None,
        }),
        _ => {
            let mut builder = StringBuilder::with_capacity(lines.len(), lines.len() * 8);
            for (row, line) in lines.iter().enumerate() {
                if *line == b"\\N" {
                    builder.append_null();
                } else {
                    let text = String::from_utf8(unescape(line)).map_err(|_| wrong(row, line))?;
                    builder.append_value(text);
                }
            }
            Ok(Arc::new(builder.finish()))
        }
    }
}
