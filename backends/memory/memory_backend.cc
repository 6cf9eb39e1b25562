#include "backends/memory/memory_backend.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "backends/stream/stream_session.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/settings.h"
#include "profiler/record/host/host.h"

namespace kymo {
namespace {

enum class HeapMode { kAll, kSampled, kCounters, kReports };

struct MemorySettings {
  HeapMode mode = HeapMode::kAll;
  uint64_t interval = 512 << 10;  // bytes
  bool stacks = true;             // for a child
  bool mappings = false;
  int64_t fold_above = -1;  // records; -1 = never
};

// Without a default in help: it depends on the files, which `purpose` says.
SettingValue<MemorySettings> FoldAbove() {
  SettingValue<MemorySettings> value =
      setting::Integer(&MemorySettings::fold_above, -1);
  value.text = [](const MemorySettings&) { return std::string(); };
  return value;
}

SettingTable<MemorySettings> MemoryTable() {
  using S = MemorySettings;
  return SettingTable<S>(
      "memory",
      {{.name = "mode",
        .value = setting::Word(&S::mode, {{"all", HeapMode::kAll},
                                          {"counters", HeapMode::kCounters},
                                          {"reports", HeapMode::kReports},
                                          {"sampled", HeapMode::kSampled}}),
        .purpose = "What --profile_memory records: every allocation (all), "
                   "one in memory_interval bytes, unbiased (sampled), numbers "
                   "per thread only (counters), or what the program itself "
                   "reports, and no heap (reports)."},
       {.name = "interval",
        .value = setting::Integer(&S::interval, 1, int64_t{1} << 40, "bytes"),
        .purpose = "How far apart samples are with memory_mode=sampled."},
       {.name = "stacks",
        .value = setting::Switch(&S::stacks),
        .purpose = "Keep the stack of each allocation. Within a process the "
                   "default is that of with_stack."},
       {.name = "mappings",
        .value = setting::Switch(&S::mappings),
        .purpose = "Record mmap, munmap and mremap of the program, too."},
       {.name = "fold_above",
        .value = FoldAbove(),
        .purpose = "In a child: keep exact sums instead of single records if "
                   "a program makes more heap records than this, and does "
                   "not say what its memory is for. -1: keep all. The default "
                   "is the most records that a file shows one by one, such as "
                   "chrome_memory_events; -1 if a file shows all."}});
}

stream::StreamRequest RequestFor(const MemorySettings& settings) {
  stream::StreamRequest request = {.flags = record::kGateMemory,
                                   .watches_heap = true};
  switch (settings.mode) {
    case HeapMode::kAll:
      request.flags |= record::kGateHeap;
      break;
    case HeapMode::kSampled:
      request.flags |= record::kGateHeap | record::kGateHeapSampled;
      request.heap_sample_interval = settings.interval;
      break;
    case HeapMode::kCounters:
      request.flags |= record::kGateHeapCounts;
      break;
    case HeapMode::kReports:
      break;
  }
  const bool watches = (request.flags & record::kHeapModeFlags) != 0;
  if (watches && settings.stacks) request.flags |= record::kGateHeapStacks;
  if (settings.mappings) request.flags |= record::kGateMapped;
  if (settings.fold_above >= 0) {
    request.fold_heap_above = static_cast<uint64_t>(settings.fold_above);
  }
  return request;
}

class MemoryBackend : public ActivityBackend {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  std::vector<model::ActivityType> activity_types() const override {
    return {model::ActivityType::kCpuInstantEvent};
  }

  bool CanAttach() const override { return true; }

  absl::Status Availability(const SessionOptions& options) const override {
    return stream::StreamAvailability(options);
  }

  bool IsWanted(const std::set<std::string>& named,
                const SessionOptions& options) const override {
    return named.contains(info_.name) || options.profile_memory;
  }

  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    MemorySettings defaults;
    if (options.target == TargetKind::kThisProcess) {
      defaults.stacks = options.with_stack;
    }
    KYMO_ASSIGN_OR_RETURN(const MemorySettings settings,
                          MemoryTable().Read(options.settings, defaults));
    return stream::NewStreamSession(options, RequestFor(settings));
  }

 private:
  const PluginInfo info_ = {
      .name = "memory",
      .purpose = "allocations and frees, as with profile_memory",
      .settings = MemoryTable().infos()};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewMemoryBackend() {
  return std::make_unique<MemoryBackend>();
}

}  // namespace kymo
