// stream_settings.h - what the user may choose about the records of threads,
// whichever backends make them.
//
//   KYMO_ASSIGN_OR_RETURN(const StreamSettings settings,
//                         ReadStreamSettings(options));
//
// Their names begin with `cpu_`, and the `cpu` backend lists them.
#ifndef KYMO_BACKENDS_STREAM_STREAM_SETTINGS_H_
#define KYMO_BACKENDS_STREAM_STREAM_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/stream/flight_recorder.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/settings.h"
#include "profiler/record/host/host.h"

namespace kymo::stream {

struct StreamSettings {
  uint64_t arena_mib = 256;                                   // for a child
  record::FullPolicy when_full = record::FullPolicy::kDrain;  // for a child
  bool keep_raw = false;
  std::optional<uint64_t> max_memory;  // bytes
  std::optional<uint64_t> max_disk;    // bytes
  std::optional<FlightLimit> flight_recorder;
};

// The defaults are those of the options' target. A flight recorder overwrites:
// with a `when_full` of the user's it is kInvalidArgument.
absl::StatusOr<StreamSettings> ReadStreamSettings(
    const SessionOptions& options);

// The settings as they are declared, for PluginInfo.
std::vector<SettingInfo> StreamSettingInfos();

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_STREAM_SETTINGS_H_
