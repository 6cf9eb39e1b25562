// profile_options.h - what a session records, under PyTorch's names.
//
// The options of torch.profiler.profile and torch.autograd.profiler.profile in
// one struct, with their defaults. What PyTorch has for Python alone is not
// here; neither is what another option makes needless, nor what has nothing to
// switch off: operations tell devices nothing (disable_external_correlation).
#ifndef KYMO_PROFILER_API_PROFILE_OPTIONS_H_
#define KYMO_PROFILER_API_PROFILE_OPTIONS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/registry.h"
#include "profiler/session/schedule.h"

namespace kymo {

class Profile;

struct ExperimentalConfig {
  // Record every thread of the process, not only the one that starts the
  // session and those that work is handed to (thread_state.h).
  bool profile_all_threads = false;
  // Keep the overload names of operations, as a column and as part of the key
  // when averages are asked to group by them.
  bool capture_overload_names = false;
  // Make a trace only: events() is an error, exports work.
  bool trace_only = false;
};

struct ProfileOptions {
  // false: every call does nothing, and there are no results.
  bool enabled = true;

  // Backends by name: "cpu" (ranges), "sampling", "cuda", ... Empty: "cpu",
  // and the device of use_device.
  std::vector<std::string> activities;
  bool use_cpu = true;  // false: the device only
  // "cuda", "xpu", "mtia", "hpu" or "privateuseone". A device that is not
  // there is left out with a warning.
  std::string use_device;

  bool record_shapes = false;   // inputs of operations
  bool with_flops = false;      // implies record_shapes
  bool profile_memory = false;  // allocations, see memory.h
  bool with_stack = false;      // where operations were called
  bool with_modules = false;    // RecordModule, and hierarchies from it
  ExperimentalConfig experimental_config;

  // Which steps are recorded; without one, everything from Start() to Stop().
  std::optional<Schedule> schedule;
  // Called within Step() or Stop() when a cycle is finished, which is then the
  // last of cycles(). Its error is the call's.
  std::function<absl::Status(Profile&)> on_trace_ready;
  // Keep the events of earlier cycles: events(), averages and tables are of
  // all of them, oldest first. Exports and trace() are of the last one.
  bool acc_events = false;
  // Keep every cycle in cycles(), not only the last one.
  bool keep_cycles = false;

  // The id of the next cycle's trace; by default 32 random hexadecimal digits.
  std::function<std::string()> custom_trace_id_callback;
  // Stop making events out of records after this time and deliver what there
  // is, with a warning.
  std::optional<double> post_processing_timeout_s;

  // Settings of backends by name, such as arena_mib and when_full.
  std::map<std::string, std::string> settings;
};

// What the options come to on this machine. For Profile.
struct SessionPlan {
  std::vector<std::string> activities;
  std::string use_device;  // empty: none
  bool trace_only = false;
  SessionOptions session;
};

// Checks in PyTorch's order, with its warnings and errors (kInvalidArgument).
absl::StatusOr<SessionPlan> PlanSession(const ProfileOptions& options,
                                        const BackendRegistry& backends);

}  // namespace kymo

#endif  // KYMO_PROFILER_API_PROFILE_OPTIONS_H_
