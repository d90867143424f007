// The engine without Rust and without Python, so that it can run under the sanitizers.
//
// Each test is a function; a failed check says where and ends the program with status 1.

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "engine/exact_sum.h"
#include "engine/query.h"

using namespace engine;

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                        \
        }                                                                        \
    } while (0)

namespace {

Column numbers(int64_t count, int64_t null_every = 0) {
    Builder out(Type::Int64, count);
    for (int64_t i = 0; i < count; ++i) {
        out.values<int64_t>()[i] = i;
        if (null_every && i % null_every == 0) out.set_null(i);
    }
    return out.finish();
}

std::shared_ptr<Expr> make(Op op, Type type,
                           std::vector<std::shared_ptr<const Expr>> arguments = {}) {
    auto expr = std::make_shared<Expr>();
    expr->op = op;
    expr->type = type;
    expr->arguments = std::move(arguments);
    return expr;
}

std::shared_ptr<Expr> column() { return make(Op::Column, Type::Int64); }

std::shared_ptr<Expr> call(Function function) {
    auto expr = make(Op::Call, Type::Int64, {column()});
    expr->function = std::make_shared<const Function>(std::move(function));
    return expr;
}

Query query_over(Column data, std::shared_ptr<const Expr> expr, Aggregate aggregate,
                 size_t threads) {
    auto table = std::make_shared<Table>();
    table->add_chunk({std::move(data)});
    Query query;
    query.table = table;
    query.columns = {0};
    query.outputs = {{aggregate, std::move(expr)}};
    query.block_rows = 100;
    query.threads = threads;
    return query;
}

Column twice(const std::vector<Column>& arguments, int64_t rows, const RowNumbers&, const Stop&) {
    Builder out(Type::Int64, rows);
    for (int64_t i = 0; i < rows; ++i) {
        out.values<int64_t>()[i] = 2 * arguments[0].values<int64_t>()[i];
    }
    return out.finish();
}

int64_t only(const std::vector<std::vector<Column>>& result) {
    CHECK(result.size() == 1 && result[0].size() == 1 && result[0][0].length == 1);
    return result[0][0].values<int64_t>()[0];
}

void functions_are_called_from_many_threads_and_add_up() {
    for (const size_t threads : {1, 2, 8, 32}) {
        Run run(query_over(numbers(10'000), call(twice), Aggregate::Sum, threads));
        CHECK(run.wait(std::chrono::seconds(60)));
        CHECK(only(run.finish()) == 9'999 * 10'000);
        CHECK(run.first_block_nanos() > 0);
    }
}

void the_first_failing_block_is_reported_whatever_the_threads() {
    for (const size_t threads : {1, 2, 8, 32}) {
        const auto fails = [](const std::vector<Column>& arguments, int64_t rows,
                              const RowNumbers& at, const Stop&) -> Column {
            for (int64_t i = 0; i < rows; ++i) {
                if (at.of(i) % 1000 == 777) throw RowError(i, "no");
            }
            return arguments[0];
        };
        Run run(query_over(numbers(10'000), call(fails), Aggregate::Sum, threads));
        try {
            run.finish();
            CHECK(false);
        } catch (const RunError& error) {
            CHECK(error.block == 8);
            CHECK(std::string(error.what()) == "row 777: no");
        }
    }
}

void cancelling_stops_a_function_in_the_middle_of_its_block() {
    std::atomic<int> entered = 0;
    const auto waits = [&](const std::vector<Column>&, int64_t, const RowNumbers&,
                           const Stop& stop) -> Column {
        ++entered;
        while (!stop.requested()) std::this_thread::yield();
        throw std::runtime_error("stopped");
    };
    Run run(query_over(numbers(10'000), call(waits), Aggregate::Sum, 2));
    while (entered < 2) std::this_thread::yield();
    CHECK(!run.wait(std::chrono::milliseconds(1)));
    run.cancel();
    CHECK(run.wait(std::chrono::seconds(60)));
    try {
        run.finish();
        CHECK(false);
    } catch (const RunError& error) {
        CHECK(error.block == 0);
    }
    CHECK(entered == 2);
}

void dropping_a_run_joins_its_threads() {
    std::atomic<int> inside = 0;
    {
        const auto slow = [&](const std::vector<Column>& arguments, int64_t, const RowNumbers&,
                              const Stop&) {
            ++inside;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            --inside;
            return arguments[0];
        };
        Run run(query_over(numbers(10'000), call(slow), Aggregate::Sum, 4));
    }
    CHECK(inside == 0);
}

void a_function_is_never_called_for_no_rows() {
    const auto demands = [](const std::vector<Column>& arguments, int64_t rows, const RowNumbers&,
                            const Stop&) {
        CHECK(rows > 0);
        return arguments[0];
    };
    auto literal = make(Op::Literal, Type::Int64);
    literal->integer = 9'950;
    Query query = query_over(numbers(10'000), call(demands), Aggregate::CountRows, 2);
    query.outputs[0].aggregate = Aggregate::Sum;
    query.filter = make(Op::GreaterEqual, Type::Bool, {column(), literal});
    Run run(query);
    CHECK(only(run.finish()) == (9'950 + 9'999) * 50 / 2);
}

void a_function_that_returns_too_few_rows_is_an_error() {
    const auto wrong = [](const std::vector<Column>& arguments, int64_t rows, const RowNumbers&,
                          const Stop&) { return arguments[0].slice(0, rows - 1); };
    Run run(query_over(numbers(10), call(wrong), Aggregate::None, 1));
    try {
        run.finish();
        CHECK(false);
    } catch (const RunError& error) {
        CHECK(std::string(error.what()) == "a function returned 9 rows of int64 for 10 of int64");
    }
}

void plans_that_do_not_fit_are_refused_before_a_thread_starts() {
    const auto refused = [](Query query) {
        try {
            Run run(std::move(query));
        } catch (const PlanError&) {
            return true;
        }
        return false;
    };
    auto text = make(Op::Literal, Type::Utf8);
    CHECK(refused(
        query_over(numbers(1), make(Op::Add, Type::Int64, {column(), text}), Aggregate::None, 1)));
    CHECK(refused(query_over(numbers(1), text, Aggregate::Sum, 1)));
    CHECK(refused(query_over(numbers(1), column(), Aggregate::Sum, 0)));
    Query query = query_over(numbers(1), column(), Aggregate::Sum, 1);
    query.filter = column();
    CHECK(refused(query));
}

void nulls_pass_through_slices_and_exports() {
    const Column data = numbers(100, 3).slice(7, 50);
    ArrowArray array{};
    export_column(data, &array);
    const Column back = import_column(&array, Type::Int64, false);
    CHECK(array.release == nullptr);
    for (int64_t i = 0; i < 50; ++i) {
        CHECK(back.valid(i) == ((i + 7) % 3 != 0));
        CHECK(back.values<int64_t>()[i] == i + 7);
    }
    const Column picked = gather(back, {0, 2, 49});
    CHECK(picked.valid(0) && !picked.valid(1) && picked.values<int64_t>()[2] == 56);
}

void sums_of_doubles_are_exact() {
    const auto sum = [](const std::vector<double>& values) {
        ExactSum total;
        for (const double value : values) total.add(value);
        return total.round();
    };
    CHECK(sum({1e100, 1.0, -1e100}) == 1.0);
    CHECK(sum({0.1, 0.2, 0.3}) == 0.6);
    CHECK(sum({5e-324, 5e-324}) == 1e-323);
    CHECK(sum({-5e-324, 5e-324}) == 0.0 && !std::signbit(sum({-1.0, 1.0})));
    CHECK(std::signbit(sum({-0.0, -0.0})));
    CHECK(sum({1.7976931348623157e308, 1.7976931348623157e308}) == INFINITY);
    CHECK(sum({1.7976931348623157e308, 1.7976931348623157e308, -1.7976931348623157e308}) ==
          1.7976931348623157e308);
    CHECK(sum({INFINITY, 1.0}) == INFINITY && std::isnan(sum({INFINITY, -INFINITY})));
    // Halfway cases go to the even neighbour, and a bit far below decides.
    const double one = 1.0, ulp = std::ldexp(1.0, -52);
    CHECK(sum({one, ulp / 2}) == one);
    CHECK(sum({one, ulp / 2, 5e-324}) == one + ulp);
    CHECK(sum({one + ulp, ulp / 2}) == one + 2 * ulp);
    CHECK(sum({-one, -ulp / 2, -5e-324}) == -one - ulp);
}

}  // namespace

int main() {
    functions_are_called_from_many_threads_and_add_up();
    the_first_failing_block_is_reported_whatever_the_threads();
    cancelling_stops_a_function_in_the_middle_of_its_block();
    dropping_a_run_joins_its_threads();
    a_function_is_never_called_for_no_rows();
    a_function_that_returns_too_few_rows_is_an_error();
    plans_that_do_not_fit_are_refused_before_a_thread_starts();
    nulls_pass_through_slices_and_exports();
    sums_of_doubles_are_exact();
    std::puts("9 passed, 0 failed");
}
