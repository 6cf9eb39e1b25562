#include "backends/cpu/cpu_backend.h"

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/child_session.h"
#include "backends/cpu/cpu_settings.h"
#include "backends/cpu/local_session.h"
#include "profiler/base/status_macros.h"
#include "profiler/record/host/host.h"

namespace kymo {
namespace {

using record::FullPolicy;

constexpr uint64_t kMib = uint64_t{1} << 20;

// The settings of the heap.
struct HeapRequest {
  record::RecordFlags flags = 0;
  uint64_t sample_interval = 0;  // bytes; 0 = every allocation
};

absl::StatusOr<HeapRequest> RequestHeap(const SessionOptions& options) {
  KYMO_ASSIGN_OR_RETURN(const cpu::MemorySettings settings,
                        cpu::ReadMemorySettings(options));
  if (!options.profile_memory) return HeapRequest();
  HeapRequest heap;
  switch (settings.mode) {
    case cpu::HeapMode::kAll:
      heap.flags = record::kGateHeap;
      break;
    case cpu::HeapMode::kSampled:
      heap.flags = record::kGateHeap | record::kGateHeapSampled;
      heap.sample_interval = settings.interval;
      break;
    case cpu::HeapMode::kCounters:
      heap.flags = record::kGateHeapCounts;
      break;
    case cpu::HeapMode::kReports:
      break;
  }
  const bool stacks = settings.stacks.value_or(
      options.target == TargetKind::kChildProcess || options.with_stack);
  if (stacks && heap.flags != 0) heap.flags |= record::kGateHeapStacks;
  if (settings.mappings) heap.flags |= record::kGateMapped;
  return heap;
}

record::RecordFlags WantedFlags(const SessionOptions& options,
                                record::RecordFlags heap, bool ranges,
                                bool nvtx, bool itt) {
  record::RecordFlags flags = heap;
  if (nvtx) flags |= record::kGateNvtx;
  if (itt) flags |= record::kGateItt;
  if (options.profile_memory) flags |= record::kGateMemory;
  if (!ranges) return flags | record::kRangesOff;
  if (options.record_shapes) flags |= record::kGateInputs;
  if (options.with_stack) flags |= record::kGateStacks;
  if (options.with_modules) flags |= record::kGateModules;
  return flags;
}

class CpuBackend : public ActivityBackend {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  std::vector<model::ActivityType> activity_types() const override {
    return {model::ActivityType::kCpuOp, model::ActivityType::kUserAnnotation,
            model::ActivityType::kCpuInstantEvent,
            model::ActivityType::kNvtxRange, model::ActivityType::kIttTask};
  }

  absl::Status Availability(const SessionOptions&) const override {
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    KYMO_ASSIGN_OR_RETURN(const cpu::CpuSettings settings,
                          cpu::ReadCpuSettings(options));
    KYMO_ASSIGN_OR_RETURN(const HeapRequest heap, RequestHeap(options));
    KYMO_ASSIGN_OR_RETURN(const cpu::NvtxSettings nvtx,
                          cpu::ReadNvtxSettings(options));
    KYMO_ASSIGN_OR_RETURN(const cpu::IttSettings itt,
                          cpu::ReadIttSettings(options));
    const record::RecordFlags flags = WantedFlags(
        options, heap.flags, settings.ranges, nvtx.capture, itt.capture);
    return options.target == TargetKind::kChildProcess
               ? NewChild(options, settings, flags, heap.sample_interval)
               : NewLocal(options, settings, flags, heap.sample_interval);
  }

 private:
  static absl::StatusOr<std::unique_ptr<ActivitySession>> NewChild(
      const SessionOptions& options, const cpu::CpuSettings& settings,
      record::RecordFlags flags, uint64_t heap_sample_interval) {
    const std::optional<cpu::FlightLimit>& flight = settings.flight_recorder;
    if (flight && settings.when_full) {
      return absl::InvalidArgumentError(
          "a flight recorder overwrites when it is full: leave out "
          "cpu_when_full");
    }
    return cpu::NewChildSession(
        {.target_path = options.target_path,
         .arena_bytes = flight && flight->bytes != 0
                            ? flight->bytes
                            : settings.arena_mib * kMib,
         .policy = flight ? FullPolicy::kOverwrite
                          : settings.when_full.value_or(FullPolicy::kDrain),
         .flags = flags,
         .heap_sample_interval = heap_sample_interval,
         .scratch_dir = options.scratch_dir,
         .keep_raw = settings.keep_raw,
         .max_memory = settings.max_memory,
         .flight = flight});
  }

  static absl::StatusOr<std::unique_ptr<ActivitySession>> NewLocal(
      const SessionOptions& options, const cpu::CpuSettings& settings,
      record::RecordFlags flags, uint64_t heap_sample_interval) {
    const uint64_t arena_bytes = settings.arena_mib * kMib;
    if (arena_bytes > record::kLocalCapacityBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("cpu_arena_mib is '", settings.arena_mib,
                       "'; within a process it is at most ",
                       record::kLocalCapacityBytes / kMib));
    }
    const FullPolicy policy = settings.when_full.value_or(FullPolicy::kStop);
    if (policy == FullPolicy::kDrain) {
      return absl::InvalidArgumentError(
          "cpu_when_full=drain needs a collector: it is for //tools:profile; "
          "within a process it takes one of: overwrite, stop");
    }
    return cpu::NewLocalSession({.scope = options.all_threads
                                              ? record::SessionScope::kProcess
                                              : record::SessionScope::kThread,
                                 .flags = flags,
                                 .chunk_bytes_total = arena_bytes,
                                 .policy = policy,
                                 .heap_sample_interval = heap_sample_interval});
  }

  const PluginInfo info_ = {
      .name = "cpu",
      .purpose =
          "annotated ranges, instants and counters of the program, and its "
          "memory with profile_memory",
      .settings = cpu::CpuSettingInfos(),
      .parts = {{"itt", "what libraries say through ITT", "itt_capture"},
                {"nvtx", "what libraries say through NVTX", "nvtx_capture"}},
      .rest_setting = "cpu_ranges"};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewCpuBackend() {
  return std::make_unique<CpuBackend>();
}

}  // namespace kymo
