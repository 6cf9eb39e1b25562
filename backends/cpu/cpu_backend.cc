#include "backends/cpu/cpu_backend.h"

#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/child_session.h"
#include "backends/cpu/flight_recorder.h"
#include "backends/cpu/local_session.h"
#include "backends/cpu/trace_memory.h"
#include "profiler/base/status_macros.h"
#include "profiler/record/host/host.h"

namespace kymo {
namespace {

using record::FullPolicy;

constexpr uint64_t kMib = uint64_t{1} << 20;

std::string Setting(const SessionOptions& options, const std::string& name,
                    const char* otherwise) {
  const auto it = options.settings.find(name);
  return it == options.settings.end() ? otherwise : it->second;
}

absl::StatusOr<uint64_t> ParseArenaBytes(const std::string& text) {
  uint64_t mib = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, mib);
  if (error != std::errc() || stop != end || mib < 1 || mib > 65536) {
    return absl::InvalidArgumentError(absl::StrCat(
        "arena_mib is '", text, "'; it takes a whole number from 1 to 65536"));
  }
  return mib * kMib;
}

absl::StatusOr<FullPolicy> ParsePolicy(const std::string& text) {
  if (text == "stop") return FullPolicy::kStop;
  if (text == "overwrite") return FullPolicy::kOverwrite;
  if (text == "drain") return FullPolicy::kDrain;
  return absl::InvalidArgumentError(absl::StrCat(
      "when_full is '", text, "'; it takes one of: drain, overwrite, stop"));
}

absl::StatusOr<std::optional<cpu::FlightLimit>> ParseFlight(
    const SessionOptions& options) {
  const std::string text = Setting(options, "flight_recorder", "");
  if (text.empty()) return std::nullopt;
  if (options.settings.contains("when_full")) {
    return absl::InvalidArgumentError(
        "a flight recorder overwrites when it is full: leave out when_full");
  }
  KYMO_ASSIGN_OR_RETURN(const cpu::FlightLimit limit,
                        cpu::ParseFlightLimit(text));
  return limit;
}

// What the settings say about the heap.
struct HeapSettings {
  record::RecordFlags flags = 0;
  uint64_t sample_interval = 0;  // bytes; 0 = every allocation
};

absl::StatusOr<bool> ParseSwitch(const std::string& name,
                                 const std::string& text) {
  if (text == "0" || text == "1") return text == "1";
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is '", text, "'; it takes 0 or 1"));
}

absl::StatusOr<HeapSettings> ParseHeap(const SessionOptions& options) {
  HeapSettings heap;
  const std::string mode = Setting(options, "memory_mode", "all");
  const std::string interval = Setting(options, "memory_interval", "524288");
  uint64_t bytes = 0;
  const char* const end = interval.data() + interval.size();
  const auto [stop, error] = std::from_chars(interval.data(), end, bytes);
  if (error != std::errc() || stop != end || bytes < 1 ||
      bytes > uint64_t{1} << 40) {
    return absl::InvalidArgumentError(
        absl::StrCat("memory_interval is '", interval,
                     "'; it takes a whole number of bytes from 1 to 2^40"));
  }
  const bool child = options.target == TargetKind::kChildProcess;
  KYMO_ASSIGN_OR_RETURN(
      const bool stacks,
      ParseSwitch("memory_stacks",
                  Setting(options, "memory_stacks",
                          child || options.with_stack ? "1" : "0")));
  KYMO_ASSIGN_OR_RETURN(
      const bool mappings,
      ParseSwitch("memory_mappings", Setting(options, "memory_mappings", "0")));
  if (mode == "all") {
    heap.flags = record::kGateHeap;
  } else if (mode == "sampled") {
    heap.flags = record::kGateHeap | record::kGateHeapSampled;
    heap.sample_interval = bytes;
  } else if (mode == "counters") {
    heap.flags = record::kGateHeapCounts;
  } else if (mode != "reports") {
    return absl::InvalidArgumentError(
        absl::StrCat("memory_mode is '", mode,
                     "'; it takes one of: all, counters, reports, sampled"));
  }
  if (stacks && heap.flags != 0) heap.flags |= record::kGateHeapStacks;
  if (mappings) heap.flags |= record::kGateMapped;
  if (!options.profile_memory) heap = {};
  return heap;
}

// Which interfaces of others are listened to, and whether Kymo's own is.
absl::StatusOr<record::RecordFlags> ParseCapture(
    const SessionOptions& options) {
  KYMO_ASSIGN_OR_RETURN(
      const bool nvtx,
      ParseSwitch("capture_nvtx", Setting(options, "capture_nvtx", "1")));
  KYMO_ASSIGN_OR_RETURN(
      const bool itt,
      ParseSwitch("capture_itt", Setting(options, "capture_itt", "0")));
  KYMO_ASSIGN_OR_RETURN(const bool ranges,
                        ParseSwitch("ranges", Setting(options, "ranges", "1")));
  record::RecordFlags flags = ranges ? 0 : record::kRangesOff;
  if (nvtx) flags |= record::kGateNvtx;
  if (itt) flags |= record::kGateItt;
  return flags;
}

record::RecordFlags WantedFlags(const SessionOptions& options,
                                const HeapSettings& heap,
                                record::RecordFlags capture) {
  record::RecordFlags flags = heap.flags | capture;
  if (options.profile_memory) flags |= record::kGateMemory;
  if (flags & record::kRangesOff) return flags;
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
    const bool child = options.target == TargetKind::kChildProcess;
    KYMO_ASSIGN_OR_RETURN(
        const uint64_t arena_bytes,
        ParseArenaBytes(Setting(options, "arena_mib", child ? "256" : "1024")));
    KYMO_ASSIGN_OR_RETURN(
        const FullPolicy policy,
        ParsePolicy(Setting(options, "when_full", child ? "drain" : "stop")));
    if (!child && arena_bytes > record::kLocalCapacityBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("arena_mib is ", arena_bytes / kMib,
                       "; within a process it is at most ",
                       record::kLocalCapacityBytes / kMib));
    }
    KYMO_ASSIGN_OR_RETURN(const HeapSettings heap, ParseHeap(options));
    KYMO_ASSIGN_OR_RETURN(const record::RecordFlags capture,
                          ParseCapture(options));
    const record::RecordFlags flags = WantedFlags(options, heap, capture);
    KYMO_ASSIGN_OR_RETURN(
        const bool keep_raw,
        ParseSwitch("keep_raw", Setting(options, "keep_raw", "0")));
    const std::string max_memory = Setting(options, "max_memory", "");
    KYMO_RETURN_IF_ERROR(cpu::MemoryLimit(max_memory).status());
    if (child) {
      KYMO_ASSIGN_OR_RETURN(const std::optional<cpu::FlightLimit> flight,
                            ParseFlight(options));
      return cpu::NewChildSession(
          {.target_path = options.target_path,
           .arena_bytes =
               flight && flight->bytes != 0 ? flight->bytes : arena_bytes,
           .policy = flight ? FullPolicy::kOverwrite : policy,
           .flags = flags,
           .heap_sample_interval = heap.sample_interval,
           .scratch_dir = options.scratch_dir,
           .keep_raw = keep_raw,
           .max_memory = max_memory,
           .flight = flight});
    }
    if (policy == FullPolicy::kDrain) {
      return absl::InvalidArgumentError(
          "when_full=drain needs a collector: it is for //tools:profile; "
          "within a process it takes one of: overwrite, stop");
    }
    return cpu::NewLocalSession({.scope = options.all_threads
                                              ? record::SessionScope::kProcess
                                              : record::SessionScope::kThread,
                                 .flags = flags,
                                 .chunk_bytes_total = arena_bytes,
                                 .policy = policy,
                                 .heap_sample_interval = heap.sample_interval});
  }

 private:
  const PluginInfo info_ = {
      .name = "cpu",
      .purpose =
          "annotated ranges, instants and counters of the program, and its "
          "memory with profile_memory",
      .options =
          {{"arena_mib", "256", "memory for records, MiB"},
           {"when_full", "drain",
            "what to do when it is full: drain, overwrite or stop"},
           {"keep_raw", "0",
            "1: of a child, everything is kept as it was recorded, in kymo.raw "
            "in the output folder, even if this command is killed; "
            "//tools:report reads it"},
           {"max_memory", "",
            "memory that making a trace of a child may take, as 512MiB or "
            "4GiB: what would take more is left in kymo.raw, and comes out as "
            "table and stacks; default: three quarters of what is left"},
           {"memory_mode", "all",
            "with profile_memory: all (every allocation), sampled (one "
            "in memory_interval bytes, unbiased), counters (numbers "
            "per thread only) or reports (what the program itself "
            "reports, and no heap)"},
           {"memory_interval", "524288",
            "bytes per sample with memory_mode=sampled"},
           {"memory_stacks", "1",
            "whether an allocation keeps its stack: 0 or 1; within a "
            "process the default is that of with_stack"},
           {"memory_mappings", "0",
            "1: mmap, munmap and mremap of the program, too"},
           {"ranges", "1",
            "what the program says through Kymo: 0 or 1; 0 is the default "
            "where only nvtx or itt is asked for"},
           {"capture_nvtx", "1",
            "what libraries say through NVTX, too: 0 or 1"},
           {"capture_itt", "0",
            "what libraries say through ITT, too, such as oneTBB each of its "
            "tasks: 0 or 1"}},
      .parts = {{"itt", "what libraries say through ITT", "capture_itt"},
                {"nvtx", "what libraries say through NVTX", "capture_nvtx"}},
      .rest_option = "ranges"};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewCpuBackend() {
  return std::make_unique<CpuBackend>();
}

}  // namespace kymo
