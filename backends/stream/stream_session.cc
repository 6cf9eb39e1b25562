#include "backends/stream/stream_session.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/stream/child_session.h"
#include "backends/stream/door_sessions.h"
#include "backends/stream/local_session.h"
#include "backends/stream/stream_settings.h"
#include "backends/stream/trace_memory.h"
#include "profiler/base/status_macros.h"
#include "profiler/door/doors.h"
#include "profiler/plugin/last_records.h"
#include "profiler/plugin/sampled_processes.h"
#include "profiler/plugin/shared_parts.h"
#include "profiler/plugin/window_reducer.h"

namespace kymo::stream {
namespace {

using record::FullPolicy;

// Whoever attaches has made them.
std::shared_ptr<door::Doors> DoorsOf(const SessionOptions& options) {
  const auto make = [] { return std::make_shared<door::Doors>(); };
  return options.shared ? *options.shared->Get<door::Doors>(make) : make();
}

absl::Status CheckSettings(const SessionOptions& options,
                           const StreamSettings& settings) {
  if (options.target == TargetKind::kChildProcess) return absl::OkStatus();
  if (options.target == TargetKind::kRunningProcesses) {
    if (!settings.keep_raw && !settings.flight_recorder &&
        settings.when_full == FullPolicy::kDrain) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        "cpu_keep_raw, cpu_when_full and the flight recorder are for programs "
        "that the command starts: leave them out");
  }
  if (settings.arena_mib * kMib > record::kLocalCapacityBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("cpu_arena_mib is '", settings.arena_mib,
                     "'; within a process it is at most ",
                     record::kLocalCapacityBytes / kMib));
  }
  if (settings.when_full == FullPolicy::kDrain) {
    return absl::InvalidArgumentError(
        "cpu_when_full=drain needs a collector: it is for //tools:profile; "
        "within a process it takes one of: overwrite, stop");
  }
  return absl::OkStatus();
}

// The recording of the stream, which sessions share.
class StreamRecording {
 public:
  static absl::StatusOr<std::shared_ptr<StreamRecording>> Create(
      const SessionOptions& options) {
    KYMO_ASSIGN_OR_RETURN(const StreamSettings settings,
                          ReadStreamSettings(options));
    KYMO_RETURN_IF_ERROR(CheckSettings(options, settings));
    return std::make_shared<StreamRecording>(options, settings);
  }

  StreamRecording(const SessionOptions& options, const StreamSettings& settings)
      : target_(options.target),
        target_path_(options.target_path),
        all_threads_(options.all_threads),
        others_record_ranges_(options.others_record_ranges),
        scratch_dir_(options.scratch_dir),
        sampled_(SampledProcesses::Of(options.shared)),
        last_records_(LastRecords::Of(options.shared)),
        facts_(RecordingFacts::Of(options.shared)),
        doors_(DoorsOf(options)),
        settings_(settings) {}

  void Add(const StreamRequest& request) {
    request_.ranges |= request.ranges;
    request_.flags |= request.flags;
    request_.watches_heap |= request.watches_heap;
    request_.libraries.insert(request_.libraries.end(),
                              request.libraries.begin(),
                              request.libraries.end());
    request_.fold_heap_above =
        std::min(request_.fold_heap_above, request.fold_heap_above);
    if (request.heap_sample_interval != 0) {
      request_.heap_sample_interval = request.heap_sample_interval;
    }
  }

  // Sessions come and go: a backend that fails is left out. Leads says for
  // which one the recording is polled and switched: for that with the ranges,
  // while it is there, else for the first.
  void Enter(const ActivitySession* session, bool has_ranges) {
    members_.insert(has_ranges ? members_.begin() : members_.end(), session);
  }
  void Leave(const ActivitySession* session) { std::erase(members_, session); }
  bool Leads(const ActivitySession* session) const {
    return members_.front() == session;
  }

  ActivitySession& session() { return *session_; }

  // Each of these does its work at the first call.
  absl::Status Prepare(TargetSetup* setup) {
    if (!prepared_) prepared_ = PrepareForAll(setup);
    return *prepared_;
  }
  absl::Status Start(pid_t pid) {
    if (!started_) started_ = session_->Start(pid);
    return *started_;
  }
  absl::Status Stop() {
    if (!stopped_) stopped_ = session_->Stop();
    return *stopped_;
  }
  // The first call collects for all. An error is that of each later call.
  absl::StatusOr<Collected> Collect(model::TraceShard& shard, bool* is_first) {
    *is_first = !collected_.has_value();
    if (!*is_first) {
      KYMO_RETURN_IF_ERROR(*collected_);
      return Collected{};
    }
    // Until it is known better: it may throw.
    collected_ = absl::ResourceExhaustedError("could not be collected");
    absl::StatusOr<Collected> collected = session_->Collect(shard);
    collected_ = collected.status();
    return collected;
  }

 private:
  absl::Status PrepareForAll(TargetSetup* setup) {
    if (target_ == TargetKind::kThisProcess) {
      session_ = NewLocal();
      return session_->Prepare(nullptr);
    }
    if (target_ == TargetKind::kRunningProcesses) {
      session_ = NewDoorSession(ForChild(), doors_->Open());
      return session_->Prepare(nullptr);
    }
    for (const InjectedLibrary& library : request_.libraries) {
      if (!setup->environment.contains(library.variable)) continue;
      return absl::FailedPreconditionError(
          absl::StrCat("another activity has set ", library.variable,
                       ", as cuda_markers=1 does: leave one of the two out"));
    }
    session_ = NewChildSession(ForChild());
    KYMO_RETURN_IF_ERROR(session_->Prepare(setup));
    setup->watches_heap = request_.watches_heap;
    setup->libraries.insert(setup->libraries.end(), request_.libraries.begin(),
                            request_.libraries.end());
    return absl::OkStatus();
  }

  record::RecordFlags flags() const {
    return request_.ranges ? request_.flags
                           : request_.flags | record::kRangesOff;
  }

  ChildSettings ForChild() const {
    const std::optional<FlightLimit>& flight = settings_.flight_recorder;
    return {.target_path = target_path_,
            .arena_bytes = flight && flight->bytes != 0
                               ? flight->bytes
                               : settings_.arena_mib * kMib,
            .policy = settings_.when_full,
            .flags = flags(),
            .heap_sample_interval = request_.heap_sample_interval,
            .fold_heap_above = flight ? ~uint64_t{0} : request_.fold_heap_above,
            .others_record_ranges =
                others_record_ranges_ || facts_->others_record_ranges,
            .scratch_dir = facts_->scratch_dir.empty() ? scratch_dir_
                                                       : facts_->scratch_dir,
            .keep_raw = settings_.keep_raw,
            .max_memory = settings_.max_memory,
            .max_disk = settings_.max_disk,
            .reducer = facts_->reducer,
            .flight = flight,
            .sampled = sampled_,
            .last_records = last_records_};
  }

  std::unique_ptr<ActivitySession> NewLocal() const {
    return NewLocalSession(
        {.scope = all_threads_ ? record::SessionScope::kProcess
                               : record::SessionScope::kThread,
         .flags = flags(),
         .chunk_bytes_total = settings_.arena_mib * kMib,
         .policy = settings_.when_full,
         .heap_sample_interval = request_.heap_sample_interval});
  }

  const TargetKind target_;
  const std::string target_path_;
  const bool all_threads_;
  const bool others_record_ranges_;
  const std::string scratch_dir_;
  const std::shared_ptr<const SampledProcesses> sampled_;
  const std::shared_ptr<LastRecords> last_records_;
  const std::shared_ptr<const RecordingFacts> facts_;
  const std::shared_ptr<door::Doors> doors_;
  const StreamSettings settings_;
  StreamRequest request_;  // of all sessions
  std::vector<const ActivitySession*> members_;
  std::unique_ptr<ActivitySession> session_;
  std::optional<absl::Status> prepared_, started_, stopped_, collected_;
};

// The session of one backend.
class StreamSession : public ActivitySession {
 public:
  StreamSession(std::shared_ptr<StreamRecording> recording,
                const StreamRequest& request)
      : recording_(std::move(recording)) {
    recording_->Add(request);
    recording_->Enter(this, request.ranges);
  }
  ~StreamSession() override {
    if (recording_ != nullptr) recording_->Leave(this);
  }

  absl::Status Prepare(TargetSetup* setup) override {
    return recording_->Prepare(setup);
  }

  absl::Status Start(pid_t pid) override { return recording_->Start(pid); }

  void Poll() override {
    if (recording_->Leads(this)) recording_->session().Poll();
  }

  absl::Status SetCollecting(bool collecting) override {
    if (!recording_->Leads(this)) {
      return absl::UnimplementedError(
          "it is switched together with cpu or, where cpu is not recorded, "
          "with the first of itt, memory and nvtx");
    }
    return recording_->session().SetCollecting(collecting);
  }

  absl::Status Dump(const std::string& path) override {
    return recording_->session().Dump(path);
  }

  absl::Status Stop() override { return recording_->Stop(); }
  DurationNs StopLimitNs() const noexcept override { return kNoStopLimit; }

  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    absl::StatusOr<Collected> collected =
        recording_->Collect(shard, &has_records_);
    // Its memory is the first session's to free.
    if (!has_records_) {
      recording_->Leave(this);
      recording_.reset();
    }
    return collected;
  }

  std::vector<std::string> Remarks() const override {
    if (!has_records_) return {};
    return recording_->session().Remarks();
  }

 private:
  std::shared_ptr<StreamRecording> recording_;
  bool has_records_ = false;
};

}  // namespace

absl::Status StreamAvailability(const SessionOptions& options) {
  if (options.target != TargetKind::kRunningProcesses) return absl::OkStatus();
  const std::shared_ptr<door::Doors> doors = DoorsOf(options);
  return doors->Open().empty() ? doors->WhyNone() : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ActivitySession>> NewStreamSession(
    const SessionOptions& options, const StreamRequest& request) {
  const auto make = [&] { return StreamRecording::Create(options); };
  KYMO_ASSIGN_OR_RETURN(
      std::shared_ptr<StreamRecording> recording,
      options.shared ? options.shared->Get<StreamRecording>(make) : make());
  return std::make_unique<StreamSession>(std::move(recording), request);
}

}  // namespace kymo::stream
