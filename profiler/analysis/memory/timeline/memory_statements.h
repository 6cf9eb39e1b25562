// memory_statements.h - what the program said of its memory (kymo/memory.h).
//
//   const MemoryStatements said = ReadMemoryStatements(trace, device);
//   for (const MemoryStatement& statement : said.of_blocks) {
//     statement.category ...
//   }
//
// Statements are instants of the trace (profiler/base/memory_category.h).
// Instants of these names with other arguments are left out.
//
// Cost: nothing if the trace has no instant of such a name, else linear in its
//   events.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_TIMELINE_MEMORY_STATEMENTS_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_TIMELINE_MEMORY_STATEMENTS_H_

#include <cstdint>
#include <vector>

#include "profiler/analysis/memory/memory_device.h"
#include "profiler/base/memory_category.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// One statement about one block.
struct MemoryStatement {
  TimeNs time_ns = 0;
  int64_t pid = 0;
  uint64_t address = 0;
  int64_t bytes = 0;
  bool is_new_version = false;                         // else:
  MemoryCategory category = MemoryCategory::kUnknown;  // of the block
};

// What a thread allocates from `time_ns` on has the category, until the next
// entry of the thread. kUnknown: nothing was said.
struct MemoryScopeChange {
  model::TrackIndex track = 0;
  TimeNs time_ns = 0;
  MemoryCategory category = MemoryCategory::kUnknown;
};

struct MemoryStatements {
  std::vector<MemoryStatement> of_blocks;  // of one device, in trace order
  std::vector<MemoryScopeChange> scopes;   // by track, then time
};

MemoryStatements ReadMemoryStatements(const model::Trace& trace,
                                      MemoryDeviceId device);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_TIMELINE_MEMORY_STATEMENTS_H_
