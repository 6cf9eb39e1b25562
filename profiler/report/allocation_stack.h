// allocation_stack.h - the stack of an allocation, for people: who asked for
// memory, not how the allocator was reached.
//
//   IsAllocationFunction("operator new(unsigned long)");     // true
//   IsAllocationFunction("std::allocator<int>::allocate");   // true
//   IsAllocationFunction("Pool::allocate(unsigned long)");   // false
//
//   std::vector<std::string> lines = AllocationStack(trace, record.stack, 5);
//   // {"Cache::Fill(int)  cache.cc:12", "main  app.cc:40"}
#ifndef KYMO_PROFILER_REPORT_ALLOCATION_STACK_H_
#define KYMO_PROFILER_REPORT_ALLOCATION_STACK_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/trace.h"

namespace kymo::report {

// Of the C library or the C++ one; `function` is demangled, with or without its
// parameters.
bool IsAllocationFunction(std::string_view function);

// At most `limit` frames, innermost first, from the first one on that is no
// allocation function (if all are, from the innermost). Without a known source
// line, the module stands in its place.
std::vector<std::string> AllocationStack(const model::Trace& trace,
                                         model::StackId stack, size_t limit);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_ALLOCATION_STACK_H_
