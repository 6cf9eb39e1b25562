#include "backends/cpu/cpu_settings.h"

#include "absl/strings/str_cat.h"
#include "backends/cpu/trace_memory.h"

namespace kymo::cpu {
namespace {

using record::FullPolicy;

constexpr uint64_t kLocalArenaMib = 1024;

const SettingTable<CpuSettings>& CpuTable() {
  using S = CpuSettings;
  static const auto& table = *new SettingTable<S>(
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
        .purpose = "What to do when that memory is full. Default: drain, and "
                   "within a process, where nobody drains, stop.",
        .old_name = "when_full"},
       {.name = "keep_raw",
        .value = setting::Switch(&S::keep_raw),
        .purpose = "Keep everything as it was recorded, in kymo.raw in the "
                   "output folder, even if this command is killed. "
                   "//tools:report reads it.",
        .old_name = "keep_raw"},
       {.name = "max_memory",
        .value =
            setting::Bytes(&S::max_memory, kLeastMemoryLimit, kMostMemoryLimit),
        .purpose = "Memory limit for making a child's trace. A larger "
                   "recording stays in kymo.raw; you get its table and "
                   "stacks. Default: three quarters of what is left.",
        .old_name = "max_memory"},
       {.name = "ranges",
        .value = setting::Switch(&S::ranges),
        .purpose = "Record what the program says through Kymo. Where only "
                   "nvtx or itt is asked for the default is 0.",
        .old_name = "ranges"},
       {.name = "flight_recorder",
        .value = setting::Custom(
            &S::flight_recorder, ParseFlightLimit, FlightLimitText,
            absl::StrCat("seconds or memory: 1s to ", kMostFlightSeconds,
                         "s, 1MiB to ", kMostFlightMib, "MiB"),
            "AMOUNT"),
        .purpose = "Keep only the newest of a child.",
        .old_name = "flight_recorder",
        .has_flag = false}});
  return table;
}

const SettingTable<MemorySettings>& MemoryTable() {
  using S = MemorySettings;
  static const auto& table = *new SettingTable<S>(
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
        .purpose = "Keep the stack of each allocation. Default: 1, and within "
                   "a process as with_stack."},
       {.name = "mappings",
        .value = setting::Switch(&S::mappings),
        .purpose = "Record mmap, munmap and mremap of the program, too."}});
  return table;
}

const SettingTable<NvtxSettings>& NvtxTable() {
  static const auto& table = *new SettingTable<NvtxSettings>(
      "nvtx", {{.name = "capture",
                .value = setting::Switch(&NvtxSettings::capture),
                .purpose = "Record what libraries say through NVTX.",
                .old_name = "capture_nvtx"}});
  return table;
}

const SettingTable<IttSettings>& IttTable() {
  static const auto& table = *new SettingTable<IttSettings>(
      "itt", {{.name = "capture",
               .value = setting::Switch(&IttSettings::capture),
               .purpose = "Record what libraries say through ITT, such as "
                          "oneTBB each of its tasks.",
               .old_name = "capture_itt"}});
  return table;
}

}  // namespace

absl::StatusOr<CpuSettings> ReadCpuSettings(const SessionOptions& options) {
  CpuSettings defaults;
  if (options.target == TargetKind::kThisProcess) {
    defaults.arena_mib = kLocalArenaMib;
  }
  return CpuTable().Read(options.settings, defaults);
}

absl::StatusOr<MemorySettings> ReadMemorySettings(
    const SessionOptions& options) {
  return MemoryTable().Read(options.settings);
}

absl::StatusOr<NvtxSettings> ReadNvtxSettings(const SessionOptions& options) {
  return NvtxTable().Read(options.settings);
}

absl::StatusOr<IttSettings> ReadIttSettings(const SessionOptions& options) {
  return IttTable().Read(options.settings);
}

std::vector<SettingInfo> CpuSettingInfos() {
  return JoinSettings({CpuTable().infos(), MemoryTable().infos(),
                       NvtxTable().infos(), IttTable().infos()});
}

}  // namespace kymo::cpu
