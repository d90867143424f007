#include "aggregate.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

Key key_at(const Column& column, int64_t row) {
    if (!column.valid(row)) return {};
    switch (column.type) {
        case Type::Int64:
            return column.values<int64_t>()[row];
        case Type::Float64: {
            const double value = column.values<double>()[row];
            // All NaNs are one group, and so are the two zeros.
            if (std::isnan(value)) return std::string("NaN");
            return value == 0 ? 0.0 : value;
        }
        case Type::Bool:
            return column.bit(row);
        default:
            return std::string(column.text(row));
    }
}

void put_key(const Key& key, Type type, Builder& out, int64_t row) {
    const bool null = std::holds_alternative<std::monostate>(key);
    if (null) out.set_null(row);
    switch (type) {
        case Type::Int64:
            if (!null) out.values<int64_t>()[row] = std::get<int64_t>(key);
            break;
        case Type::Float64:
            if (const auto* value = std::get_if<double>(&key))
                out.values<double>()[row] = *value;
            else if (!null)
                out.values<double>()[row] = std::nan("");
            break;
        case Type::Bool:
            if (!null) out.set_bit(row, std::get<bool>(key));
            break;
        default:
            out.append_text(null ? std::string_view() : std::get<std::string>(key));
    }
}

// A total order, so that the result does not depend on which value came first: NaN is the greatest,
// and -0.0 comes before 0.0.
bool before(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}
template <class T>
bool before(const T& a, const T& b) {
    return a < b;
}

}  // namespace

template <class T>
void Accumulator::extreme(Aggregate which, const T& value) {
    const auto* have = std::get_if<T>(&extreme_);
    if (!have || (which == Aggregate::Min ? before(value, *have) : before(*have, value))) {
        extreme_ = value;
    }
}

void Accumulator::add(const Output& output, const Column* column, int64_t row) {
    if (output.aggregate == Aggregate::CountRows) {
        ++count_;
        return;
    }
    if (!column->valid(row)) return;
    ++count_;
    const auto which = output.aggregate;
    if (which == Aggregate::Count) return;
    if (which == Aggregate::Sum) {
        if (column->type == Type::Int64) {
            integer_ += column->values<int64_t>()[row];
        } else {
            if (!real_) real_ = std::make_unique<ExactSum>();
            real_->add(column->values<double>()[row]);
        }
        return;
    }
    switch (column->type) {
        case Type::Int64:
            return extreme(which, column->values<int64_t>()[row]);
        case Type::Float64:
            return extreme(which, column->values<double>()[row]);
        case Type::Bool:
            return extreme(which, column->bit(row));
        default:
            return extreme(which, std::string(column->text(row)));
    }
}

void Accumulator::add_all(const Output& output, const Column* column, int64_t rows) {
    if (output.aggregate == Aggregate::CountRows) {
        count_ += rows;
    } else if (output.aggregate == Aggregate::Sum && column->type == Type::Int64 &&
               !column->validity) {
        const auto* values = column->values<int64_t>();
        for (int64_t row = 0; row < rows; ++row) integer_ += values[row];
        count_ += rows;
    } else if (output.aggregate == Aggregate::Sum && column->type == Type::Float64 &&
               !column->validity) {
        const auto* values = column->values<double>();
        if (!real_) real_ = std::make_unique<ExactSum>();
        for (int64_t row = 0; row < rows; ++row) real_->add(values[row]);
        count_ += rows;
    } else {
        for (int64_t row = 0; row < rows; ++row) add(output, column, row);
    }
}

void Accumulator::merge(const Output& output, const Accumulator& other) {
    count_ += other.count_;
    integer_ += other.integer_;
    if (other.real_) {
        if (!real_) real_ = std::make_unique<ExactSum>();
        real_->merge(*other.real_);
    }
    std::visit(
        [&](const auto& value) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
                extreme(output.aggregate, value);
            }
        },
        other.extreme_);
}

void Accumulator::put(const Output& output, Builder& out, int64_t row) const {
    switch (output.aggregate) {
        case Aggregate::CountRows:
        case Aggregate::Count:
            out.values<int64_t>()[row] = count_;
            break;
        case Aggregate::Sum:
            if (count_ == 0) {
                out.set_null(row);
            } else if (output.type() == Type::Float64) {
                out.values<double>()[row] = real_->round();
            } else {
                if (integer_ < INT64_MIN || integer_ > INT64_MAX) {
                    throw PlanError(
                        "sum: the total does not fit int64; cast to float64 by adding 0.0");
                }
                out.values<int64_t>()[row] = int64_t(integer_);
            }
            break;
        default:
            put_key(extreme_, output.type(), out, row);
    }
}

void Partial::add(const Query& query, const Block& block) {
    std::vector<std::optional<Column>> inputs;
    for (const auto& output : query.outputs) {
        if (output.expr && output.aggregate != Aggregate::None)
            inputs.emplace_back(evaluate(*output.expr, block));
        else
            inputs.emplace_back();
    }
    const auto group_of = [&](Key key, int64_t row) -> Group& {
        Group& group = groups[std::move(key)];
        if (group.accumulators.empty()) group.accumulators.resize(query.outputs.size());
        group.first_row = std::min(group.first_row, block.at.of(row));
        return group;
    };
    const auto input = [&](size_t i) { return inputs[i] ? &*inputs[i] : nullptr; };
    if (!query.group) {
        Group& only = group_of(Key(), 0);
        for (size_t i = 0; i < query.outputs.size(); ++i) {
            only.accumulators[i].add_all(query.outputs[i], input(i), block.rows);
        }
        return;
    }
    const Column keys = evaluate(*query.group, block);
    for (int64_t row = 0; row < block.rows; ++row) {
        Group& group = group_of(key_at(keys, row), row);
        for (size_t i = 0; i < query.outputs.size(); ++i) {
            if (query.outputs[i].aggregate == Aggregate::None) continue;
            group.accumulators[i].add(query.outputs[i], input(i), row);
        }
    }
}

void Partial::merge(const Query& query, Partial& other) {
    for (auto& [key, group] : other.groups) {
        auto& mine = groups[key];
        if (mine.accumulators.empty()) mine.accumulators.resize(query.outputs.size());
        mine.first_row = std::min(mine.first_row, group.first_row);
        for (size_t i = 0; i < query.outputs.size(); ++i) {
            mine.accumulators[i].merge(query.outputs[i], group.accumulators[i]);
        }
    }
}

std::vector<Column> Partial::result(const Query& query) const {
    std::vector<std::pair<const Key*, const Group*>> order;
    for (const auto& [key, group] : groups) order.emplace_back(&key, &group);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return a.second->first_row < b.second->first_row;
    });
    // Without GROUP BY there is one row, also over no rows at all.
    static const Key null;
    Group empty;
    if (!query.group && order.empty()) {
        empty.accumulators.resize(query.outputs.size());
        order.emplace_back(&null, &empty);
    }
    std::vector<Column> columns;
    for (size_t i = 0; i < query.outputs.size(); ++i) {
        const auto& output = query.outputs[i];
        Builder out(output.type(), int64_t(order.size()));
        for (size_t row = 0; row < order.size(); ++row) {
            const auto& [key, group] = order[row];
            if (output.aggregate == Aggregate::None)
                put_key(*key, output.type(), out, int64_t(row));
            else
                group->accumulators[i].put(output, out, int64_t(row));
        }
        columns.push_back(out.finish());
    }
    return columns;
}

}  // namespace engine
