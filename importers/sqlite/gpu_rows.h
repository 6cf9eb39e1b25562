// gpu_rows.h - adds work of a device, with Kineto's names and arguments.
//
//   AddCopy(rows, {.pid = 7, .device = 0, .stream = 13, .start_ns = 10,
//                  .end_ns = 30, .correlation = 42},
//           {.kind = 1, .source = 1, .destination = 3, .bytes = 4096});
//
// Kinds are CUPTI's numbers (cuda_names.h). Bandwidth is bytes per nanosecond,
// which is GB/s.
#ifndef KYMO_IMPORTERS_SQLITE_GPU_ROWS_H_
#define KYMO_IMPORTERS_SQLITE_GPU_ROWS_H_

#include <array>
#include <cstdint>
#include <optional>

#include "importers/sqlite/shard_rows.h"
#include "profiler/base/time.h"
#include "profiler/model/string_table.h"

namespace kymo::sqlite {

// Where and when the work ran, and what launched it.
struct GpuWork {
  int64_t pid = 0;
  int64_t device = 0;
  int64_t stream = 0;
  std::optional<int64_t> context;
  std::optional<TimeNs> start_ns;
  std::optional<TimeNs> end_ns;
  int64_t correlation = 0;
  std::optional<int64_t> graph_node;
};

// The launch arguments of a kernel, as far as the file tells them.
struct KernelShape {
  std::array<std::optional<int64_t>, 3> grid;
  std::array<std::optional<int64_t>, 3> block;
  std::optional<int64_t> registers;
  std::optional<int64_t> static_shared_bytes;
  std::optional<int64_t> dynamic_shared_bytes;
};

struct Copy {
  int64_t kind = 0;
  int64_t source = 0;
  int64_t destination = 0;
  std::optional<int64_t> bytes;
  // Only for a copy between devices.
  std::optional<int64_t> source_device;
  std::optional<int64_t> destination_device;
};

void AddKernel(ShardRows& rows, const GpuWork& work, model::NameId name,
               const KernelShape& shape);
void AddCopy(ShardRows& rows, const GpuWork& work, const Copy& copy);
void AddMemset(ShardRows& rows, const GpuWork& work, int64_t memory_kind,
               std::optional<int64_t> bytes);

// A wait for a stream, an event or a context. It is asynchronous: it does not
// nest with what the stream does meanwhile.
void AddSync(ShardRows& rows, const GpuWork& work, int64_t sync_type,
             std::optional<int64_t> event);

}  // namespace kymo::sqlite

#endif  // KYMO_IMPORTERS_SQLITE_GPU_ROWS_H_
