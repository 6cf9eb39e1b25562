#include "backends/cupti/decode/memory_decoder.h"

#include <algorithm>
#include <string>

#include "backends/cupti/decode/activity_names.h"
#include "profiler/base/device_type.h"

namespace kymo::cupti {
namespace {

constexpr uint8_t kAllocation = 1;
constexpr uint8_t kRelease = 2;
// CUPTI's kinds of memory.
constexpr uint8_t kPageable = 1;
constexpr uint8_t kPinned = 2;
// CUPTI's type for a pool of this process.
constexpr uint32_t kLocalPool = 1;
constexpr uint32_t kPoolDestroyed = 2;
// Stands for "no device".
constexpr uint32_t kOfHost = 0xffffffffu;
constexpr uint32_t kHostFaults = 3;

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
  if (memory.pool_type == kLocalPool) {
    SetPool(memory.device, memory.pool_address, log_time, memory.pool_used);
  }
}

void MemoryDecoder::SetPool(uint32_t device, uint64_t address, uint64_t time,
                            uint64_t used) {
  pools_[device].push_back({tables_.clock().ToEpochNs(time), address, used});
}

// Nobody says how much a pool of another process holds.
void MemoryDecoder::Pool(const PoolRecord& pool) {
  if (pool.time == 0 || pool.pool_type != kLocalPool) return;
  SetPool(pool.device, pool.address, pool.time,
          pool.operation == kPoolDestroyed ? 0 : pool.used);
}

void MemoryDecoder::PoolCounters() {
  model::TraceShard& shard = writer_.shard();
  for (auto& [device, changes] : pools_) {
    std::stable_sort(changes.begin(), changes.end(),
                     [](const PoolChange& a, const PoolChange& b) {
                       return a.time_ns < b.time_ns;
                     });
    const model::NameId name = shard.strings.Intern(
        "CUDA pools in use, device " + std::to_string(device));
    std::map<uint64_t, uint64_t> used;  // by address
    uint64_t sum = 0;                   // unsigned: odd input may wrap
    for (const PoolChange& change : changes) {
      uint64_t& pool = used[change.address];
      sum += change.used - pool;
      pool = change.used;
      shard.counters.push_back({.track = TrackOf(0),
                                .name = name,
                                .time_ns = change.time_ns,
                                .value = static_cast<double>(sum)});
    }
  }
}

void MemoryDecoder::Unified(const UnifiedRecord& unified) {
  if (UnifiedCounterName(unified.counter).empty()) return;
  if (unified.start == 0) {
    writer_.shard().ledger.Add(model::Loss::kDeviceTimesMissing, 1);
    return;
  }
  // A fault of the host has the address in `value`, and no meaning in `from`.
  const bool is_host = unified.counter == kHostFaults;
  faults_[{is_host ? kOfHost : unified.from, unified.counter}].emplace_back(
      tables_.clock().ToEpochNs(unified.start), is_host ? 1 : unified.value);
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
    const auto& [device, counter] = key;
    std::string name =
        "Unified memory: " + std::string(UnifiedCounterName(counter));
    if (device != kOfHost) name += ", device " + std::to_string(device);
    add_curve(name, changes);
  }
  PoolCounters();
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
