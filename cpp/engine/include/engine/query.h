// Tables, queries and runs: the part that has threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/expr.h"

namespace engine {

// A table is a sequence of chunks, each with the same columns, as Arrow streams give them.
// Thread-safety: immutable once a query was made over it.
struct Table {
    std::vector<std::vector<Column>> chunks;
    void add_chunk(std::vector<Column> columns);
    int64_t rows() const;
};

enum class Aggregate : uint8_t { None, CountRows, Count, Sum, Min, Max };

struct Output {
    Aggregate aggregate = Aggregate::None;
    std::shared_ptr<const Expr> expr;  // null for CountRows
    Type type() const;
};

struct Query {
    std::shared_ptr<const Table> table;
    // The table's columns that the query uses; a column expression counts among these.
    std::vector<size_t> columns;
    std::shared_ptr<const Expr> filter;  // null: every row
    // With an aggregate, an output without one is the grouping key.
    std::vector<Output> outputs;
    std::shared_ptr<const Expr> group;  // null: no grouping
    int64_t block_rows = 65536;
    size_t threads = 1;
    // If set, called by each thread before its first block; what it gives is dropped by the same
    // thread after its last one. The engine does not look into it.
    std::function<std::shared_ptr<void>()> enter_thread;

    bool aggregates() const;
};

// The error of a run: `block` counts from 1 and tells which block failed.
struct RunError : std::runtime_error {
    RunError(uint64_t block, const std::string& what) : std::runtime_error(what), block(block) {}
    uint64_t block;
};

struct Partial;

// A query at work. Whichever thread is free takes the next block: dealt out beforehand, the blocks
// of a thread that the machine slowed down would be waited for.
//
// The result does not depend on the number of threads or the size of blocks: rows keep their order,
// float sums are exact before they are rounded, groups come in the order of their first row.
// Neither does the error: of the blocks that fail, the first one in the table is reported.
//
// Thread-safety: internally synchronised, except that finish() is called once.
class Run {
  public:
    explicit Run(Query query);
    // Cancels and joins. A function that is in the middle of a row is waited for.
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    // Waits until the run is over or the time is up; says whether it is over.
    bool wait(std::chrono::milliseconds limit);
    void cancel();
    // Joins the threads and gives the result: chunks of columns, one column for each output.
    std::vector<std::vector<Column>> finish();
    // Nanoseconds from the start until the first block was done; 0 before.
    uint64_t first_block_nanos() const;

  private:
    void work(size_t thread);
    void work_off(size_t thread);
    void process(size_t block, Partial& partial);
    Block cut(size_t block) const;
    void fail(uint64_t block, const std::string& what);

    struct Range {
        size_t chunk;
        int64_t from, rows, first_row;
    };
    Query query_;
    std::vector<Range> ranges_;
    std::vector<Partial> partials_;               // one a thread
    std::vector<std::vector<Column>> projected_;  // one a block, written by the block's thread
    // Read and written through atomic_ref only: the last block still wanted (see Stop).
    alignas(8) uint64_t last_wanted_ = UINT64_MAX;
    std::atomic<uint64_t> first_block_nanos_ = 0;
    // The next block that nobody has taken. On a line of its own: all threads write it.
    alignas(64) std::atomic<size_t> next_block_ = 0;
    std::chrono::steady_clock::time_point started_;

    std::mutex mutex_;  // guards what follows
    std::condition_variable over_;
    size_t running_ = 0;
    bool cancelled_ = false;
    std::optional<RunError> error_;

    std::vector<std::thread> threads_;
};

}  // namespace engine
