// The C++ side of crates/engine/src/bridge.rs: translates between cxx's types and the engine's.
#pragma once

#include <memory>

#include "engine/query.h"
#include "rust/cxx.h"

namespace engine {

struct Functions;
struct QuerySpec;
struct ThreadScope;

struct TableBuilder {
    std::shared_ptr<Table> table = std::make_shared<Table>();
    std::vector<Column> chunk;
};

std::unique_ptr<TableBuilder> new_table();
void push_column(TableBuilder& table, ArrowArray* array, uint8_t type_id, bool wide);
void end_chunk(TableBuilder& table);

// Lives on the stack of one call.
class CallSite {
  public:
    CallSite(const std::vector<Column>& arguments, int64_t rows, const RowNumbers& at,
             const Stop& stop)
        : arguments_(arguments), rows_(rows), at_(at), stop_(stop) {}
    size_t rows() const { return size_t(rows_); }
    size_t arguments() const { return arguments_.size(); }
    uint8_t argument_type(size_t index) const { return uint8_t(arguments_.at(index).type); }
    bool argument_wide(size_t index) const { return arguments_.at(index).wide; }
    void export_argument(size_t index, ArrowArray* array) const;
    int64_t row_number(size_t row) const { return at_.of(int64_t(row)); }
    uint64_t block() const { return stop_.block; }
    const uint64_t* last_wanted() const { return stop_.last; }
    void set_result(ArrowArray* array, uint8_t type_id);
    Column take_result() { return std::move(result_); }

  private:
    const std::vector<Column>& arguments_;
    int64_t rows_;
    const RowNumbers& at_;
    const Stop& stop_;
    Column result_;
};

class RunHandle {
  public:
    explicit RunHandle(Query query) : run_(std::move(query)) {}
    bool wait(uint32_t milliseconds) const;
    void cancel() const { run_.cancel(); }
    uint64_t first_block_nanos() const { return run_.first_block_nanos(); }
    void finish();
    uint64_t failed_block() const { return failed_; }
    size_t chunks() const { return result_.size(); }
    bool result_wide(size_t chunk, size_t output) const {
        return result_.at(chunk).at(output).wide;
    }
    void export_result(size_t chunk, size_t output, ArrowArray* array) const;

  private:
    mutable Run run_;  // internally synchronised
    std::vector<std::vector<Column>> result_;
    uint64_t failed_ = UINT64_MAX;
};

std::unique_ptr<RunHandle> start(const TableBuilder& table, const QuerySpec& spec,
                                 rust::Box<Functions> functions);
double exact_sum(rust::Slice<const double> values);

}  // namespace engine
