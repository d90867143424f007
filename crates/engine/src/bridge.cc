#include "engine-bridge/bridge.h"

#include "engine/exact_sum.h"
#include "engine/src/bridge.rs.h"

namespace engine {

namespace {

constexpr size_t kNone = SIZE_MAX;

Type type_of(uint8_t id) {
    if (id > uint8_t(Type::TimestampUs)) throw PlanError("unknown type id " + std::to_string(id));
    return Type(id);
}

std::shared_ptr<const Function> function(std::shared_ptr<rust::Box<Functions>> functions,
                                         size_t index) {
    return std::make_shared<const Function>([functions, index](const std::vector<Column>& arguments,
                                                               int64_t rows, const RowNumbers& at,
                                                               const Stop& stop) {
        CallSite site(arguments, rows, at, stop);
        call(**functions, index, site);
        return site.take_result();
    });
}

}  // namespace

std::unique_ptr<TableBuilder> new_table() { return std::make_unique<TableBuilder>(); }

void push_column(TableBuilder& table, ArrowArray* array, uint8_t type_id, bool wide) {
    table.chunk.push_back(import_column(array, type_of(type_id), wide));
}

void end_chunk(TableBuilder& table) { table.table->add_chunk(std::exchange(table.chunk, {})); }

void CallSite::export_argument(size_t index, ArrowArray* array) const {
    export_column(arguments_.at(index), array);
}

void CallSite::set_result(ArrowArray* array, uint8_t type_id) {
    result_ = import_column(array, type_of(type_id), false);
}

std::unique_ptr<RunHandle> start(const TableBuilder& table, const QuerySpec& spec,
                                 rust::Box<Functions> functions) {
    // std::function copies what it holds, and a Box cannot be copied: share it.
    auto shared = std::make_shared<rust::Box<Functions>>(std::move(functions));
    std::vector<std::shared_ptr<const Expr>> nodes;
    for (const auto& node : spec.nodes) {
        if (node.op > uint8_t(Op::Call)) throw PlanError("unknown operation");
        Expr expr;
        expr.op = Op(node.op);
        expr.type = type_of(node.type_id);
        expr.column = node.column;
        expr.null = node.null;
        expr.integer = node.integer;
        expr.real = node.real;
        expr.text = std::string(node.text);
        if (expr.op == Op::Call) expr.function = function(shared, node.function);
        // `at`: operands come before the node that uses them, so anything else is out of range.
        for (const size_t argument : node.arguments) expr.arguments.push_back(nodes.at(argument));
        nodes.push_back(std::make_shared<const Expr>(std::move(expr)));
    }
    const auto node = [&](size_t index) { return index == kNone ? nullptr : nodes.at(index); };
    Query query;
    query.table = table.table;
    query.columns.assign(spec.columns.begin(), spec.columns.end());
    query.filter = node(spec.filter);
    query.group = node(spec.group);
    query.block_rows = spec.block_rows;
    query.threads = spec.threads;
    query.enter_thread = [shared]() -> std::shared_ptr<void> {
        return std::make_shared<rust::Box<ThreadScope>>(enter_thread(**shared));
    };
    for (const auto& output : spec.outputs) {
        if (output.aggregate > uint8_t(Aggregate::Max)) throw PlanError("unknown aggregate");
        query.outputs.push_back({Aggregate(output.aggregate), node(output.node)});
    }
    return std::make_unique<RunHandle>(std::move(query));
}

bool RunHandle::wait(uint32_t milliseconds) const {
    return run_.wait(std::chrono::milliseconds(milliseconds));
}

void RunHandle::finish() {
    try {
        result_ = run_.finish();
    } catch (const RunError& error) {
        failed_ = error.block;
        throw;
    }
}

void RunHandle::export_result(size_t chunk, size_t output, ArrowArray* array) const {
    export_column(result_.at(chunk).at(output), array);
}

double exact_sum(rust::Slice<const double> values) {
    // In two halves, so that merging is part of what a test sees.
    ExactSum left, right;
    for (size_t i = 0; i < values.size(); ++i) (i % 2 ? right : left).add(values[i]);
    left.merge(right);
    return left.round();
}

}  // namespace engine
