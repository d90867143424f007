// Expressions over the columns of one block.
//
// Thread-safety: an Expr is immutable once built and shared by all threads of a run. A Call runs
// the user's function on the calling thread, so the function must be safe to call from many
// threads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/column.h"

namespace engine {

enum class Op : uint8_t {
    Column,
    Literal,
    Cast,
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,     // float64 always
    Remainder,  // of int64, or of float64 as fmod
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Not,
    IsNull,
    Length,    // of a string, in code points
    Contains,  // the second string within the first
    Call,
};

// Where a block lies in its table, so that a function can name the row it failed at.
struct RowNumbers {
    int64_t first = 0;
    // Rows of the block that passed the filter, or null for all of them.
    const std::vector<uint32_t>* selected = nullptr;

    int64_t of(int64_t i) const { return first + (selected ? (*selected)[size_t(i)] : i); }
};

// Tells work on one block to end early: another block failed before it, or the query was cancelled.
// `last` holds the number of the last block that is still wanted; blocks count from 1, so 0 stops
// all.
struct Stop {
    uint64_t* last = nullptr;
    uint64_t block = 0;

    bool requested() const {
        // Relaxed: the flag publishes no data; a late look only computes rows that are thrown away.
        return std::atomic_ref<uint64_t>(*last).load(std::memory_order_relaxed) < block;
    }
};

// A user-defined scalar function. Called once a block, on the thread that works on the block, never
// with zero rows; it returns a column of as many rows. It may throw; the run then stops.
using Function = std::function<Column(const std::vector<Column>& arguments, int64_t rows,
                                      const RowNumbers& at, const Stop& stop)>;

struct Expr {
    Op op = Op::Literal;
    Type type = Type::Int64;
    size_t column = 0;  // Column
    // Literal: one value, or null.
    bool null = false;
    int64_t integer = 0;
    double real = 0;
    std::string text;
    std::shared_ptr<const Function> function;  // Call
    std::vector<std::shared_ptr<const Expr>> arguments;
};

struct Block {
    std::vector<Column> columns;
    int64_t rows = 0;
    RowNumbers at;
    Stop stop;
};

// Refuses an expression whose operands do not fit its operation.
void check(const Expr& expr);
Column evaluate(const Expr& expr, const Block& block);

}  // namespace engine
