// config.h - what a daemon asks programs to record, as Kineto writes it.
//
//   KYMO_ASSIGN_OR_RETURN(
//       const Config config,
//       ParseConfig("ACTIVITIES_LOG_FILE=/tmp/t.json\n"
//                   "ACTIVITIES_DURATION_MSECS=500\n"));
//   KYMO_ASSIGN_OR_RETURN(
//       const std::string path,
//       TracePath(config.log_file, "/tmp", getpid()));   // /tmp/t_1234.json
//
// Lines are KEY=VALUE. Keys that are not Kymo's to understand, such as sizes of
// CUPTI's buffers and times to warm up, which Kymo does not need, are left out.
//
// Threads: any.
// Errors:  kInvalidArgument with a sentence. A value that is no number, or out
//   of range, is wrong.
#ifndef KYMO_PROFILER_ON_DEMAND_CONFIG_H_
#define KYMO_PROFILER_ON_DEMAND_CONFIG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace kymo::on_demand {

// Traces are written below this folder only, unless the variable names another.
inline constexpr char kTraceFolder[] = "/tmp";
inline constexpr char kTraceFolderVariable[] = "KINETO_ONDEMAND_TRACE_DIR";

struct Config {
  std::string log_file = "/tmp/kymo_activities.json";
  int64_t start_time_ms = 0;  // since 1970; 0: now
  int64_t duration_ms = 500;
  // By steps, if `iterations` is not 0: see FirstStep.
  int64_t iterations = 0;
  int64_t start_iteration = -1;
  int64_t start_iteration_roundup = 0;
  std::vector<std::string> activity_types;  // Kineto's words; empty: all
  bool record_shapes = false;
  bool with_stack = false;
  bool with_flops = false;
  bool with_modules = false;
  bool profile_memory = false;
  std::string trace_id;
  // Of a Kymo command alone: say what became of it (messages.h); and end what
  // is going on, instead of beginning something.
  bool answer = false;
  bool stop = false;

  bool by_iterations() const {
    return iterations > 0 &&
           (start_iteration >= 0 || start_iteration_roundup > 0);
  }
  bool operator==(const Config&) const = default;
};

absl::StatusOr<Config> ParseConfig(std::string_view text);

// As lines that ParseConfig and Kineto read. PyTorch's programs are told not to
// warm up.
std::string ConfigText(const Config& config);

// The first step to record, in a program that has begun step `current`:
// start_iteration, or the next step if that has begun already; rounded up to a
// multiple of start_iteration_roundup.
int64_t FirstStep(const Config& config, int64_t current);

// The file of process `pid`: "x.json" becomes "x_PID.json", and
// "x.pt.trace.json" "x_PID.pt.trace.json". kPermissionDenied if the file would
// not be below `folder`, symbolic links followed.
absl::StatusOr<std::string> TracePath(std::string_view log_file,
                                      const std::string& folder, int pid);

}  // namespace kymo::on_demand

#endif  // KYMO_PROFILER_ON_DEMAND_CONFIG_H_
