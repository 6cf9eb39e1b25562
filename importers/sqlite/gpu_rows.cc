#include "importers/sqlite/gpu_rows.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "importers/sqlite/cuda_names.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/records.h"

namespace kymo::sqlite {
namespace {

using model::ActivityType;

// Begins the detail of the next event, and returns its track.
model::TrackIndex Begin(ShardRows& rows, const GpuWork& work) {
  constexpr int64_t kMaxDevice = std::numeric_limits<int32_t>::max();
  rows.BeginDetail(
      work.correlation > 0 ? static_cast<uint64_t>(work.correlation) : 0);
  if (work.context.has_value()) rows.AddArg("context", *work.context);
  if (work.graph_node.value_or(0) != 0) {
    rows.AddArg("graph node id", *work.graph_node);
  }
  return rows.Stream(work.pid, std::clamp<int64_t>(work.device, 0, kMaxDevice),
                     work.stream);
}

void End(ShardRows& rows, model::TrackIndex track, const GpuWork& work,
         model::NameId name, ActivityType type, uint8_t flags = 0) {
  // In CUPTI's records, 0 and 0 mean that it could not take the times.
  if (work.start_ns.value_or(0) == 0 && work.end_ns.value_or(0) == 0) {
    rows.LeaveOut(Severity::kWarning, "no_times",
                  "device work has no times: start and end are 0");
    return;
  }
  rows.Add(track, {.start_ns = work.start_ns,
                   .end_ns = work.end_ns,
                   .name = name,
                   .type = type,
                   .flags = flags});
}

using Extent = std::array<std::optional<int64_t>, 3>;

void AddExtent(ShardRows& rows, const char* key, const Extent& extent) {
  if (!extent[0] || !extent[1] || !extent[2]) return;
  rows.AddJsonArg(key, absl::StrCat("[", *extent[0], ", ", *extent[1], ", ",
                                    *extent[2], "]"));
}

void AddBytes(ShardRows& rows, const GpuWork& work,
              const std::optional<int64_t>& bytes) {
  if (!bytes.has_value()) return;
  rows.AddArg("bytes", *bytes);
  if (!work.start_ns || !work.end_ns || *work.end_ns <= *work.start_ns) return;
  const double ns =
      static_cast<double>(*work.end_ns) - static_cast<double>(*work.start_ns);
  rows.AddArg("memory bandwidth (GB/s)", static_cast<double>(*bytes) / ns);
}

}  // namespace

void AddKernel(ShardRows& rows, const GpuWork& work, model::NameId name,
               const KernelShape& shape) {
  const model::TrackIndex track = Begin(rows, work);
  if (shape.registers.has_value()) {
    rows.AddArg("registers per thread", *shape.registers);
  }
  if (shape.static_shared_bytes || shape.dynamic_shared_bytes) {
    // Unsigned, because sums of a broken file may wrap around.
    rows.AddArg(
        "shared memory",
        static_cast<int64_t>(uint64_t(shape.static_shared_bytes.value_or(0)) +
                             uint64_t(shape.dynamic_shared_bytes.value_or(0))));
  }
  AddExtent(rows, "grid", shape.grid);
  AddExtent(rows, "block", shape.block);
  End(rows, track, work, name, ActivityType::kConcurrentKernel);
}

void AddCopy(ShardRows& rows, const GpuWork& work, const Copy& copy) {
  const model::TrackIndex track = Begin(rows, work);
  if (copy.source_device) rows.AddArg("fromDevice", *copy.source_device);
  if (copy.destination_device)
    rows.AddArg("toDevice", *copy.destination_device);
  AddBytes(rows, work, copy.bytes);
  End(rows, track, work,
      rows.Intern(CopyName(copy.kind, copy.source, copy.destination)),
      ActivityType::kGpuMemcpy);
}

void AddMemset(ShardRows& rows, const GpuWork& work, int64_t memory_kind,
               std::optional<int64_t> bytes) {
  const model::TrackIndex track = Begin(rows, work);
  AddBytes(rows, work, bytes);
  End(rows, track, work, rows.Intern(MemsetName(memory_kind)),
      ActivityType::kGpuMemset);
}

void AddSync(ShardRows& rows, const GpuWork& work, int64_t sync_type,
             std::optional<int64_t> event) {
  const model::TrackIndex track = Begin(rows, work);
  if (event.has_value()) rows.AddArg("wait_on_cuda_event_id", *event);
  End(rows, track, work, rows.Intern(SyncName(sync_type)),
      ActivityType::kCudaSync, model::kEventAsync);
}

}  // namespace kymo::sqlite
