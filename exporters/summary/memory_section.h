// memory_section.h - the `memory` member of summary.json.
//
//   WriteMemory(trace, memory, json);   // the key and its object, or nothing
//
//   sample_interval_bytes  0: every allocation was recorded, or only counted
//   pools                  one for each process, source and device; they are
//                          layers of the same bytes: never add them up
//
// A pool (profiler/analysis/memory/memory_profile.h explains the numbers):
//
//   pid, process        `process` is the index in summary.json's processes; -1:
//                       it is not there
//   source              "heap", "mapped" or "reported"
//   device              "cpu", "cuda:0", ...
//   detail              "records", "samples" (all numbers are estimates) or
//                       "counts" (`totals` is the last member, and without
//                       freed_bytes and alive_bytes)
//   totals              allocations, frees, allocated_bytes, freed_bytes,
//                       alive_bytes, out_of_memory
//   peak                bytes, time_us (from the window's start), by_function,
//                       by_stack, by_operation
//   leaks               a list by stack
//   runtime_kept        count, bytes: alive, too, but kept by the C and C++
//                       runtime for itself
//   temporary           count, bytes, share (of allocations), by_stack; not of
//                       samples, which do not tell
//   size_histogram      from_bytes, count: blocks of from_bytes up to, not
//                       with, twice as many; 0 stands for itself. Only what is
//                       not 0.
//   lifetime_histogram  the same with from_ns
//   steps               at most 1000, the first ones: number, start_us, end_us,
//                       live_begin_bytes, live_end_bytes, allocations,
//                       allocated_bytes
//   step_count          before that limit
//
// Lists hold the 50 largest: stack ("FILE(LINE): FUNCTION", innermost first)
// with its place (the innermost function that is neither an allocator's nor a
// library's), function (such a place; "" = no stack) or operation ("" = outside
// of all), count, bytes. A last entry has the rest of the sum. Instead of the
// stack, function or operation it has others: the number of groups.
#ifndef KYMO_EXPORTERS_SUMMARY_MEMORY_SECTION_H_
#define KYMO_EXPORTERS_SUMMARY_MEMORY_SECTION_H_

#include "profiler/analysis/memory/lazy_profiles.h"
#include "profiler/model/trace.h"
#include "profiler/text/json_writer.h"

namespace kymo {

// Nothing where the trace tells nothing about memory.
void WriteMemory(const model::Trace& trace,
                 const analysis::LazyMemoryProfiles& memory,
                 json::JsonWriter& json);

}  // namespace kymo

#endif  // KYMO_EXPORTERS_SUMMARY_MEMORY_SECTION_H_
