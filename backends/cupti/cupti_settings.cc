#include "backends/cupti/cupti_settings.h"

#include <charconv>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"

namespace kymo::cupti {
namespace {

std::string Setting(const SessionOptions& options, const std::string& name,
                    const std::string& otherwise) {
  const auto it = options.settings.find(name);
  return it == options.settings.end() ? otherwise : it->second;
}

// The value as one of two words.
absl::StatusOr<bool> IsSecond(const SessionOptions& options,
                              const std::string& name, const char* first,
                              const char* second, const char* otherwise) {
  const std::string text = Setting(options, name, otherwise);
  if (text == first) return false;
  if (text == second) return true;
  return absl::InvalidArgumentError(absl::StrCat(
      name, " is '", text, "'; it takes one of: ", first, ", ", second));
}

absl::StatusOr<uint64_t> Number(const SessionOptions& options,
                                const std::string& name, const char* otherwise,
                                uint64_t min, uint64_t max) {
  const std::string text = Setting(options, name, otherwise);
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < min || number > max) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is '", text, "'; it takes a whole number from ",
                     min, " to ", max));
  }
  return number;
}

}  // namespace

absl::StatusOr<CuptiSettings> ParseCuptiSettings(
    const SessionOptions& options) {
  CuptiSettings settings;
  uint32_t& flags = settings.capture.flags;
  flags = 0;
  const auto add = [&](const char* name, const char* first, const char* second,
                       const char* otherwise, uint32_t flag) -> absl::Status {
    KYMO_ASSIGN_OR_RETURN(const bool is_on,
                          IsSecond(options, name, first, second, otherwise));
    if (is_on) flags |= flag;
    return absl::OkStatus();
  };
  KYMO_RETURN_IF_ERROR(add("cuda_sync", "0", "1", "1", kCaptureSync));
  KYMO_RETURN_IF_ERROR(add("cuda_unified", "0", "1", "0", kCaptureUnified));
  KYMO_RETURN_IF_ERROR(
      add("cuda_graphs", "nodes", "whole", "nodes", kCaptureGraphs));
  KYMO_RETURN_IF_ERROR(add("cuda_latency", "0", "1", "0", kCaptureLatency));
  KYMO_RETURN_IF_ERROR(add("cuda_markers", "0", "1", "0", kCaptureMarkers));
  if (options.profile_memory) flags |= kCaptureMemory;
  KYMO_ASSIGN_OR_RETURN(settings.with_queries,
                        IsSecond(options, "cuda_calls", "work", "all", "work"));
  KYMO_ASSIGN_OR_RETURN(const bool check_device,
                        IsSecond(options, "cuda_device_check", "0", "1", "1"));
  if (!check_device) settings.device_check = DeviceCheck::kNone;
  KYMO_ASSIGN_OR_RETURN(const uint64_t buffer_kib,
                        Number(options, "cuda_buffer_kib", "256", 64, 65536));
  settings.capture.buffer_bytes = buffer_kib << 10;
  KYMO_ASSIGN_OR_RETURN(const uint64_t flush_ms,
                        Number(options, "cuda_flush_ms", "100", 10, 60'000));
  settings.flush_ms = static_cast<unsigned>(flush_ms);
  settings.save_folder = Setting(options, "cuda_save", "");
  return settings;
}

std::vector<PluginOption> CuptiOptions() {
  return {
      {"cuda_sync", "1", "waits for the device, and CUDA events: 0 or 1"},
      {"cuda_unified", "0",
       "transfers and page faults of unified memory: 0 or 1"},
      {"cuda_graphs", "nodes",
       "what of a launched graph is recorded: its nodes, or the whole"},
      {"cuda_latency", "0",
       "when kernels were queued and submitted, too, which takes time; only "
       "where CUDA is initialised after the start: 0 or 1"},
      {"cuda_markers", "0",
       "1: what the program says through NVTX, as CUPTI hears it, in place of "
       "capture_nvtx"},
      {"cuda_calls", "work",
       "calls of the runtime and driver: work (those that do something) or "
       "all (those that only ask, too)"},
      {"cuda_buffer_kib", "256",
       "size of one of CUPTI's buffers, KiB; a killed program loses one of "
       "each "
       "thread"},
      {"cuda_flush_ms", "100", "how often finished activities are taken, ms"},
      {"cuda_device_check", "1",
       "0: record though /dev shows no device of NVIDIA's"},
      {"cuda_save", "",
       "a folder for what CUPTI said, to look into or decode again"},
  };
}

}  // namespace kymo::cupti
