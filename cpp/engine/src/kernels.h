// What one operation does to whole columns. Each returns a new column; nulls in give nulls out
// except for And, Or and IsNull, which follow SQL's three-valued logic.
#pragma once

#include "engine/expr.h"

namespace engine {

Column literal(const Expr& expr, int64_t rows);
// A checked conversion between numbers: a value that the target cannot hold exactly is an error.
Column cast(const Column& from, Type to);
Column negate(const Column& value);
Column arithmetic(Op op, const Column& left, const Column& right);
Column compare(Op op, const Column& left, const Column& right);
Column logic(Op op, const Column& left, const Column& right);
Column negation(const Column& value);
Column is_null(const Column& value);
Column string_length(const Column& value);
Column string_contains(const Column& value, const Column& needle);

}  // namespace engine
