// recording.h - one recording with a set of backends, from start to Trace.
//
//   KYMO_ASSIGN_OR_RETURN(
//       auto recording, Recording::Create(registry, {"cpu"}, options));
//   KYMO_RETURN_IF_ERROR(recording->Prepare(nullptr));
//   KYMO_RETURN_IF_ERROR(recording->Start(getpid()));
//   ...
//   KYMO_RETURN_IF_ERROR(recording->Stop());
//   FinishedRecording finished = recording->Finish({});
//   if (finished.trace.ok()) Use(*finished.trace);
//
// The backends are those that record the requested activities (activities.h);
// all of them must be available. If no activity is named, all available
// backends are used, and the others are listed. Backends that are recorded on
// request only (PluginInfo::on_request) are then left out.
//
// Errors: partial success is success. A backend that fails once recording was
//   requested is left out and is in problems(). So is a backend that throws, at
//   any time, and one whose Stop hangs. A call fails only if no backend is
//   left, with the first problem.
// Times: a record outside of [start_ns(), end_ns()] is dropped and counted in
//   the ledger (kEventsOutOfWindow); problems() then names its backend. Records
//   may come in any order. The recording ends when the last backend has stopped
//   that does stop: the wait for a Stop that hangs does not count. Backends
//   whose Stop has no limit stop first.
// Threads: one call at a time.
#ifndef KYMO_PROFILER_SESSION_RECORDING_H_
#define KYMO_PROFILER_SESSION_RECORDING_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"
#include "profiler/model/trace_shard.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/backend_controller.h"
#include "profiler/plugin/kept_recording.h"
#include "profiler/plugin/registry.h"

namespace kymo {

struct FinishedRecording {
  // The trace of the records that fit into memory. If it is an error, there may
  // still be kept recordings.
  absl::StatusOr<model::Trace> trace;
  // Recordings of the backends whose records do not fit.
  std::vector<KeptRecording> kept;
};

class Recording {
 public:
  // A backend that is not used, and why.
  struct Skipped {
    std::string backend;
    absl::Status why;
  };

  // kInvalidArgument for a name that is not registered (lists the valid ones),
  // the backend's own status for one that is not available. The registry must
  // outlive the recording.
  static absl::StatusOr<std::unique_ptr<Recording>> Create(
      const BackendRegistry& registry, const std::vector<std::string>& names,
      const SessionOptions& options);

  absl::Status Prepare(TargetSetup* setup);
  absl::Status Start(pid_t pid);
  void Poll();
  // While live: how often Poll should be called, for all backends.
  DurationNs PollPeriodNs() const;
  // Switches one backend's collection; kNotFound when it is not in use.
  absl::Status SetCollecting(const std::string& backend, bool collecting);
  // Writes the present records into a file that an importer reads. The first
  // backend that can do so writes the file. If none can, returns the reason.
  absl::Status Dump(const std::string& path);
  // kFailedPrecondition in a child that the process forked since Start: the
  // recording is its parent's, whichever backends it has.
  absl::Status Stop();

  // Makes the trace begin with its first event, not with the recording. For a
  // flight recorder, which has only the newest events.
  void BeginWithFirstEvent() noexcept { begins_with_first_event_ = true; }

  // Adds records of the caller's own to the trace. Their times are within
  // [start_ns(), end_ns()]. After Stop.
  void AddShard(model::TraceShard shard) { added_.push_back(std::move(shard)); }

  // Collects from every backend and normalises. `metadata` is added to the
  // trace: pairs of key and JSON text.
  FinishedRecording Finish(
      const std::vector<std::pair<std::string, std::string>>& metadata);

  // Names of the backends in use, sorted.
  std::vector<std::string> backends() const;
  const std::vector<Skipped>& skipped() const noexcept { return skipped_; }
  // Limitations of the backends in use: "sampling: ...".
  const std::vector<std::string>& limitations() const noexcept {
    return limitations_;
  }
  // Errors of single backends on the way.
  const std::vector<absl::Status>& problems() const noexcept {
    return problems_;
  }
  // After Finish: the backends' sentences about losses
  // (ActivitySession::Remarks).
  std::vector<std::string> Remarks() const;
  TimeNs start_ns() const noexcept { return start_ns_; }
  TimeNs end_ns() const noexcept { return end_ns_; }

 private:
  Recording() = default;

  absl::Status Add(const BackendRegistry& registry, ActivityBackend& backend,
                   const SessionOptions& options);
  // The same for a backend that may throw: it is then left out.
  absl::Status AddGuarded(const BackendRegistry& registry,
                          ActivityBackend& backend,
                          const SessionOptions& options);
  // The error of a call that needs a backend, if none is left.
  absl::Status NoneLeft() const;
  // Leaves out the backend whose controller has failed in a call that ended
  // with `status`, if it has.
  void LeaveOutIfFailed(const BackendController& controller,
                        const absl::Status& status);
  // Keeps the controllers for which `call` succeeds.
  template <typename Call>
  absl::Status ForEach(Call call);
  void KeepRemarks(const BackendController& controller);

  std::vector<std::unique_ptr<BackendController>> controllers_;
  std::vector<Skipped> skipped_;
  std::vector<std::string> limitations_;
  std::vector<absl::Status> problems_;
  std::vector<std::string> remarks_;  // of backends that left a file
  std::vector<model::TraceShard> added_;
  bool begins_with_first_event_ = false;
  pid_t starter_pid_ = 0;
  TimeNs start_ns_ = 0;
  TimeNs end_ns_ = 0;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_SESSION_RECORDING_H_
