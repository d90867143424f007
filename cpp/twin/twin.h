// What the twins share: threads that Python does not know, and the submodules.
#pragma once

// Before any other header: it includes Python.h.
#include "attach.h"

#include <thread>
#include <vector>

// Runs `body(i)` on `count` threads that Python does not know, and joins them, detached.
template <class Body>
void on_threads(int count, Body body) {
    Detach detached;
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
    for (auto& thread : threads) thread.join();
}

// Runs Python source in a module of its own; false with the exception set.
bool run_python(const char* source);

// A submodule for each lesson, ended by an empty entry.
extern PyMethodDef gil_declaration_methods[];
extern PyMethodDef import_cache_methods[];
extern PyMethodDef udf_registry_methods[];
extern PyMethodDef engine_singleton_methods[];
extern PyMethodDef eager_init_methods[];
extern PyMethodDef detach_before_block_methods[];
extern PyMethodDef attach_once_methods[];
extern PyMethodDef call_frame_methods[];
extern PyMethodDef shared_refcounts_methods[];
extern PyMethodDef string_fast_path_methods[];
extern PyMethodDef object_scan_methods[];
extern PyMethodDef arrow_zero_copy_methods[];
