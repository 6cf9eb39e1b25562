#include "backends/cupti/cupti_settings.h"

#include <cstdint>

#include "profiler/base/status_macros.h"

namespace kymo::cupti {
namespace {

// The settings as the user writes them.
struct Choices {
  bool sync = true;
  bool unified = false;
  bool whole_graphs = false;
  bool latency = false;
  bool markers = false;
  bool all_calls = false;
  uint64_t buffer_kib = CaptureSettings().buffer_bytes >> 10;
  unsigned flush_ms = CuptiSettings().flush_ms;
  bool device_check = true;
  std::string save;
};

SettingTable<Choices> CudaTable() {
  using S = Choices;
  return SettingTable<S>(
      "cuda",
      {{.name = "sync",
        .value = setting::Switch(&S::sync),
        .purpose = "Record waits for the device, and CUDA events."},
       {.name = "unified",
        .value = setting::Switch(&S::unified),
        .purpose = "Record transfers and page faults of unified memory."},
       {.name = "graphs",
        .value = setting::Word(&S::whole_graphs,
                               {{"nodes", false}, {"whole", true}}),
        .purpose = "What of a launched graph is recorded: its nodes, or the "
                   "whole as one."},
       {.name = "latency",
        .value = setting::Switch(&S::latency),
        .purpose = "Record when kernels were queued and submitted, too. That "
                   "takes time, and works only where CUDA is initialised "
                   "after the start."},
       {.name = "markers",
        .value = setting::Switch(&S::markers),
        .purpose = "Record what the program says through NVTX as CUPTI hears "
                   "it, in place of nvtx_capture."},
       {.name = "calls",
        .value = setting::Word(&S::all_calls, {{"work", false}, {"all", true}}),
        .purpose = "Which calls of the runtime and driver are recorded: those "
                   "that do something (work), or those that only ask, too "
                   "(all)."},
       {.name = "buffer_kib",
        .value = setting::Integer(&S::buffer_kib, 64, 65536, "KiB"),
        .purpose = "Size of one of CUPTI's buffers. A killed program loses "
                   "one of each thread."},
       {.name = "flush_ms",
        .value = setting::Integer(&S::flush_ms, 10, 60'000, "ms"),
        .purpose = "How often finished activities are taken."},
       {.name = "device_check",
        .value = setting::Switch(&S::device_check),
        .purpose = "Record only where /dev shows a device of NVIDIA's."},
       {.name = "save",
        .value = setting::Text(&S::save),
        .purpose = "A folder for what CUPTI said, to look into or decode "
                   "again.",
        .hint = "DIR"}});
}

}  // namespace

absl::StatusOr<CuptiSettings> ParseCuptiSettings(
    const SessionOptions& options) {
  KYMO_ASSIGN_OR_RETURN(const Choices choices,
                        CudaTable().Read(options.settings));
  CuptiSettings settings;
  uint32_t& flags = settings.capture.flags;
  flags = 0;
  if (choices.sync) flags |= kCaptureSync;
  if (choices.unified) flags |= kCaptureUnified;
  if (choices.whole_graphs) flags |= kCaptureGraphs;
  if (choices.latency) flags |= kCaptureLatency;
  if (choices.markers) flags |= kCaptureMarkers;
  if (options.profile_memory) flags |= kCaptureMemory;
  settings.with_queries = choices.all_calls;
  if (!choices.device_check) settings.device_check = DeviceCheck::kNone;
  settings.capture.buffer_bytes = choices.buffer_kib << 10;
  settings.flush_ms = choices.flush_ms;
  settings.save_folder = choices.save;
  return settings;
}

std::vector<SettingInfo> CuptiSettingInfos() { return CudaTable().infos(); }

}  // namespace kymo::cupti
