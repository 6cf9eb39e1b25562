// options.h - the command line of //tools:profile.
//
//   profile [flags] target [argument ...]
//
// Flags stand before the target; everything from the target on is its own.
// Besides the command's own flags, which --help lists, every option that a
// plugin declares is a flag of that name.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_OPTIONS_H_
#define KYMO_TOOLS_PROFILE_COMMAND_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/plugin/registry.h"

namespace kymo::tools {

struct ProfileCommand {
  bool help = false;
  bool list = false;
  int dump_pid = 0;  // ask that command for a dump, and do nothing else

  std::vector<std::string> activities;  // empty: whatever is available
  std::vector<std::string> exporters;
  std::string output_dir;  // empty: made from the target's name
  std::string sort_by;     // empty: each table's own
  int sampling_hz = 1000;
  int row_limit = 30;
  bool record_shapes = false;
  bool with_flops = false;
  bool with_stack = false;
  bool with_modules = false;
  bool profile_memory = false;
  bool group_by_input_shape = false;
  int group_by_stack_n = 0;
  bool gzip = false;
  int64_t max_file_bytes = 0;  // of a timeline; 0: any number
  bool strict = false;
  bool quiet = false;
  bool flight_recorder = false;
  int dump_signal = 0;  // that means a dump instead of going to the target
  std::map<std::string, std::string> settings;  // of plugins

  std::vector<std::string> target;  // its words, the program first
};

// Loads exporter libraries that --export names into `exporters`.
// kInvalidArgument for what cannot be: unknown flags (listing the valid ones),
// activities, exporters, sort keys, values out of range, no target; the errors
// of exporter_library.h.
absl::StatusOr<ProfileCommand> ParseCommand(
    const std::vector<std::string>& arguments, const BackendRegistry& backends,
    ExporterRegistry& exporters);

// The manual page that --help prints.
std::string ManualPage(const BackendRegistry& backends,
                       const ExporterRegistry& exporters);

// What --list prints: every activity and whether it can be recorded here.
std::string ListActivities(const BackendRegistry& backends,
                           const SessionOptions& options);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_OPTIONS_H_
