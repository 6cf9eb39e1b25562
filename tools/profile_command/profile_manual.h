// profile_manual.h - the manual of `kymo profile`.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_PROFILE_MANUAL_H_
#define KYMO_TOOLS_PROFILE_COMMAND_PROFILE_MANUAL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "profiler/plugin/registry.h"
#include "tools/command_line/manual.h"

namespace kymo::tools {

// The registries outlive it.
Manual MakeProfileManual(const BackendRegistry& backends,
                         const ExporterRegistry& exporters);

// The page that --help=TOPIC prints (tools/command_line/manual.h).
absl::StatusOr<std::string> ProfileManual(std::string_view topic,
                                          const BackendRegistry& backends,
                                          const ExporterRegistry& exporters);

// The list that --list prints: each activity, and whether it can be recorded
// here.
std::string ListActivities(const BackendRegistry& backends,
                           const SessionOptions& options);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_PROFILE_MANUAL_H_
