#include "engine/query.h"

#include <algorithm>

#include "aggregate.h"

namespace engine {

void Table::add_chunk(std::vector<Column> columns) {
    for (const auto& column : columns) {
        if (column.length != columns[0].length)
            throw PlanError("columns of a chunk differ in length");
    }
    if (!chunks.empty() && chunks[0].size() != columns.size()) {
        throw PlanError("chunks of a table differ in their columns");
    }
    chunks.push_back(std::move(columns));
}

int64_t Table::rows() const {
    int64_t rows = 0;
    for (const auto& chunk : chunks) rows += chunk.empty() ? 0 : chunk[0].length;
    return rows;
}

Type Output::type() const {
    if (aggregate == Aggregate::CountRows || aggregate == Aggregate::Count) return Type::Int64;
    return expr->type;
}

bool Query::aggregates() const {
    for (const auto& output : outputs) {
        if (output.aggregate != Aggregate::None) return true;
    }
    return group != nullptr;
}

namespace {

bool is_key(Type type) {
    return type == Type::Int64 || type == Type::Float64 || type == Type::Bool || type == Type::Utf8;
}

void check_query(const Query& query) {
    if (query.block_rows < 1 || query.block_rows > int64_t(UINT32_MAX)) {
        throw PlanError("block_rows must be between 1 and 4294967295");
    }
    if (query.threads < 1 || query.threads > 1024)
        throw PlanError("threads must be between 1 and 1024");
    if (query.filter) {
        check(*query.filter);
        if (query.filter->type != Type::Bool) throw PlanError("WHERE needs a bool");
    }
    if (query.group) {
        check(*query.group);
        if (!is_key(query.group->type)) {
            throw PlanError(std::string("cannot group by ") + name(query.group->type));
        }
    }
    for (const auto& output : query.outputs) {
        if (output.expr) check(*output.expr);
        const bool number =
            output.expr && (output.expr->type == Type::Int64 || output.expr->type == Type::Float64);
        if (output.aggregate == Aggregate::Sum && !number) throw PlanError("sum needs a number");
        if ((output.aggregate == Aggregate::Min || output.aggregate == Aggregate::Max) &&
            !is_key(output.expr->type)) {
            throw PlanError(std::string("min and max do not take ") + name(output.expr->type));
        }
    }
}

}  // namespace

Run::Run(Query query) : query_(std::move(query)), started_(std::chrono::steady_clock::now()) {
    check_query(query_);
    int64_t first_row = 0;
    for (size_t chunk = 0; chunk < query_.table->chunks.size(); ++chunk) {
        const auto& columns = query_.table->chunks[chunk];
        const int64_t rows = columns.empty() ? 0 : columns[0].length;
        for (int64_t from = 0; from < rows; from += query_.block_rows) {
            ranges_.push_back(
                {chunk, from, std::min(query_.block_rows, rows - from), first_row + from});
        }
        first_row += rows;
    }
    const size_t threads = std::min(query_.threads, std::max<size_t>(ranges_.size(), 1));
    query_.threads = threads;
    projected_.resize(ranges_.size());
    partials_.resize(threads);
    running_ = threads;
    threads_.reserve(threads);
    try {
        for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this, i] { work(i); });
    } catch (...) {
        // The system refused a thread: the blocks of those that were not started would be missing.
        cancel();
        for (auto& thread : threads_) thread.join();
        throw;
    }
}

Run::~Run() {
    cancel();
    for (auto& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
}

void Run::fail(uint64_t block, const std::string& what) {
    std::lock_guard lock(mutex_);
    if (!error_ || block < error_->block) error_.emplace(block, what);
    std::atomic_ref<uint64_t> last(last_wanted_);
    // Blocks before this one go on: one of them may fail too, and the first failure is the answer.
    if (block < last.load(std::memory_order_relaxed)) last.store(block, std::memory_order_relaxed);
}

void Run::cancel() {
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    std::atomic_ref<uint64_t>(last_wanted_).store(0, std::memory_order_relaxed);
}

void Run::work(size_t thread) {
    work_off(thread);
    std::lock_guard lock(mutex_);
    if (--running_ == 0) over_.notify_all();
}

void Run::work_off(size_t thread) {
    // Gone before the run is said to be over: whoever waits may rely on it.
    const auto scope = query_.enter_thread ? query_.enter_thread() : nullptr;
    for (;;) {
        // Relaxed: it hands out numbers; what it numbers was written before the threads started.
        const size_t block = next_block_.fetch_add(1, std::memory_order_relaxed);
        if (block >= ranges_.size()) break;
        if (Stop{&last_wanted_, block + 1}.requested()) break;
        try {
            process(block, partials_[thread]);
        } catch (const std::exception& error) {
            fail(block + 1, error.what());
            break;
        }
        if (first_block_nanos_.load(std::memory_order_relaxed) == 0) {
            const auto since = std::chrono::steady_clock::now() - started_;
            uint64_t unset = 0;
            first_block_nanos_.compare_exchange_strong(unset, uint64_t(since.count()),
                                                       std::memory_order_relaxed);
        }
    }
}

Block Run::cut(size_t block) const {
    const auto& range = ranges_[block];
    Block cut;
    cut.rows = range.rows;
    cut.at.first = range.first_row;
    for (const size_t column : query_.columns) {
        const auto& whole = query_.table->chunks[range.chunk].at(column);
        cut.columns.push_back(whole.slice(range.from, range.rows));
    }
    cut.stop = {const_cast<uint64_t*>(&last_wanted_), block + 1};
    return cut;
}

void Run::process(size_t index, Partial& partial) {
    Block block = cut(index);
    std::vector<uint32_t> selected;
    try {
        if (query_.filter) {
            const Column keep = evaluate(*query_.filter, block);
            for (int64_t i = 0; i < block.rows; ++i) {
                if (keep.valid(i) && keep.bit(i)) selected.push_back(uint32_t(i));
            }
            if (int64_t(selected.size()) < block.rows) {
                for (auto& column : block.columns) column = gather(column, selected);
                block.rows = int64_t(selected.size());
                block.at.selected = &selected;
            }
        }
        // A function is never called for no rows.
        if (block.rows == 0) return;
        if (query_.aggregates()) {
            partial.add(query_, block);
        } else {
            for (const auto& output : query_.outputs) {
                projected_[index].push_back(evaluate(*output.expr, block));
            }
        }
    } catch (const RowError& error) {
        throw std::runtime_error("row " + std::to_string(block.at.of(error.row)) + ": " +
                                 error.what());
    }
}

bool Run::wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return over_.wait_for(lock, limit, [this] { return running_ == 0; });
}

uint64_t Run::first_block_nanos() const {
    return first_block_nanos_.load(std::memory_order_relaxed);
}

std::vector<std::vector<Column>> Run::finish() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    // The threads are joined: nothing is shared any more.
    if (cancelled_) throw RunError(0, "the query was cancelled");
    if (error_) throw *error_;
    if (query_.aggregates()) {
        for (size_t i = 1; i < partials_.size(); ++i) partials_[0].merge(query_, partials_[i]);
        return {partials_[0].result(query_)};
    }
    std::erase_if(projected_, [](const auto& columns) { return columns.empty(); });
    return std::move(projected_);
}

}  // namespace engine
