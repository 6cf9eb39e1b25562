#include "tools/profile_command/heap_folding.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/plugin/activities.h"
#include "profiler/plugin/guarded_call.h"

namespace kymo::tools {
namespace {

constexpr char kFoldAbove[] = "memory_fold_above";
// The default of chrome_memory_events.
constexpr char kDefaultMostEvents[] = "1000000";

std::string SettingOf(const ProfileCommand& command, const std::string& name,
                      const std::string& otherwise) {
  const auto it = command.settings.find(name);
  return it == command.settings.end() ? otherwise : it->second;
}

bool RecordsHeap(const ProfileCommand& command) {
  const auto& named = command.activities;
  return command.profile_memory ||
         std::find(named.begin(), named.end(), "memory") != named.end();
}

// What needs single records: an exporter, or a setting of one. Empty: nothing.
std::string NeedsSingleRecords(const ProfileCommand& command) {
  static const std::set<std::string> kTakeSums = {"chrome", "memory_timeline",
                                                  "stacks", "summary"};
  for (const std::string& name : command.exporters) {
    if (!kTakeSums.contains(name)) return "--export=" + name;
    if (name != "memory_timeline") continue;
    const std::string form = SettingOf(command, "memory_timeline_form", "html");
    if (form != "html") return "--memory_timeline_form=" + form;
  }
  return "";
}

// What the user says of --memory_fold_above.
absl::Status CheckWish(const ProfileCommand& command) {
  const std::string needs = NeedsSingleRecords(command);
  if (needs.empty() || SettingOf(command, kFoldAbove, "-1").starts_with('-')) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--memory_fold_above keeps sums instead of single "
                   "allocations, and ",
                   needs, " shows single ones; leave out one of the two"));
}

// A recording leaves out a backend that throws when it is asked.
bool IsAvailable(const ActivityBackend& backend,
                 const SessionOptions& options) {
  return GuardedCall("asking whether it is available",
                     [&] { return backend.Availability(options); })
      .ok();
}

// Whether all activities that may be recorded are the threads' streams, samples
// or counters.
bool ActivitiesAllowSums(const ProfileCommand& command,
                         const BackendRegistry& backends,
                         const SessionOptions& options) {
  static const std::set<std::string> kAllowSums = {
      "cpu", "host", "itt", "memory", "nvtx", "sampling"};
  const std::set<std::string> named(command.activities.begin(),
                                    command.activities.end());
  const auto backend_list = backends.List();
  return std::all_of(backend_list.begin(), backend_list.end(),
                     [&](const auto& backend) {
                       return kAllowSums.contains(backend->info().name) ||
                              !IsWantedIn(*backend, named, options) ||
                              !IsAvailable(*backend, options);
                     });
}

}  // namespace

absl::Status SetHeapFolding(const ProfileCommand& command,
                            const BackendRegistry& backends,
                            SessionOptions& options) {
  if (options.settings.contains(kFoldAbove)) return CheckWish(command);
  if (RecordsHeap(command) && command.max_file_bytes == 0 &&
      NeedsSingleRecords(command).empty() &&
      ActivitiesAllowSums(command, backends, options)) {
    options.settings[kFoldAbove] =
        SettingOf(command, "chrome_memory_events", kDefaultMostEvents);
  }
  return absl::OkStatus();
}

}  // namespace kymo::tools
