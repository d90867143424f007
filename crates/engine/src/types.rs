//! The engine's types and their Arrow counterparts.

use std::fmt;

use arrow_schema::{DataType, TimeUnit};

/// A column type. The numbers are those of `engine::Type` in `column.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Type {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float32,
    Float64,
    /// UTF-8 text.
    String,
    /// Bytes without a meaning.
    Bytes,
    /// Days since 1970-01-01.
    Date,
    /// Microseconds since 1970-01-01, without a time zone.
    Timestamp,
}

impl Type {
    /// Every type, in the order of its number.
    pub const ALL: [Type; 15] = [
        Type::Bool,
        Type::Int8,
        Type::Int16,
        Type::Int32,
        Type::Int64,
        Type::UInt8,
        Type::UInt16,
        Type::UInt32,
        Type::UInt64,
        Type::Float32,
        Type::Float64,
        Type::String,
        Type::Bytes,
        Type::Date,
        Type::Timestamp,
    ];

    /// The type of an Arrow column, with `true` for 64-bit offsets; `None` if the engine has none.
    pub fn of(arrow: &DataType) -> Option<(Self, bool)> {
        Some(match arrow {
            DataType::LargeUtf8 => (Type::String, true),
            DataType::LargeBinary => (Type::Bytes, true),
            other => (Type::ALL.into_iter().find(|t| t.arrow() == *other)?, false),
        })
    }

    /// The Arrow type that the engine gives back.
    pub fn arrow(self) -> DataType {
        match self {
            Type::Bool => DataType::Boolean,
            Type::Int8 => DataType::Int8,
            Type::Int16 => DataType::Int16,
            Type::Int32 => DataType::Int32,
            Type::Int64 => DataType::Int64,
            Type::UInt8 => DataType::UInt8,
            Type::UInt16 => DataType::UInt16,
            Type::UInt32 => DataType::UInt32,
            Type::UInt64 => DataType::UInt64,
            Type::Float32 => DataType::Float32,
            Type::Float64 => DataType::Float64,
            Type::String => DataType::Utf8,
            Type::Bytes => DataType::Binary,
            Type::Date => DataType::Date32,
            Type::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        }
    }

    /// The type of a number that C++ gave.
    pub(crate) fn from_id(id: u8) -> Self {
        Self::ALL[usize::from(id)]
    }

    /// The Arrow type of a column that lies in the engine, whose offsets may be 64-bit.
    pub(crate) fn arrow_wide(self, wide: bool) -> DataType {
        match (self, wide) {
            (Type::String, true) => DataType::LargeUtf8,
            (Type::Bytes, true) => DataType::LargeBinary,
            _ => self.arrow(),
        }
    }

    /// The bits of an integer type and whether it has a sign.
    pub(crate) fn integer(self) -> Option<(u32, bool)> {
        Some(match self {
            Type::Int8 => (8, true),
            Type::Int16 => (16, true),
            Type::Int32 => (32, true),
            Type::Int64 => (64, true),
            Type::UInt8 => (8, false),
            Type::UInt16 => (16, false),
            Type::UInt32 => (32, false),
            Type::UInt64 => (64, false),
            _ => return None,
        })
    }

    /// Integers and floats.
    pub fn is_number(self) -> bool {
        self.integer().is_some() || matches!(self, Type::Float32 | Type::Float64)
    }

    /// Whether a column of this type may be passed where `target` is declared.
    ///
    /// Text is also bytes. Integers widen to integers that hold all their values and to floats; a value that the float
    /// cannot hold exactly is an error at its row.
    pub fn widens_to(self, target: Type) -> bool {
        if self == target || (self, target) == (Type::String, Type::Bytes) {
            return true;
        }
        match (self.integer(), target.integer()) {
            (Some((from, from_sign)), Some((to, to_sign))) => match (from_sign, to_sign) {
                (false, true) => to > from,
                (true, false) => false,
                _ => to >= from,
            },
            (Some((bits, _)), None) => {
                target == Type::Float64 || (target == Type::Float32 && bits <= 16)
            }
            _ => self == Type::Float32 && target == Type::Float64,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Bool => "bool",
            Type::Int8 => "int8",
            Type::Int16 => "int16",
            Type::Int32 => "int32",
            Type::Int64 => "int64",
            Type::UInt8 => "uint8",
            Type::UInt16 => "uint16",
            Type::UInt32 => "uint32",
            Type::UInt64 => "uint64",
            Type::Float32 => "float32",
            Type::Float64 => "float64",
            Type::String => "string",
            Type::Bytes => "bytes",
            Type::Date => "date",
            Type::Timestamp => "timestamp",
        })
    }
}
