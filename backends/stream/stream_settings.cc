#include "backends/stream/stream_settings.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/stream/trace_memory.h"
#include "profiler/base/status_macros.h"

namespace kymo::stream {
namespace {

using record::FullPolicy;

constexpr uint64_t kLocalArenaMib = 1024;
constexpr uint64_t kLeastDiskLimit = uint64_t{1} << 20;

SettingTable<StreamSettings> StreamTable() {
  using S = StreamSettings;
  return SettingTable<S>(
      "cpu",
      {{.name = "arena_mib",
        .value = setting::Integer(&S::arena_mib, 1, 65536, "MiB"),
        .purpose =
            absl::StrCat("Memory for records. Within a process the default is ",
                         kLocalArenaMib, "."),
        .old_name = "arena_mib"},
       {.name = "when_full",
        .value =
            setting::Word(&S::when_full, {{"drain", FullPolicy::kDrain},
                                          {"overwrite", FullPolicy::kOverwrite},
                                          {"stop", FullPolicy::kStop}}),
        .purpose = "What to do when that memory is full. Within a process, "
                   "where nobody drains, the default is stop.",
        .old_name = "when_full"},
       {.name = "keep_raw",
        .value = setting::Switch(&S::keep_raw),
        .purpose = "Keep everything as it was recorded, in kymo.raw in the "
                   "output folder, even if this command is killed. "
                   "`kymo report` reads it.",
        .old_name = "keep_raw"},
       {.name = "max_memory",
        .value =
            setting::Bytes(&S::max_memory, kLeastMemoryLimit, kMostMemoryLimit),
        .purpose = "Memory limit for making a child's trace. A larger "
                   "recording stays in kymo.raw; you get its table and "
                   "stacks. Default: three quarters of what is left.",
        .old_name = "max_memory"},
       {.name = "max_disk",
        .value =
            setting::Bytes(&S::max_disk, kLeastDiskLimit, kMostMemoryLimit),
        .purpose = "Disk for a child's records. Of a longer recording the "
                   "tables and stacks have everything, the timeline has the "
                   "newest part. Default: 2GiB or half of what is free, and "
                   "records whose trace takes 544MiB or a quarter of the free "
                   "memory."},
       {.name = "flight_recorder",
        .value = setting::Custom(
            &S::flight_recorder, ParseFlightLimit, FlightLimitText,
            absl::StrCat("seconds or memory: 1s to ", kMostFlightSeconds,
                         "s, 1MiB to ", kMostFlightMib, "MiB"),
            "AMOUNT"),
        .purpose = "Keep only the newest of a child.",
        .old_name = "flight_recorder",
        .has_flag = false}});
}

}  // namespace

absl::StatusOr<StreamSettings> ReadStreamSettings(
    const SessionOptions& options) {
  StreamSettings defaults;
  const bool is_local = options.target == TargetKind::kThisProcess;
  if (is_local) {
    defaults.arena_mib = kLocalArenaMib;
    defaults.when_full = FullPolicy::kStop;
  }
  KYMO_ASSIGN_OR_RETURN(StreamSettings settings,
                        StreamTable().Read(options.settings, defaults));
  if (settings.flight_recorder && !is_local) {
    if (options.settings.contains("cpu_when_full")) {
      return absl::InvalidArgumentError(
          "a flight recorder overwrites when it is full: leave out "
          "cpu_when_full");
    }
    settings.when_full = FullPolicy::kOverwrite;
  }
  return settings;
}

std::vector<SettingInfo> StreamSettingInfos() { return StreamTable().infos(); }

}  // namespace kymo::stream
