// options.h - the command line of //tools:profile.
//
//   profile [flags] target [argument ...]
//   profile [flags] --pid=PID          # or --name, --all: what runs already
//
// Flags stand before the target. All words from the target on are its own.
// Besides the command's own flags, which --help=all lists, every setting that a
// backend or exporter declares is a flag of its name.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_OPTIONS_H_
#define KYMO_TOOLS_PROFILE_COMMAND_OPTIONS_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/settings.h"
#include "profiler/report/table.h"
#include "tools/profile_command/screen.h"

namespace kymo::tools {

// Processes that run already.
struct AttachRequest {
  std::vector<pid_t> pids;
  std::string name;  // a regular expression that their names match; empty: none
  bool all = false;  // the whole machine

  bool is_wanted() const { return all || !pids.empty() || !name.empty(); }
};

struct ProfileCommand {
  std::optional<std::string> help;  // the topic; empty: the short page
  bool list = false;
  bool version = false;
  int dump_pid = 0;  // ask that command for a dump, and do nothing else

  std::vector<std::string> activities;  // empty: whatever is available
  std::vector<std::string> exporters;
  std::string output_dir;  // empty: made from the target's name
  std::string sort_by;     // empty: each table's own
  int row_limit = report::TableOptions().row_limit;
  bool row_limit_given = false;  // then the screen has as many rows
  ColorUse color = ColorUse::kAuto;
  bool record_shapes = false;
  bool with_flops = false;
  bool with_stack = false;
  bool with_modules = false;
  bool capture_overload_names = false;
  bool profile_memory = false;
  bool group_by_input_shape = false;
  int group_by_stack_n = 0;
  bool gzip = false;
  bool view = false;
  uint64_t max_size = 0;       // of all files, in bytes; 0: any number
  int64_t max_file_bytes = 0;  // of a timeline; 0: any number
  bool ranks = false;          // this is one rank of a job
  int keep_ranks = 0;          // whose traces are kept; 0: all
  bool strict = false;
  bool quiet = false;
  bool flight_recorder = false;
  int dump_signal = 0;     // that means a dump instead of going to the target
  AttachRequest attach;    // instead of a target
  bool on_demand = false;  // what has registered; attach.pids choose
  int64_t iterations = 0;  // of on_demand; 0: by time
  std::optional<DurationNs> duration_ns;  // of these; nothing: see the flag
  SettingMap settings;                    // of plugins
  std::vector<std::string> notices;       // what to say about the flags

  std::vector<std::string> target;  // its words, the program first
};

// Loads the libraries that --activities and --export name into `backends` and
// `exporters`. kInvalidArgument for unknown flags (with the nearest one),
// activities, exporters and sort keys, for values out of range, and without a
// target or with two. It also returns the errors of backend_library.h and
// exporter_library.h.
absl::StatusOr<ProfileCommand> ParseCommand(
    const std::vector<std::string>& arguments, BackendRegistry& backends,
    ExporterRegistry& exporters);

// The command's own flags, for its manual.
std::span<const SettingInfo> ProfileFlags();

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_OPTIONS_H_
