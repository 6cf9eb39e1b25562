#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "importers/nsys/nsys_file.h"
#include "profiler/base/device_type.h"
#include "profiler/model/records.h"

namespace kymo::nsys {
namespace {

using sqlite::kRequired;
using sqlite::Rows;

// Nsight Systems' kinds of memory.
constexpr int64_t kPageable = 0;
constexpr int64_t kPinned = 1;
constexpr int64_t kFreed = 1;  // a memoryOperationType; 0 = allocated

struct Change {
  model::MemoryRecord record;
  int64_t pid = 0;
};

std::optional<Change> ReadChange(File& file, Rows& table) {
  enum {
    kStart,
    kGlobalPid,
    kDevice,
    kAddress,
    kBytes,
    kKind,
    kOperation,
    kId
  };
  const std::optional<TimeNs> time = file.rows.TimeOf(table.Int(kStart));
  const std::optional<int64_t> bytes = table.Int(kBytes);
  if (!time || !bytes || *bytes < 0) {
    file.rows.LeaveOut(sqlite::Severity::kWarning, "memory_impossible",
                       "a change of memory has no time or size that can be");
    return std::nullopt;
  }
  const int64_t pid = ThreadOf(table.IntOr(kGlobalPid, 0)).pid;
  const auto call = file.calls.find({pid, table.IntOr(kId, 0)});
  const ThreadId thread =
      call == file.calls.end() ? ThreadId{pid, pid} : call->second;
  const int64_t kind = table.IntOr(kKind, kPinned + 1);
  const bool is_host = kind == kPageable || kind == kPinned;
  const bool is_free = table.IntOr(kOperation, 0) == kFreed;
  return Change{
      .record = {.track = file.rows.Thread(thread.pid, thread.tid),
                 .device_type = static_cast<int8_t>(
                     is_host ? DeviceType::kCpu : DeviceType::kCuda),
                 .device_index = static_cast<int8_t>(std::clamp<int64_t>(
                     is_host ? -1 : table.IntOr(kDevice, 0), -1, 127)),
                 .time_ns = *time,
                 .address = static_cast<uint64_t>(table.IntOr(kAddress, 0)),
                 .bytes = is_free ? -*bytes : *bytes},
      .pid = pid};
}

}  // namespace

void ReadDeviceMemory(File& file) {
  Rows table = file.db.Read("CUDA_GPU_MEMORY_USAGE_EVENTS",
                            {{"start", kRequired},
                             {"globalPid"},
                             {"deviceId"},
                             {"address"},
                             {"bytes", kRequired},
                             {"memKind"},
                             {"memoryOperationType", kRequired},
                             {"correlationId"}},
                            file.rows.findings());
  std::vector<Change> changes;
  while (table.Next()) {
    if (std::optional<Change> change = ReadChange(file, table)) {
      changes.push_back(*change);
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) {
                     return a.record.time_ns < b.record.time_ns;
                   });
  // By process and device. Unsigned, since a broken file may overflow it.
  std::map<std::pair<int64_t, int8_t>, uint64_t> allocated;
  for (Change& change : changes) {
    uint64_t& total = allocated[{change.pid, change.record.device_index}];
    total += static_cast<uint64_t>(change.record.bytes);
    change.record.total_allocated = static_cast<int64_t>(total);
    file.rows.AddMemory(change.record);
  }
}

}  // namespace kymo::nsys
