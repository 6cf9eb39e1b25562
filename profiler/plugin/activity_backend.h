// activity_backend.h - the contract between the profiler and one event source.
//
// A backend is a source of activities (annotated ranges, stack samples, heap
// traffic, GPU work), after Kineto's activity profiler plugins. It says what
// it can record here; asked to record, it makes an ActivitySession:
//
//   made --Prepare--> ready --Start--> live --Stop--> stopped --Collect-->
//   empty
//                                      | Poll, SetCollecting, Dump
//
// Each arrow happens at most once; BackendController rejects anything else, so
// that sessions need not check. A prepared or live session may be destroyed at
// any time and then leaves nothing enabled.
//
// Two kinds of target: this process (the library), or a child that the command
// is about to start. For a child, Prepare may ask for variables and libraries
// (target_setup.h), and Start is called when the child exists (pid known,
// stopped before its exec).
//
// Threads:   calls on one session never overlap but may come from different
//            threads.
// Errors:    trouble in the environment (no device, no permission) is a Status
//            that tells the user what to do; the others go on without it.
// Ownership: the registry owns backends, the controller sessions; a shard is
//            borrowed during Collect. A session may outlive neither.
#ifndef KYMO_PROFILER_PLUGIN_ACTIVITY_BACKEND_H_
#define KYMO_PROFILER_PLUGIN_ACTIVITY_BACKEND_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/trace_shard.h"
#include "profiler/plugin/kept_recording.h"
#include "profiler/plugin/plugin_info.h"
#include "profiler/plugin/target_setup.h"

namespace kymo {

enum class TargetKind { kThisProcess, kChildProcess };

// What the user asked for, the same for every backend of a recording.
struct SessionOptions {
  TargetKind target = TargetKind::kThisProcess;
  // Path of the program (kChildProcess), for messages and checks of its kind.
  std::string target_path;

  // Within this process: record every thread, or only the one that starts the
  // session and those that it lends the session to.
  bool all_threads = true;

  bool record_shapes = false;   // inputs of operations
  bool profile_memory = false;  // allocations
  bool with_stack = false;      // where operations were called
  bool with_modules = false;    // ranges of modules

  // Sampling: ticks per second of CPU time and thread.
  int sampling_hz = 1000;
  // Further settings by name, as the backends' PluginInfo lists them.
  std::map<std::string, std::string> settings;
  // A folder for spilled data; files made there are the backend's to remove.
  std::string scratch_dir;
};

class ActivitySession {
 public:
  ActivitySession() = default;
  ActivitySession(const ActivitySession&) = delete;
  ActivitySession& operator=(const ActivitySession&) = delete;
  virtual ~ActivitySession() = default;

  // Takes what recording will need (buffers, descriptors), and says what the
  // target needs. `setup` is null unless the target is a child. On failure
  // nothing stays enabled.
  virtual absl::Status Prepare(TargetSetup* setup) = 0;

  // Begins recording; `pid` is the target's. On failure nothing stays enabled.
  virtual absl::Status Start(pid_t pid) = 0;

  // Moves what was recorded so far out of bounded buffers. Called every few
  // milliseconds while live, and once more after the target has ended.
  virtual void Poll() {}

  // While live: leaves out what happens until it is switched on again.
  virtual absl::Status SetCollecting(bool /*collecting*/) {
    return absl::UnimplementedError("collection cannot be switched");
  }

  // While live: writes what it has now into a file that an importer reads.
  virtual absl::Status Dump(const std::string& /*path*/) {
    return absl::UnimplementedError("what was recorded comes at the end");
  }

  // Ends recording. When it returns, no hook of this session can still write.
  virtual absl::Status Stop() = 0;

  // Moves every record, and the counts of lost ones, into `shard`; or, where
  // they do not fit into memory, keeps them in a file.
  virtual absl::StatusOr<Collected> Collect(model::TraceShard& shard) = 0;

  // After Collect: what the user should know of what was lost, beyond numbers;
  // sentences ("/bin/x was not recorded: it is statically linked").
  virtual std::vector<std::string> Remarks() const { return {}; }
};

class ActivityBackend {
 public:
  ActivityBackend() = default;
  ActivityBackend(const ActivityBackend&) = delete;
  ActivityBackend& operator=(const ActivityBackend&) = delete;
  virtual ~ActivityBackend() = default;

  // Constant. `info().name` is also the word for --activities.
  virtual const PluginInfo& info() const noexcept = 0;
  virtual std::vector<model::ActivityType> activity_types() const = 0;

  // OK, perhaps after a cheap probe, or why not here and what would help.
  virtual absl::Status Availability(const SessionOptions& options) const = 0;

  // A limitation worth saying before the target starts ("the kernel's own
  // frames are hidden: perf_event_paranoid is 2"); empty when there is none.
  // Called only where Availability is OK.
  virtual std::string Limitation(const SessionOptions& /*options*/) const {
    return {};
  }

  virtual absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) = 0;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_ACTIVITY_BACKEND_H_
