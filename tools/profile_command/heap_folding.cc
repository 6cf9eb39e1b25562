#include "tools/profile_command/heap_folding.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/activities.h"
#include "profiler/plugin/guarded_call.h"
#include "profiler/plugin/trace_exporter.h"
#include "tools/deliver/heap_records.h"

namespace kymo::tools {
namespace {

constexpr char kFoldAbove[] = "memory_fold_above";

bool RecordsHeap(const ProfileCommand& command) {
  const auto& named = command.activities;
  return command.profile_memory ||
         std::find(named.begin(), named.end(), "memory") != named.end();
}

// What the user says of --memory_fold_above.
absl::Status CheckWish(const std::string& fold_above,
                       const HeapRecordNeed& need) {
  if (need.most != HeapRecordNeed::kAll || fold_above.starts_with('-')) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--memory_fold_above keeps sums instead of single "
                   "allocations, and ",
                   need.option,
                   " shows single ones; leave out one of the "
                   "two"));
}

// A recording leaves out a backend that throws when it is asked.
bool IsAvailable(const ActivityBackend& backend,
                 const SessionOptions& options) {
  return GuardedCall("asking whether it is available",
                     [&] { return backend.Availability(options); })
      .ok();
}

// Whether an activity may be recorded that records ranges.
bool MayRecordRanges(const ProfileCommand& command,
                     const BackendRegistry& backends,
                     const SessionOptions& options) {
  const std::set<std::string> named(command.activities.begin(),
                                    command.activities.end());
  const auto backend_list = backends.List();
  return std::any_of(backend_list.begin(), backend_list.end(),
                     [&](const auto& backend) {
                       return OthersRecordRanges({backend->info().name}) &&
                              IsWantedIn(*backend, named, options) &&
                              IsAvailable(*backend, options);
                     });
}

}  // namespace

absl::Status SetHeapFolding(const ProfileCommand& command,
                            const BackendRegistry& backends,
                            const ExporterRegistry& exporters,
                            SessionOptions& options) {
  if (!RecordsHeap(command)) return absl::OkStatus();
  const HeapRecordNeed need = HeapRecordsNeeded(
      command.exporters, {.gzip = command.gzip, .settings = command.settings},
      exporters);
  const auto wish = options.settings.find(kFoldAbove);
  if (wish != options.settings.end()) {
    KYMO_RETURN_IF_ERROR(CheckWish(wish->second, need));
  } else if (command.max_file_bytes == 0 && need.most != HeapRecordNeed::kAll) {
    options.settings[kFoldAbove] = absl::StrCat(need.most);
  } else {
    return absl::OkStatus();
  }
  options.others_record_ranges = MayRecordRanges(command, backends, options);
  return absl::OkStatus();
}

bool OthersRecordRanges(const std::vector<std::string>& backends) {
  static const std::set<std::string> kNoOthers = {
      "cpu", "host", "itt", "memory", "nvtx", "off_cpu", "sampling"};
  return std::any_of(
      backends.begin(), backends.end(),
      [](const std::string& name) { return !kNoOthers.contains(name); });
}

}  // namespace kymo::tools
