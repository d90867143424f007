#include "kernels.h"

#include <cmath>

namespace engine {

namespace {

// A row of the result is null where a row of an operand is.
void nulls_of_both(Builder& out, const Column& left, const Column& right) {
    out.nulls_of(left);
    out.nulls_of(right);
}

[[noreturn]] void overflow(int64_t row, int64_t a, const char* sign, int64_t b) {
    throw RowError(row,
                   "int64 overflow: " + std::to_string(a) + " " + sign + " " + std::to_string(b));
}

template <class F>
Column integers(const Column& left, const Column& right, F&& each) {
    Builder out(Type::Int64, left.length);
    nulls_of_both(out, left, right);
    const auto *a = left.values<int64_t>(), *b = right.values<int64_t>();
    auto* result = out.values<int64_t>();
    for (int64_t i = 0; i < left.length; ++i) {
        // What lies under a null is arbitrary and must not be able to fail.
        if (const char* wrong = each(a[i], b[i], result[i]);
            wrong && left.valid(i) && right.valid(i)) {
            if (wrong[0] == '%') throw RowError(i, "remainder of a division by zero");
            overflow(i, a[i], wrong, b[i]);
        }
    }
    return out.finish();
}

template <class F>
Column reals(const Column& left, const Column& right, F&& each) {
    Builder out(Type::Float64, left.length);
    nulls_of_both(out, left, right);
    const auto *a = left.values<double>(), *b = right.values<double>();
    auto* result = out.values<double>();
    for (int64_t i = 0; i < left.length; ++i) result[i] = each(a[i], b[i]);
    return out.finish();
}

template <class At>
Column compared(Op op, const Column& left, const Column& right, At&& at) {
    Builder out(Type::Bool, left.length);
    nulls_of_both(out, left, right);
    for (int64_t i = 0; i < left.length; ++i) {
        const auto a = at(left, i), b = at(right, i);
        bool result = false;
        switch (op) {
            case Op::Equal:
                result = a == b;
                break;
            case Op::NotEqual:
                result = a != b;
                break;
            case Op::Less:
                result = a < b;
                break;
            case Op::LessEqual:
                result = a <= b;
                break;
            case Op::Greater:
                result = a > b;
                break;
            default:
                result = a >= b;
        }
        out.set_bit(i, result);
    }
    return out.finish();
}

}  // namespace

Column negate(const Column& value) {
    Builder out(value.type, value.length);
    out.nulls_of(value);
    for (int64_t i = 0; i < value.length; ++i) {
        if (value.type == Type::Float64) {
            out.values<double>()[i] = -value.values<double>()[i];
        } else {
            const int64_t v = value.values<int64_t>()[i];
            if (__builtin_sub_overflow(int64_t(0), v, out.values<int64_t>() + i) &&
                value.valid(i)) {
                overflow(i, 0, "-", v);
            }
        }
    }
    return out.finish();
}

Column arithmetic(Op op, const Column& left, const Column& right) {
    using I = int64_t;
    if (left.type == Type::Float64) {
        switch (op) {
            case Op::Add:
                return reals(left, right, [](double a, double b) { return a + b; });
            case Op::Subtract:
                return reals(left, right, [](double a, double b) { return a - b; });
            case Op::Multiply:
                return reals(left, right, [](double a, double b) { return a * b; });
            case Op::Divide:
                return reals(left, right, [](double a, double b) { return a / b; });
            default:
                return reals(left, right, [](double a, double b) { return std::fmod(a, b); });
        }
    }
    switch (op) {
        case Op::Add:
            return integers(left, right, [](I a, I b, I& out) {
                return __builtin_add_overflow(a, b, &out) ? "+" : nullptr;
            });
        case Op::Subtract:
            return integers(left, right, [](I a, I b, I& out) {
                return __builtin_sub_overflow(a, b, &out) ? "-" : nullptr;
            });
        case Op::Multiply:
            return integers(left, right, [](I a, I b, I& out) {
                return __builtin_mul_overflow(a, b, &out) ? "*" : nullptr;
            });
        default:
            return integers(left, right, [](I a, I b, I& out) -> const char* {
                if (b == 0) return "%";
                out = b == -1 ? 0 : a % b;  // INT64_MIN % -1 traps on x86
                return nullptr;
            });
    }
}

Column compare(Op op, const Column& left, const Column& right) {
    switch (left.type) {
        case Type::Int64:
            return compared(op, left, right,
                            [](const Column& c, int64_t i) { return c.values<int64_t>()[i]; });
        case Type::Float64:
            return compared(op, left, right,
                            [](const Column& c, int64_t i) { return c.values<double>()[i]; });
        case Type::Bool:
            return compared(op, left, right, [](const Column& c, int64_t i) { return c.bit(i); });
        default:
            return compared(op, left, right, [](const Column& c, int64_t i) {
                return c.valid(i) ? c.text(i) : std::string_view();
            });
    }
}

Column logic(Op op, const Column& left, const Column& right) {
    // The value that decides alone, whatever the other side is: false for And, true for Or.
    const bool decides = op == Op::Or;
    Builder out(Type::Bool, left.length);
    for (int64_t i = 0; i < left.length; ++i) {
        const bool known_left = left.valid(i), known_right = right.valid(i);
        const bool a = known_left && left.bit(i) == decides;
        const bool b = known_right && right.bit(i) == decides;
        if (a || b)
            out.set_bit(i, decides);
        else if (known_left && known_right)
            out.set_bit(i, !decides);
        else
            out.set_null(i);
    }
    return out.finish();
}

Column negation(const Column& value) {
    Builder out(Type::Bool, value.length);
    out.nulls_of(value);
    for (int64_t i = 0; i < value.length; ++i) out.set_bit(i, !value.bit(i));
    return out.finish();
}

Column is_null(const Column& value) {
    Builder out(Type::Bool, value.length);
    for (int64_t i = 0; i < value.length; ++i) out.set_bit(i, !value.valid(i));
    return out.finish();
}

Column string_length(const Column& value) {
    Builder out(Type::Int64, value.length);
    out.nulls_of(value);
    for (int64_t i = 0; i < value.length; ++i) {
        if (!value.valid(i)) continue;
        int64_t points = 0;
        // Every byte but a continuation byte begins a code point.
        for (const char c : value.text(i)) points += (uint8_t(c) & 0xc0) != 0x80;
        out.values<int64_t>()[i] = points;
    }
    return out.finish();
}

Column string_contains(const Column& value, const Column& needle) {
    Builder out(Type::Bool, value.length);
    nulls_of_both(out, value, needle);
    for (int64_t i = 0; i < value.length; ++i) {
        if (!value.valid(i) || !needle.valid(i)) continue;
        out.set_bit(i, value.text(i).find(needle.text(i)) != std::string_view::npos);
    }
    return out.finish();
}

}  // namespace engine
