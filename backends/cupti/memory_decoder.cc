#include "backends/cupti/memory_decoder.h"

#include <algorithm>
#include <string>

#include "backends/cupti/activity_names.h"
#include "profiler/base/device_type.h"

namespace kymo::cupti {
namespace {

constexpr uint8_t kAllocation = 1;
constexpr uint8_t kRelease = 2;
// CUPTI's kinds of memory.
constexpr uint8_t kPageable = 1;
constexpr uint8_t kPinned = 2;

}  // namespace

void MemoryDecoder::Decode(const LogReader& reader) {
  switch (reader.kind()) {
    case RecordKind::kMemory:
      return Memory(reader.Get<MemoryRecord>());
    case RecordKind::kPool:
      return Pool(reader.Get<PoolRecord>());
    case RecordKind::kUnified:
      return Unified(reader.Get<UnifiedRecord>());
    default:
      return;
  }
}

model::TrackIndex MemoryDecoder::TrackOf(uint32_t correlation) {
  const LaunchCall* const call = tables_.Launch(correlation);
  return writer_.Thread(pid_, call == nullptr ? pid_ : int64_t{call->thread})
      .track();
}

void MemoryDecoder::Memory(const MemoryRecord& memory) {
  model::LossLedger& ledger = writer_.shard().ledger;
  if (memory.operation != kAllocation && memory.operation != kRelease) {
    ledger.Add(model::Loss::kRecordsCorrupt, 1);
    return;
  }
  const LaunchCall* const call = tables_.Launch(memory.correlation);
  const uint64_t log_time =
      memory.time != 0 || call == nullptr ? memory.time : call->start;
  if (log_time == 0) {
    ledger.Add(model::Loss::kDeviceTimesMissing, 1);
    return;
  }
  const TimeNs time = tables_.clock().ToEpochNs(log_time);
  const int64_t bytes =
      static_cast<int64_t>(std::min<uint64_t>(memory.bytes, INT64_MAX / 2));
  const int64_t change = memory.operation == kAllocation ? bytes : -bytes;
  if (memory.memory_kind == kPinned || memory.memory_kind == kPageable) {
    pinned_.emplace_back(time, change);
    return;
  }
  model::MemoryRecord record;
  record.track = TrackOf(memory.correlation);
  record.device_type = static_cast<int8_t>(DeviceType::kCuda);
  record.device_index = static_cast<int8_t>(memory.device);
  record.time_ns = time;
  record.address = memory.address;
  record.bytes = change;
  records_.push_back(record);
  if (memory.pool_type != 0) {
    PoolCounter(memory.device, log_time, memory.pool_used);
  }
}

void MemoryDecoder::PoolCounter(uint32_t device, uint64_t time, uint64_t used) {
  model::TraceShard& shard = writer_.shard();
  shard.counters.push_back(
      {.track = TrackOf(0),
       .name = shard.strings.Intern("CUDA pools in use, device " +
                                    std::to_string(device)),
       .time_ns = tables_.clock().ToEpochNs(time),
       .value = static_cast<double>(used)});
}

void MemoryDecoder::Pool(const PoolRecord& pool) {
  if (pool.time != 0) PoolCounter(pool.device, pool.time, pool.used);
}

void MemoryDecoder::Unified(const UnifiedRecord& unified) {
  if (UnifiedCounterName(unified.counter).empty()) return;
  if (unified.start == 0) {
    writer_.shard().ledger.Add(model::Loss::kDeviceTimesMissing, 1);
    return;
  }
  faults_[{unified.from, unified.counter}].emplace_back(
      tables_.clock().ToEpochNs(unified.start), unified.value);
}

void MemoryDecoder::Finish() {
  model::TraceShard& shard = writer_.shard();
  const auto add_curve = [&](const std::string& name, auto& changes) {
    std::stable_sort(
        changes.begin(), changes.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    const model::NameId id = shard.strings.Intern(name);
    double total = 0;
    for (const auto& [time_ns, change] : changes) {
      total += static_cast<double>(change);
      shard.counters.push_back({.track = TrackOf(0),
                                .name = id,
                                .time_ns = time_ns,
                                .value = total});
    }
  };
  if (!pinned_.empty()) add_curve("CUDA pinned host memory", pinned_);
  for (auto& [key, changes] : faults_) {
    add_curve("Unified memory: " + std::string(UnifiedCounterName(key.second)) +
                  ", device " + std::to_string(key.first),
              changes);
  }
  std::stable_sort(
      records_.begin(), records_.end(),
      [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  std::map<int8_t, uint64_t> totals;  // unsigned: odd input may wrap
  for (model::MemoryRecord& record : records_) {
    uint64_t& total = totals[record.device_index];
    total += static_cast<uint64_t>(record.bytes);
    record.total_allocated = static_cast<int64_t>(total);
    shard.memory.push_back(record);
  }
}

}  // namespace kymo::cupti
