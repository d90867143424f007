// Aggregates whose result does not depend on the order of rows or on how they were split.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>

#include "engine/exact_sum.h"
#include "engine/query.h"

namespace engine {

// The value of a grouping key; monostate is NULL, which is a group of its own.
using Key = std::variant<std::monostate, int64_t, double, bool, std::string>;

// One aggregate over one group.
class Accumulator {
  public:
    void add(const Output& output, const Column* column, int64_t row);
    // Every row of a block; the same as add() for each of them, without asking each what it is.
    void add_all(const Output& output, const Column* column, int64_t rows);
    void merge(const Output& output, const Accumulator& other);
    // Appends nothing and says so (false) if the result is NULL.
    void put(const Output& output, Builder& out, int64_t row) const;

  private:
    template <class T>
    void extreme(Aggregate which, const T& value);

    int64_t count_ = 0;
    __int128 integer_ = 0;  // no sum of fewer than 2^64 values of int64 overflows it
    std::unique_ptr<ExactSum> real_;
    Key extreme_;
};

struct Group {
    int64_t first_row = INT64_MAX;
    std::vector<Accumulator> accumulators;
};

// What one thread gathered.
struct Partial {
    std::unordered_map<Key, Group> groups;

    void add(const Query& query, const Block& block);
    void merge(const Query& query, Partial& other);
    std::vector<Column> result(const Query& query) const;
};

}  // namespace engine
