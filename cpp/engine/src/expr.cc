#include "engine/expr.h"

#include "kernels.h"

namespace engine {

namespace {

void demand(bool holds, const Expr& expr) {
    if (holds) return;
    std::string types;
    for (const auto& argument : expr.arguments) {
        types += (types.empty() ? "" : ", ") + std::string(name(argument->type));
    }
    throw PlanError("operation " + std::to_string(int(expr.op)) + " does not take (" + types +
                    ") to " + name(expr.type));
}

size_t operands(Op op) {
    switch (op) {
        case Op::Column:
        case Op::Literal:
            return 0;
        case Op::Cast:
        case Op::Negate:
        case Op::Not:
        case Op::IsNull:
        case Op::Length:
            return 1;
        default:
            return 2;
    }
}

}  // namespace

void check(const Expr& expr) {
    for (const auto& argument : expr.arguments) check(*argument);
    const auto type = [&](size_t i) { return expr.arguments[i]->type; };
    if (expr.op == Op::Call) {
        demand(expr.function != nullptr, expr);
        return;
    }
    demand(expr.arguments.size() == operands(expr.op), expr);
    switch (expr.op) {
        case Op::Negate:
            demand(type(0) == expr.type && (expr.type == Type::Int64 || expr.type == Type::Float64),
                   expr);
            break;
        case Op::Add:
        case Op::Subtract:
        case Op::Multiply:
        case Op::Remainder:
            demand(type(0) == type(1) && type(0) == expr.type &&
                       (expr.type == Type::Int64 || expr.type == Type::Float64),
                   expr);
            break;
        case Op::Divide:
            demand(
                type(0) == Type::Float64 && type(1) == Type::Float64 && expr.type == Type::Float64,
                expr);
            break;
        case Op::Equal:
        case Op::NotEqual:
        case Op::Less:
        case Op::LessEqual:
        case Op::Greater:
        case Op::GreaterEqual:
            demand(type(0) == type(1) && expr.type == Type::Bool &&
                       (type(0) == Type::Int64 || type(0) == Type::Float64 ||
                        type(0) == Type::Bool || type(0) == Type::Utf8),
                   expr);
            break;
        case Op::And:
        case Op::Or:
            demand(type(0) == Type::Bool && type(1) == Type::Bool && expr.type == Type::Bool, expr);
            break;
        case Op::Not:
            demand(type(0) == Type::Bool && expr.type == Type::Bool, expr);
            break;
        case Op::IsNull:
            demand(expr.type == Type::Bool, expr);
            break;
        case Op::Length:
            demand(type(0) == Type::Utf8 && expr.type == Type::Int64, expr);
            break;
        case Op::Contains:
            demand(type(0) == Type::Utf8 && type(1) == Type::Utf8 && expr.type == Type::Bool, expr);
            break;
        default:
            break;
    }
}

Column evaluate(const Expr& expr, const Block& block) {
    if (expr.op == Op::Column) return block.columns.at(expr.column);
    if (expr.op == Op::Literal) return literal(expr, block.rows);
    std::vector<Column> arguments;
    arguments.reserve(expr.arguments.size());
    for (const auto& argument : expr.arguments) arguments.push_back(evaluate(*argument, block));
    switch (expr.op) {
        case Op::Cast:
            return cast(arguments[0], expr.type);
        case Op::Negate:
            return negate(arguments[0]);
        case Op::Add:
        case Op::Subtract:
        case Op::Multiply:
        case Op::Divide:
        case Op::Remainder:
            return arithmetic(expr.op, arguments[0], arguments[1]);
        case Op::And:
        case Op::Or:
            return logic(expr.op, arguments[0], arguments[1]);
        case Op::Not:
            return negation(arguments[0]);
        case Op::IsNull:
            return is_null(arguments[0]);
        case Op::Length:
            return string_length(arguments[0]);
        case Op::Contains:
            return string_contains(arguments[0], arguments[1]);
        case Op::Call: {
            Column result = (*expr.function)(arguments, block.rows, block.at, block.stop);
            if (result.length != block.rows || result.type != expr.type) {
                throw PlanError("a function returned " + std::to_string(result.length) +
                                " rows of " + name(result.type) + " for " +
                                std::to_string(block.rows) + " of " + name(expr.type));
            }
            return result;
        }
        default:
            return compare(expr.op, arguments[0], arguments[1]);
    }
}

}  // namespace engine
