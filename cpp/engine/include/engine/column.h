// Columns: typed views of Arrow buffers, with whatever keeps the buffers alive.
//
// Thread-safety: a Column is immutable once made; copies share its buffers and may be read from any
// thread. The last copy releases the buffers on the thread that drops it.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/arrow_c.h"

namespace engine {

enum class Type : uint8_t {
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
    Utf8,
    Binary,
    Date32,       // days since 1970-01-01, as Arrow has it
    TimestampUs,  // microseconds since 1970-01-01 00:00, no time zone
};

const char* name(Type type);
// Bytes of one value; 0 for Bool (bits) and for Utf8 and Binary (offsets).
size_t width(Type type);

// A mistake in the plan or in a table: reported before any row is looked at.
struct PlanError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A value that cannot be computed. `row` counts within the block; the run adds where the block
// lies.
struct RowError : std::runtime_error {
    RowError(int64_t row, const std::string& what) : std::runtime_error(what), row(row) {}
    int64_t row;
};

// Buffers that the engine made itself.
struct Buffers {
    std::vector<uint8_t> validity;
    std::vector<uint8_t> data;
    std::vector<int32_t> offsets;
};

struct Column {
    Type type = Type::Int64;
    int64_t length = 0;
    int64_t offset = 0;  // in values, for every buffer alike
    const uint8_t* validity =
        nullptr;  // bit i is bit `offset + i`, least significant first; null: all valid
    const void* data = nullptr;
    const void* offsets = nullptr;  // Utf8 and Binary: offset + length + 1 of them
    bool wide = false;              // offsets are int64_t, not int32_t
    std::shared_ptr<const void> owner;

    bool valid(int64_t i) const {
        return !validity || (validity[(offset + i) >> 3] >> ((offset + i) & 7) & 1);
    }
    bool bit(int64_t i) const {
        return static_cast<const uint8_t*>(data)[(offset + i) >> 3] >> ((offset + i) & 7) & 1;
    }
    template <class T>
    const T* values() const {
        return static_cast<const T*>(data) + offset;
    }
    std::string_view text(int64_t i) const {
        const auto* bytes = static_cast<const char*>(data);
        const auto [from, to] = extent(i);
        // An empty column may come without a data buffer: no arithmetic on a null pointer.
        return from == to ? std::string_view() : std::string_view(bytes + from, size_t(to - from));
    }
    Column slice(int64_t from, int64_t count) const {
        Column part = *this;
        part.offset += from;
        part.length = count;
        return part;
    }

  private:
    std::pair<int64_t, int64_t> extent(int64_t i) const {
        if (wide) {
            const auto* at = static_cast<const int64_t*>(offsets) + offset + i;
            return {at[0], at[1]};
        }
        const auto* at = static_cast<const int32_t*>(offsets) + offset + i;
        return {at[0], at[1]};
    }
};

// Grows a column value by value, or takes buffers that a kernel filled.
class Builder {
  public:
    Builder(Type type, int64_t length);
    template <class T>
    T* values() {
        return reinterpret_cast<T*>(buffers_->data.data());
    }
    void set_bit(int64_t i, bool value);
    void set_null(int64_t i);
    // Takes over the nulls of `like`, which has the same length.
    void nulls_of(const Column& like);
    // Utf8 and Binary: called for i = 0, 1, ... in turn; a null has an empty text.
    void append_text(std::string_view text);
    Column finish();

  private:
    Type type_;
    int64_t length_;
    std::shared_ptr<Buffers> buffers_;
};

// Takes over an array that follows the Arrow C Data Interface: `array` is marked as released.
Column import_column(ArrowArray* array, Type type, bool wide);
// Fills `array`, which then keeps the column's buffers until it is released.
void export_column(const Column& column, ArrowArray* array);
// The rows of `column` that `rows` names.
Column gather(const Column& column, const std::vector<uint32_t>& rows);

}  // namespace engine
