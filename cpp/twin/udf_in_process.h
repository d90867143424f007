// Lesson udf-in-process in C++: a Python function called for each row, from any thread.
#pragma once

#include <cstdint>

extern "C" {

// Calls `function(a[i], b[i])` for every row on the calling thread and writes int64 results to
// `out`. Returns the number of rows done: less than `rows` if one failed (its exception is
// printed).
int64_t after_call_block(void* function, const int64_t* a, const int64_t* b, int64_t rows,
                         int64_t* out);

// The limit that the lesson's bench measures against: the same calls on `threads` threads, results
// summed. Thread t takes blocks t, t + threads, ... and attaches once for each, as the lesson does;
// with `block_rows` of 0 it attaches once for all of its rows. Call it detached. Returns false on
// an exception.
bool limit_c_loop(void* function, const int64_t* a, const int64_t* b, int64_t rows,
                  int64_t block_rows, int threads, int64_t* sum);
}
