#include "tools/profile_command/attach/attach_run.h"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"
#include "profiler/door/doors.h"
#include "profiler/plugin/activities.h"
#include "profiler/plugin/shared_parts.h"
#include "profiler/plugin/window_reducer.h"
#include "profiler/session/recording.h"
#include "profiler/text/json_text.h"
#include "tools/command_line/first_in_line.h"
#include "tools/command_line/run_folder.h"
#include "tools/command_line/say.h"
#include "tools/command_line/user_folder.h"
#include "tools/deliver/sum_windows.h"
#include "tools/profile_command/attach/attach_doors.h"
#include "tools/profile_command/attach/attach_flags.h"
#include "tools/profile_command/attach/attach_target.h"
#include "tools/profile_command/deliver.h"
#include "tools/profile_command/delivery/run_delivery.h"
#include "tools/profile_command/first_screen.h"
#include "tools/profile_command/heap_folding.h"
#include "tools/profile_command/pre_flight.h"
#include "tools/profile_command/start/late_ctrl_c.h"
#include "tools/profile_command/start/launch.h"

namespace kymo::tools {
namespace {

constexpr int64_t kLookNs = 50 * kNsPerMs;  // whether the processes have ended
// Backends make it in the output folder.
constexpr char kRawFile[] = "kymo.raw";
constexpr int kEndSignals[] = {SIGINT, SIGTERM, SIGHUP};

// What ended the recording. The program goes on.
const char* EndBy(int signal) {
  switch (signal) {
    case SIGTERM:
      return "recorded until SIGTERM";
    case SIGHUP:
      return "recorded until SIGHUP";
    default:
      return "recorded until Ctrl-C";
  }
}

// The signals that end a recording. They are blocked while this lives, so that
// none is missed. An ignored one does so, too: scripts start programs in the
// background with SIGINT ignored. But who says nohup wants SIGHUP ignored.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    for (const int signal : kEndSignals) {
      struct sigaction action = {};
      sigaction(signal, nullptr, &action);
      const bool is_nohup = signal == SIGHUP && action.sa_handler == SIG_IGN;
      if (!is_nohup) sigaddset(&signals_, signal);
    }
    sigprocmask(SIG_BLOCK, &signals_, &before_);
  }
  ~EndSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // The one that has come, or 0.
  int WaitFor(int64_t ns) const {
    const timespec time = {.tv_sec = 0, .tv_nsec = ns};
    return std::max(sigtimedwait(&signals_, nullptr, &time), 0);
  }

 private:
  sigset_t signals_;
  sigset_t before_;
};

// What the command was asked for, as JSON, for the trace.
std::string AttachJson(const AttachTarget& target, DurationNs wall_ns) {
  const auto number = [](const processes::ProcessInfo& process) {
    return std::to_string(process.pid);
  };
  std::vector<std::string> pids;
  std::vector<std::string> names;
  for (const processes::ProcessInfo& process : target.named) {
    pids.push_back(number(process));
    json::AppendJsonString(names.emplace_back(), process.name);
  }
  return absl::StrCat("{\"all\": ", target.running.all ? "true" : "false",
                      ", \"pids\": [", absl::StrJoin(pids, ", "),
                      "], \"names\": [", absl::StrJoin(names, ", "),
                      "], \"wall_ns\": ", wall_ns, "}");
}

class AttachRun {
 public:
  AttachRun(ProfileCommand command, const BackendRegistry& backends,
            const ExporterRegistry& exporters)
      : command_(std::move(command)),
        backends_(backends),
        exporters_(exporters) {}

  int Run() {
    SurviveFileSizeLimit();
    // Each thread of the target may take a descriptor for each CPU.
    const std::string few = AllowMostDescriptors();
    if (!few.empty() && !command_.quiet) Say(few);
    absl::Status status;
    {
      const FirstInLine first_in_line;
      const EndSignals signals;
      status = Prepare();
      if (status.ok()) status = Record(signals);
      // What ended it must not end the command before it has said so.
      while (absl::IsCancelled(status) && signals.WaitFor(0) != 0) {
      }
    }
    if (absl::IsCancelled(status)) {
      status = absl::CancelledError(
          "ended by a signal before the recording began: nothing was recorded");
    }
    if (!status.ok()) {
      return Fail(status,
                  absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed);
    }
    command_.target = {target_.text};  // the name in tables and titles
    auto metadata =
        RunMetadata(command_, ShownDevice(backends_, recording_->backends()));
    metadata.emplace_back("kymo_attach", AttachJson(target_, facts_.wall_ns));
    return DeliverRun({.recording = *recording_,
                       .stopped = stopped_,
                       .facts = facts_,
                       .metadata = std::move(metadata),
                       .summer = *summer_,
                       .hides_notices = command_.quiet},
                      command_, exporters_, *out_);
  }

 private:
  absl::Status Prepare() {
    KYMO_ASSIGN_OR_RETURN(target_, FindAttachTarget(command_.attach));
    SessionOptions options;
    options.target = TargetKind::kRunningProcesses;
    options.running = target_.running;
    options.record_shapes = command_.record_shapes;
    options.with_stack = command_.with_stack;
    options.with_modules = command_.with_modules;
    options.capture_overload_names = command_.capture_overload_names;
    options.profile_memory = command_.profile_memory;
    options.settings = command_.settings;
    options.shared = std::make_shared<SharedParts>();
    KYMO_ASSIGN_OR_RETURN(doors_, options.shared->Get<door::Doors>([this] {
      return std::make_shared<door::Doors>(
          [this] { return ProcessesWithDoors(target_.running); });
    }));
    KYMO_RETURN_IF_ERROR(
        SetHeapFolding(command_, backends_, exporters_, options));
    // Before anything is written: whether it is permitted.
    KYMO_ASSIGN_OR_RETURN(
        recording_, Recording::Create(backends_, command_.activities, options));
    KYMO_RETURN_IF_ERROR(CheckSkipped());
    const auto facts = RecordingFacts::Of(options.shared);
    facts->reducer = summer_;
    facts->others_record_ranges = OthersRecordRanges(recording_->backends());
    KYMO_ASSIGN_OR_RETURN(
        out_, command_.output_dir.empty()
                  ? RunFolder::TakeDated(UserPath(kDefaultFolder), target_.name)
                  : RunFolder::Take(UserPath(command_.output_dir)));
    // It may be about programs of other users.
    if (geteuid() == 0) out_->KeepPrivate();
    KYMO_RETURN_IF_ERROR(out_->CheckFree(NamesOfFiles(command_, exporters_)));
    facts->scratch_dir = out_->path();
    KYMO_RETURN_IF_ERROR(out_->Note(kRawFile));
    return recording_->Prepare(nullptr);
  }

  // What was asked for is not left out in silence.
  absl::Status CheckSkipped() const {
    for (const Recording::Skipped& skipped : recording_->skipped()) {
      if (skipped.backend == "memory") return skipped.why;
      if (skipped.backend != "sampling") continue;
      return absl::Status(
          skipped.why.code(),
          absl::StrCat(skipped.why.message(),
                       "; --activities=off_cpu alone records how long threads "
                       "waited, as far as it is permitted"));
    }
    return absl::OkStatus();
  }

  absl::Status Record(const EndSignals& signals) {
    const pid_t first = target_.running.all ? 1 : target_.running.pids.front();
    // What is recorded begins when the first of many events is opened.
    const int64_t opened_ns = MonotonicNs();
    KYMO_RETURN_IF_ERROR(recording_->Start(first));
    const int64_t begin_ns = MonotonicNs();
    // From now on it is the same process, or its end was recorded.
    KYMO_RETURN_IF_ERROR(CheckIdentity(target_));
    if (const absl::Status removed = out_->RemoveOld(); !removed.ok()) {
      Say(std::string(removed.message()));
    }
    if (!command_.quiet) SayWhatIsRecorded();
    doors_->Close();
    std::string end = PollToTheEnd(signals, begin_ns);
    KeepWritingAfterFirstCtrlC();
    const size_t ended = CountEnded(target_);
    if (ended > 0 && ended < target_.named.size()) {
      end = absl::StrCat(ended, " of ", target_.named.size(), " ended",
                         end.empty() ? "" : "; ", end);
    }
    facts_ = {.target = target_.text,
              .wall_ns = MonotonicNs() - opened_ns,
              .attach_end = end};
    stopped_ = recording_->Stop();
    return absl::OkStatus();
  }

  void SayWhatIsRecorded() const {
    Say(absl::StrCat(
        PreFlightLine({.recorded = recording_->backends(),
                       .skipped = recording_->skipped(),
                       .limitations = recording_->limitations(),
                       .target_name = target_.name}),
        DoorText(*doors_, target_, command_.profile_memory),
        FlagsWithoutEffect(command_, backends_, recording_->backends()),
        "; attached to ", target_.text,
        target_.left_out == 0
            ? ""
            : absl::StrCat("; ", target_.left_out,
                           " more of that name belong to other users"),
        command_.duration_ns ? "" : "; Ctrl-C ends the recording"));
  }

  // Returns what ended it.
  const char* PollToTheEnd(const EndSignals& signals, int64_t begin_ns) {
    const DurationNs period_ns = recording_->PollPeriodNs();
    int64_t next_look_ns = begin_ns + kLookNs;
    for (;;) {
      if (const int signal = signals.WaitFor(period_ns)) return EndBy(signal);
      recording_->Poll();
      const int64_t now_ns = MonotonicNs();
      if (command_.duration_ns && now_ns - begin_ns >= *command_.duration_ns) {
        return "";
      }
      if (now_ns < next_look_ns) continue;
      next_look_ns = now_ns + kLookNs;
      if (HasEnded(target_)) {
        return target_.named.size() == 1 ? "it ended" : "all of them ended";
      }
    }
  }

  ProfileCommand command_;
  const BackendRegistry& backends_;
  const ExporterRegistry& exporters_;
  AttachTarget target_;
  std::shared_ptr<door::Doors> doors_;
  std::unique_ptr<RunFolder> out_;
  const std::shared_ptr<LiveSummer> summer_ = std::make_shared<LiveSummer>();
  std::unique_ptr<Recording> recording_;
  absl::Status stopped_;
  RunFacts facts_;
};

}  // namespace

int ProfileRunning(ProfileCommand command, const BackendRegistry& backends,
                   const ExporterRegistry& exporters) {
  return AttachRun(std::move(command), backends, exporters).Run();
}

}  // namespace kymo::tools
