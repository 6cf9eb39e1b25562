// memory_layers.h - how much memory was alive over time, in layers: by the
// operation that allocated it, or by the function if there are no operations.
//
//   for (const MemoryLayers& pool :
//        LayersOfMemory(trace, ProfileMemory(trace), {})) {
//     for (const MemoryRow& row : pool.rows) Draw(row.time_ns, row.bytes);
//   }
//
// The layers are the operations, or functions of the program, that hold most of
// the pool's peak. What others hold is the last layer. Sums of folded memory
// (profiler/model/folded_memory.h) have this one alone.
//
// The time is cut into equal slots. A slot that has changes has at most two
// rows: its moment with the most memory, and its last one. A row holds until
// the next one.
//
// Cost: a sort of the allocations and frees. Memory: 4 bytes for each
// allocation, and 24 for each allocation and free of the largest pool.
// Threads: values.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_LAYERS_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_LAYERS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/analysis/memory/memory_pools.h"
#include "profiler/analysis/memory/memory_profile.h"
#include "profiler/base/time.h"
#include "profiler/model/string_table.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct MemoryRow {
  TimeNs time_ns = 0;
  std::vector<int64_t> bytes;  // by layer

  friend bool operator==(const MemoryRow&, const MemoryRow&) = default;
};

struct MemoryLayers {
  MemoryPool pool;
  bool has_operations = false;  // the names are those of operations
  // Of all layers but the last. kEmptyName: outside of all operations, or
  // functions without a name.
  std::vector<model::NameId> names;
  std::vector<MemoryRow> rows;  // by time
};

struct MemoryLayerLimits {
  size_t names = 7;
  int64_t slots = 1'000;
};

// For each of the profiles that has blocks, in their order.
std::vector<MemoryLayers> LayersOfMemory(
    const model::Trace& trace, std::span<const MemoryProfile> profiles,
    const MemoryLayerLimits& limits);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_LAYERS_H_
