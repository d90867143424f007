// Lesson udf-in-process in C++: a Python function called for each row, from any thread.
#pragma once

#include <cstdint>

extern "C" {

// Calls `function(a[i], b[i])` for every row on the calling thread and writes int64 results to
// `out`. Returns the number of rows done: less than `rows` if one failed (its exception is
// printed).
int64_t after_call_block(void* function, const int64_t* a, const int64_t* b, int64_t rows,
                         int64_t* out);

// Keeps the calling thread's thread state from one block to the next, and gives it up again. Each
// once on every engine thread, before its first block and after its last.
void after_enter_thread();
void after_leave_thread();

// The limit that the lesson's bench measures against: the same calls on `threads` threads, each
// attached once for all of its rows; results summed. Call it detached. Returns false on an
// exception.
bool limit_c_loop_int64(void* function, const int64_t* a, const int64_t* b, int64_t rows,
                        int threads, int64_t* sum);
bool limit_c_loop_float64(void* function, const double* a, const double* b, int64_t rows,
                          int threads, double* sum);
}
