// allocation_stack.h - the stack of an allocation for people: it shows who
// asked for memory, and leaves out how the allocator was reached.
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

// Whether `function` belongs to the allocator of the C or C++ library.
// `function` is demangled, with or without its parameters.
bool IsAllocationFunction(std::string_view function);

// At most `limit` frames, innermost first. The first one is the innermost frame
// that is no allocation function; if all frames are, the innermost. A frame
// without a known source line shows its module instead.
std::vector<std::string> AllocationStack(const model::Trace& trace,
                                         model::StackId stack, size_t limit);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_ALLOCATION_STACK_H_
