#include "engine/column.h"

#include <array>
#include <cstring>

namespace engine {

const char* name(Type type) {
    static constexpr std::array names = {"bool",    "int8",   "int16",  "int32",  "int64",
                                         "uint8",   "uint16", "uint32", "uint64", "float32",
                                         "float64", "string", "bytes",  "date",   "timestamp"};
    return names.at(size_t(type));
}

size_t width(Type type) {
    switch (type) {
        case Type::Bool:
        case Type::Utf8:
        case Type::Binary:
            return 0;
        case Type::Int8:
        case Type::UInt8:
            return 1;
        case Type::Int16:
        case Type::UInt16:
            return 2;
        case Type::Int32:
        case Type::UInt32:
        case Type::Float32:
        case Type::Date32:
            return 4;
        case Type::Int64:
        case Type::UInt64:
        case Type::Float64:
        case Type::TimestampUs:
            return 8;
    }
    throw PlanError("unknown type");
}

Builder::Builder(Type type, int64_t length)
    : type_(type), length_(length), buffers_(std::make_shared<Buffers>()) {
    if (type == Type::Bool) {
        buffers_->data.resize(size_t((length + 7) / 8));
    } else if (const size_t bytes = width(type)) {
        buffers_->data.resize(size_t(length) * bytes);
    } else {
        buffers_->offsets.reserve(size_t(length) + 1);
        buffers_->offsets.push_back(0);
    }
}

void Builder::set_bit(int64_t i, bool value) {
    uint8_t& byte = buffers_->data[size_t(i >> 3)];
    const auto mask = uint8_t(1u << (i & 7));
    byte = value ? uint8_t(byte | mask) : uint8_t(byte & ~mask);
}

void Builder::set_null(int64_t i) {
    if (buffers_->validity.empty()) buffers_->validity.assign(size_t((length_ + 7) / 8), 0xff);
    buffers_->validity[size_t(i >> 3)] &= uint8_t(~(1u << (i & 7)));
}

void Builder::nulls_of(const Column& like) {
    if (!like.validity) return;
    for (int64_t i = 0; i < length_; ++i) {
        if (!like.valid(i)) set_null(i);
    }
}

void Builder::append_text(std::string_view text) {
    const size_t end = buffers_->data.size() + text.size();
    if (end > size_t(INT32_MAX))
        throw PlanError("a block's strings exceed 2 GiB; use smaller blocks");
    buffers_->data.insert(buffers_->data.end(), text.begin(), text.end());
    buffers_->offsets.push_back(int32_t(end));
}

Column Builder::finish() {
    Column column;
    column.type = type_;
    column.length = length_;
    column.validity = buffers_->validity.empty() ? nullptr : buffers_->validity.data();
    column.data = buffers_->data.data();
    if (!buffers_->offsets.empty()) column.offsets = buffers_->offsets.data();
    column.owner = std::move(buffers_);
    return column;
}

Column import_column(ArrowArray* array, Type type, bool wide) {
    // Moving the structure out and marking the source released is the interface's way to take over.
    auto held = std::shared_ptr<ArrowArray>(new ArrowArray(*array), [](ArrowArray* a) {
        if (a->release) a->release(a);
        delete a;
    });
    array->release = nullptr;
    const bool text = type == Type::Utf8 || type == Type::Binary;
    if (held->n_buffers != (text ? 3 : 2)) throw PlanError("an Arrow array has the wrong buffers");
    Column column;
    column.type = type;
    column.wide = wide;
    column.length = held->length;
    column.offset = held->offset;
    // A validity buffer without a null costs a test a row for nothing.
    column.validity =
        held->null_count == 0 ? nullptr : static_cast<const uint8_t*>(held->buffers[0]);
    column.offsets = text ? held->buffers[1] : nullptr;
    column.data = held->buffers[text ? 2 : 1];
    if (text && !column.offsets) {
        // Arrow allows an empty array to leave its offsets out.
        if (column.length != 0) throw PlanError("a string column has no offsets");
        static constexpr int64_t zero[2] = {0, 0};
        column.offsets = zero;
        column.offset = 0;
    }
    column.owner = std::move(held);
    return column;
}

namespace {
struct Exported {
    std::shared_ptr<const void> owner;
    std::array<const void*, 3> buffers;
};
}  // namespace

void export_column(const Column& column, ArrowArray* array) {
    auto* kept = new Exported{column.owner, {column.validity, column.data, nullptr}};
    if (column.offsets) kept->buffers = {column.validity, column.offsets, column.data};
    *array = ArrowArray{};
    array->length = column.length;
    array->null_count = column.validity ? -1 : 0;  // -1: not counted
    array->offset = column.offset;
    array->n_buffers = column.offsets ? 3 : 2;
    array->buffers = kept->buffers.data();
    array->private_data = kept;
    array->release = [](ArrowArray* self) {
        delete static_cast<Exported*>(self->private_data);
        self->release = nullptr;
    };
}

Column gather(const Column& column, const std::vector<uint32_t>& rows) {
    const auto count = int64_t(rows.size());
    Builder out(column.type, count);
    const size_t bytes = width(column.type);
    for (int64_t i = 0; i < count; ++i) {
        const int64_t row = rows[size_t(i)];
        const bool valid = column.valid(row);
        if (!valid) out.set_null(i);
        if (column.type == Type::Bool) {
            out.set_bit(i, column.bit(row));
        } else if (bytes) {
            std::memcpy(
                out.values<uint8_t>() + size_t(i) * bytes,
                static_cast<const uint8_t*>(column.data) + size_t(column.offset + row) * bytes,
                bytes);
        } else {
            out.append_text(valid ? column.text(row) : std::string_view());
        }
    }
    return out.finish();
}

}  // namespace engine
