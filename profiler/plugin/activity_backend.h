// activity_backend.h - the contract between the profiler and one event source.
//
//   #include "profiler/plugin/registry.h"
//
//   kymo::BackendRegistry registry;    // RegisterBuiltinBackends() fills it
//   kymo::ActivityBackend* const backend = registry.Find("cpu");
//   if (backend == nullptr) return absl::NotFoundError(registry.Names());
//   const kymo::SessionOptions options;
//   absl::Status status = backend->Availability(options);
//   if (!status.ok()) return status;
//   absl::StatusOr<std::unique_ptr<kymo::ActivitySession>> session =
//       backend->NewSession(options);
//   if (!session.ok()) return session.status();
//   status = (*session)->Prepare(nullptr);
//   if (status.ok()) status = (*session)->Start(getpid());
//   Work();
//   if (status.ok()) status = (*session)->Stop();
//   kymo::model::TraceShard shard;
//   if (status.ok()) status = (*session)->Collect(shard).status();
//   return status;
//
// A backend is a source of activities: annotated ranges, stack samples, heap
// traffic or GPU work. It says what it can record on this machine. To record,
// it makes an ActivitySession. The idea is that of Kineto's activity profilers.
//
//   | made -Prepare-> ready -Start-> live -Stop-> stopped -Collect-> empty
//   |                                 |
//   |                                 Poll, SetCollecting, Dump
//
// Each arrow happens at most once. BackendController rejects any other call, so
// sessions need not check. A session may be destroyed at any time; nothing of
// it then stays enabled.
//
// The target is this process (the library), or a child that the command is
// about to start. For a child, Prepare may ask for environment variables and
// libraries (target_setup.h), and Start is called when the child exists: its
// pid is known, and it waits before its exec. Some backends can also record
// processes that run already (CanAttach). Nothing of these may be changed, and
// they must not notice it; Start gets the number of the first.
//
// Threads:   calls on one session do not overlap, but they may come from
//   different threads.
// Errors:    trouble in the environment (no device, no permission) is a Status
//   that tells the user what to do. The other sessions go on. If a call throws,
//   the recording goes on without the backend and says so; so it does if Stop
//   takes longer than StopLimitNs().
// Ownership: the registry owns backends, the controller owns sessions. Collect
//   borrows the shard. A session does not outlive its backend.
#ifndef KYMO_PROFILER_PLUGIN_ACTIVITY_BACKEND_H_
#define KYMO_PROFILER_PLUGIN_ACTIVITY_BACKEND_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/trace_shard.h"
#include "profiler/plugin/kept_recording.h"
#include "profiler/plugin/plugin_info.h"
#include "profiler/plugin/shared_parts.h"
#include "profiler/plugin/target_setup.h"

namespace kymo {

enum class TargetKind { kThisProcess, kChildProcess, kRunningProcesses };

// Processes that run already, with all that they have started and will start.
struct RunningTarget {
  // The whole machine; then `pids` is empty.
  bool all = false;
  std::vector<pid_t> pids;
};

// The user's options, the same for every backend of a recording.
struct SessionOptions {
  TargetKind target = TargetKind::kThisProcess;
  // Path of the child's program, for messages and for checks of its kind.
  std::string target_path;
  RunningTarget running;  // with kRunningProcesses

  // Nobody named any activity. A backend that can record at several prices then
  // takes the one that is worth it in any program.
  bool is_default = false;
  // In this process: record every thread. false: only the thread that starts
  // the session, and work that it hands to other threads.
  bool all_threads = true;

  bool record_shapes = false;           // the inputs of operations
  bool profile_memory = false;          // allocations and frees
  bool with_stack = false;              // the stack of each operation
  bool with_modules = false;            // ranges of modules
  bool capture_overload_names = false;  // the overload names of operations
  // In a child: whether a backend beside those of the stream (backends/stream)
  // may record ranges of its threads, such as calls of a device's driver.
  bool others_record_ranges = false;

  // Further settings by their full names (settings.h). The caller has checked
  // them.
  SettingMap settings;
  // A folder for data that does not fit into memory. The backend removes the
  // files that it makes there.
  std::string scratch_dir;

  // What the backends of this recording share. Null: this one is alone.
  std::shared_ptr<SharedParts> shared;
};

// How often Poll is called, unless the session says otherwise.
inline constexpr DurationNs kPollPeriodNs = 5 * kNsPerMs;
// How long Stop may take, unless the session says otherwise.
inline constexpr DurationNs kStopLimitNs = 5 * kNsPerSecond;
// Stop may take as long as it needs.
inline constexpr DurationNs kNoStopLimit = 0;

// One recording of one backend.
class ActivitySession {
 public:
  ActivitySession() = default;
  ActivitySession(const ActivitySession&) = delete;
  ActivitySession& operator=(const ActivitySession&) = delete;
  virtual ~ActivitySession() = default;

  // Takes everything that recording needs (buffers, descriptors), and says what
  // the target needs. `setup` is null unless the target is a child. On an error
  // nothing stays enabled.
  virtual absl::Status Prepare(TargetSetup* setup) = 0;

  // Begins recording the target `pid`. On an error nothing stays enabled.
  virtual absl::Status Start(pid_t pid) = 0;

  // Moves records out of bounded buffers. Called every few milliseconds while
  // live, and once more after the target has ended.
  virtual void Poll() {}
  // While live: how often Poll should be called, in whole milliseconds.
  virtual DurationNs PollPeriodNs() const noexcept { return kPollPeriodNs; }

  // While live: stops collecting events (false), or goes on (true).
  virtual absl::Status SetCollecting(bool /*collecting*/) {
    return absl::UnimplementedError("collection cannot be switched");
  }

  // While live: writes the records so far into a file that an importer reads.
  virtual absl::Status Dump(const std::string& /*path*/) {
    return absl::UnimplementedError("what was recorded comes at the end");
  }

  // Ends recording. After it has returned, no hook of this session writes.
  virtual absl::Status Stop() = 0;

  // If Stop has not returned after so long, the recording goes on without this
  // session, whose memory is never freed. kNoStopLimit: it is waited for, which
  // is right where Stop waits for the program's own work, such as kernels of a
  // device. With a limit, Stop runs on a thread that is made for it.
  virtual DurationNs StopLimitNs() const noexcept { return kStopLimitNs; }

  // Moves all records and the counts of lost records into `shard`. Records that
  // do not fit into memory stay in a file, which the result names.
  virtual absl::StatusOr<Collected> Collect(model::TraceShard& shard) = 0;

  // After Collect: sentences about losses that numbers do not explain, such as
  // "/bin/x was not recorded: it is statically linked".
  virtual std::vector<std::string> Remarks() const { return {}; }
};

// A source of events.
class ActivityBackend {
 public:
  ActivityBackend() = default;
  ActivityBackend(const ActivityBackend&) = delete;
  ActivityBackend& operator=(const ActivityBackend&) = delete;
  virtual ~ActivityBackend() = default;

  // Never changes. `info().name` is also the word for --activities.
  virtual const PluginInfo& info() const noexcept = 0;
  virtual std::vector<model::ActivityType> activity_types() const = 0;

  // Whether a recording has this backend, for which the user named these
  // activities. None: those that are worth their cost in any program.
  virtual bool IsWanted(const std::set<std::string>& named,
                        const SessionOptions& /*options*/) const {
    return named.contains(info().name) || (named.empty() && !info().on_request);
  }

  // Whether it can record TargetKind::kRunningProcesses. Recordings of these do
  // without the others.
  virtual bool CanAttach() const { return false; }

  // OK if the backend can record here. Otherwise the reason, and what would
  // help. It may make a cheap probe.
  virtual absl::Status Availability(const SessionOptions& options) const = 0;

  // A limitation that the user should know before the target starts, such as
  // "the kernel's own frames are hidden: perf_event_paranoid is 2". Empty:
  // none. Called only if Availability is OK.
  virtual std::string Limitation(const SessionOptions& /*options*/) const {
    return {};
  }

  // Makes a session, which has recorded nothing yet.
  virtual absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) = 0;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_ACTIVITY_BACKEND_H_
