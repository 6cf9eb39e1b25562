#include "tools/profile_command/heap_folding.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

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

bool ExportersTakeSums(const ProfileCommand& command) {
  static const std::set<std::string> kTakeSums = {"chrome", "memory_timeline",
                                                  "stacks", "summary"};
  return command.max_file_bytes == 0 &&
         SettingOf(command, "memory_timeline_form", "html") == "html" &&
         std::all_of(command.exporters.begin(), command.exporters.end(),
                     [](const auto& name) { return kTakeSums.contains(name); });
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

void SetHeapFolding(const ProfileCommand& command,
                    const BackendRegistry& backends, SessionOptions& options) {
  if (!RecordsHeap(command) || options.settings.contains(kFoldAbove) ||
      !ExportersTakeSums(command) ||
      !ActivitiesAllowSums(command, backends, options)) {
    return;
  }
  options.settings[kFoldAbove] =
      SettingOf(command, "chrome_memory_events", kDefaultMostEvents);
}

}  // namespace kymo::tools
