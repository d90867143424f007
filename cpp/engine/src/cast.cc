// Conversions between numeric types, and literals.

#include <cmath>
#include <type_traits>
#include <utility>

#include "kernels.h"

namespace engine {

namespace {

// Calls `work` with a value of the C++ type that stores `type`.
template <class F>
auto with_number(Type type, F&& work) {
    switch (type) {
        case Type::Int8:
            return work(int8_t{});
        case Type::Int16:
            return work(int16_t{});
        case Type::Int32:
            return work(int32_t{});
        case Type::Int64:
            return work(int64_t{});
        case Type::UInt8:
            return work(uint8_t{});
        case Type::UInt16:
            return work(uint16_t{});
        case Type::UInt32:
            return work(uint32_t{});
        case Type::UInt64:
            return work(uint64_t{});
        case Type::Float32:
            return work(float{});
        case Type::Float64:
            return work(double{});
        default:
            throw PlanError(std::string(name(type)) + " is not a number");
    }
}

template <class To, class From>
bool exact(From value, To& out) {
    if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
        out = static_cast<To>(value);
        return std::in_range<To>(value);
    } else if constexpr (std::is_floating_point_v<To>) {
        out = static_cast<To>(value);
        if constexpr (std::is_integral_v<From>) {
            // Back again in 128 bits: 2^64 as a double is not a uint64_t.
            return static_cast<__int128>(out) == static_cast<__int128>(value);
        } else {
            return std::isnan(value) || static_cast<From>(out) == value;
        }
    } else {
        return false;  // a fraction is never turned into an integer
    }
}

}  // namespace

Column cast(const Column& from, Type to) {
    if (from.type == to) return from;
    if (from.type == Type::Utf8 && to == Type::Binary) {
        Column bytes = from;  // the same buffers: only the promise that they are UTF-8 is dropped
        bytes.type = to;
        return bytes;
    }
    Builder out(to, from.length);
    out.nulls_of(from);
    with_number(from.type, [&](auto source) {
        with_number(to, [&](auto target) {
            using From = decltype(source);
            using To = decltype(target);
            const From* in = from.values<From>();
            To* result = out.values<To>();
            for (int64_t i = 0; i < from.length; ++i) {
                if (!exact(in[i], result[i]) && from.valid(i)) {
                    throw RowError(i, std::string(name(from.type)) + " " + std::to_string(in[i]) +
                                          " has no exact " + name(to));
                }
            }
        });
    });
    return out.finish();
}

Column literal(const Expr& expr, int64_t rows) {
    Builder out(expr.type, rows);
    for (int64_t i = 0; i < rows; ++i) {
        if (expr.null) out.set_null(i);
        if (expr.type == Type::Bool) {
            out.set_bit(i, expr.integer != 0);
        } else if (width(expr.type) == 0) {
            out.append_text(expr.text);
        } else if (expr.type == Type::Date32) {
            out.values<int32_t>()[i] = int32_t(expr.integer);
        } else if (expr.type == Type::TimestampUs) {
            out.values<int64_t>()[i] = expr.integer;
        } else {
            with_number(expr.type, [&](auto kind) {
                using T = decltype(kind);
                out.values<T>()[i] =
                    std::is_floating_point_v<T> ? T(expr.real) : static_cast<T>(expr.integer);
            });
        }
    }
    return out.finish();
}

}  // namespace engine
