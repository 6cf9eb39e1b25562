// profile_options.h - what a session records, under PyTorch's names.
//
//   #include "kymo/profile.h"
//
//   kymo::Profile profile({.record_shapes = true, .with_stack = true});
//
// These are the options of torch.profiler.profile and of
// torch.autograd.profiler.profile, with their defaults. Three kinds of options
// are not here. Some are for Python alone. Some become unnecessary by another
// option. Others would switch off what Kymo does not do: it gives devices no
// ids of operations, so there is no disable_external_correlation.
//
// Errors: Profile::Start() checks the options and returns kInvalidArgument.
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
  // Record every thread of the process. false: only the thread that starts the
  // session, and work that it hands to other threads (thread_state.h).
  bool profile_all_threads = false;
  // Keep the overload names of operations (OperationInfo::overload_name).
  // Tables show them, averages can be grouped by them, and a Chrome trace has
  // "name.overload". false: the session's results do not have them.
  bool capture_overload_names = false;
  // Make a trace and no events: exports work, events() is an error.
  bool trace_only = false;
};

struct ProfileOptions {
  // false: every call does nothing and succeeds, and there are no results.
  bool enabled = true;

  // Backends by name, such as "cpu" (ranges), "sampling" and "cuda", or by the
  // path of a library (backend_plugin.h): "./libmine.so"; and devices as in
  // use_device. Empty: "cpu" and the device of use_device.
  std::vector<std::string> activities = {};
  bool use_cpu = true;  // false: only the device
  // The device whose times the results show: "cuda", "xpu", "mtia", "hpu", or
  // the name of a custom device (PluginInfo::device). "privateuseone" means the
  // custom device, whatever its name is. Empty: the device in `activities`. If
  // several are there, it is the one that this list has first. If no backend
  // can record the device here, the session leaves it out and gives PyTorch's
  // warning. For "mtia" Start() returns PyTorch's error instead.
  std::string use_device = {};
  // Arguments of the older torch.autograd.profiler.profile. use_cuda is
  // use_device = "cuda", with a warning that it is deprecated. Without
  // use_kineto, "xpu", "mtia", "hpu" and use_cpu = false are errors; other
  // devices are timed with events (device_events.h), if the program has
  // registered them.
  bool use_cuda = false;
  bool use_kineto = true;

  bool record_shapes = false;   // the inputs of operations
  bool with_flops = false;      // FLOPs of operations; implies record_shapes
  bool profile_memory = false;  // allocations and frees, see memory.h
  bool with_stack = false;      // the stack of each operation
  bool with_modules = false;    // RecordModule and the hierarchy of modules
  ExperimentalConfig experimental_config = {};

  // Which steps are recorded. Without a schedule, everything from Start() to
  // Stop().
  std::optional<Schedule> schedule = {};
  // Step() or Stop() calls it when a cycle has finished; the cycle is then the
  // last of cycles(). Step() or Stop() returns its error.
  std::function<absl::Status(Profile&)> on_trace_ready = {};
  // Keep the events of earlier cycles: events(), averages and tables then have
  // all cycles, oldest first. Exports and trace() have the last cycle.
  bool acc_events = false;
  // Keep every cycle in cycles(), not only the last.
  bool keep_cycles = false;

  // Makes the id of the next cycle's trace; by default 32 random hexadecimal
  // digits.
  std::function<std::string()> custom_trace_id_callback = {};
  // Stop making events of records after this time. The results then have the
  // events that were made so far, and there is a warning.
  std::optional<double> post_processing_timeout_s = {};

  // Settings of backends by name, such as cpu_arena_mib and cpu_when_full: the
  // flags that `//tools:profile --help=all` shows. An unknown name or a wrong
  // value is kInvalidArgument.
  std::map<std::string, std::string> settings = {};
};

// The meaning of the options on this machine. For Profile.
struct SessionPlan {
  std::vector<std::string> activities;  // backends and their parts
  std::string use_device;               // as the backend names it; empty: none
  // The devices that the options name, each with the backend that records it;
  // empty: none does.
  std::map<std::string, std::string> devices;
  // The device whose times are taken with events (device_events.h): use_device,
  // or empty.
  std::string timed_device;
  bool trace_only = false;
  SessionOptions session;
};

// Checks the options in PyTorch's order, with its warnings and its errors
// (kInvalidArgument).
absl::StatusOr<SessionPlan> PlanSession(const ProfileOptions& options,
                                        const BackendRegistry& backends);

// The names of the backends that can record this process, sorted.
std::vector<std::string> SupportedActivities(const BackendRegistry& backends);

}  // namespace kymo

#endif  // KYMO_PROFILER_API_PROFILE_OPTIONS_H_
