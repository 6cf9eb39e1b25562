#include "tools/profile_command/profile_run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/children_cpu.h"
#include "profiler/base/clock.h"
#include "profiler/base/job_rank.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/activities.h"
#include "profiler/plugin/last_records.h"
#include "profiler/plugin/shared_parts.h"
#include "profiler/plugin/target_setup.h"
#include "profiler/plugin/window_reducer.h"
#include "profiler/processes/process_list.h"
#include "profiler/record/run_by_musl.h"
#include "profiler/record/tool_variables.h"
#include "profiler/session/recording.h"
#include "tools/command_line/first_in_line.h"
#include "tools/command_line/run_folder.h"
#include "tools/command_line/say.h"
#include "tools/command_line/user_folder.h"
#include "tools/deliver/sum_windows.h"
#include "tools/profile_command/control_socket.h"
#include "tools/profile_command/deliver.h"
#include "tools/profile_command/delivery/run_delivery.h"
#include "tools/profile_command/first_screen.h"
#include "tools/profile_command/heap_folding.h"
#include "tools/profile_command/job/job_run.h"
#include "tools/profile_command/pre_flight.h"
#include "tools/profile_command/start/injection.h"
#include "tools/profile_command/start/late_ctrl_c.h"
#include "tools/profile_command/start/launch.h"
#include "tools/profile_command/start/other_kymo.h"
#include "tools/profile_command/start/own_allocator.h"
#include "tools/profile_command/start/runtime_files.h"
#include "tools/profile_command/start/target.h"

namespace kymo::tools {
namespace {

constexpr int kExitNotExecutable = 126;
constexpr int kExitNotFound = 127;
// Backends make it in the output folder.
constexpr char kRawFile[] = "kymo.raw";

int ExitStatusOf(const absl::Status& target_status) {
  switch (target_status.code()) {
    case absl::StatusCode::kNotFound:
      return kExitNotFound;
    case absl::StatusCode::kPermissionDenied:
      return kExitNotExecutable;
    default:
      return kExitFailed;
  }
}

ProfileCommand QuietIfRank(ProfileCommand command) {
  command.quiet |= command.ranks;
  return command;
}

class ProfileRun {
 public:
  ProfileRun(ProfileCommand command, const BackendRegistry& backends,
             const ExporterRegistry& exporters)
      : job_is_quiet_(command.quiet),
        command_(QuietIfRank(std::move(command))),
        backends_(backends),
        exporters_(exporters) {}

  // Returns only if the status is not the target's: the target did not run,
  // nothing could be written, or --strict sets it.
  int Run() {
    SurviveFileSizeLimit();
    const std::string few = AllowMostDescriptors();
    if (!few.empty() && !IsQuiet()) Say(few);
    absl::StatusOr<Target> target = FindTarget(command_.target[0]);
    if (!target.ok())
      return Fail(target.status(), ExitStatusOf(target.status()));
    target_ = *std::move(target);
    if (absl::Status status = Prepare(); !status.ok()) {
      return Fail(status, status.code() == absl::StatusCode::kInvalidArgument
                              ? kExitUsage
                              : kExitFailed);
    }
    int wait_status = 0;
    if (absl::Status status = Record(&wait_status); !status.ok()) {
      return Fail(
          absl::Status(status.code(), absl::StrCat(command_.target[0], ": ",
                                                   status.message())),
          ExitStatusOf(status));
    }
    const bool target_succeeded =
        WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
    const int status = DeliverRun(
        {.recording = *recording_,
         .stopped = stopped_,
         .facts = facts_,
         .metadata = RunMetadata(
             command_, ShownDevice(backends_, recording_->backends())),
         .summer = *summer_,
         .may_be_strict = target_succeeded,
         .hides_notices = job_is_quiet_,
         .on_trace =
             [this](const model::Trace& trace) {
               if (job_) job_->OnTrace(trace);
               if (command_.quiet) return;
               for (const std::string& line :
                    DescribeOtherKymo(trace, target_.path)) {
                 Say(line);
               }
             }},
        command_, exporters_, *out_);
    // Rank 0 may remove it.
    if (job_) out_.reset();
    const int job_status = job_ ? job_->Finish(target_succeeded) : 0;
    if (target_succeeded && status != 0) return status;
    if (target_succeeded && job_status != 0) return job_status;
    EndLike(wait_status);
  }

 private:
  // Of the ranks that write one answer, rank 0 speaks for all.
  bool IsQuiet() const {
    if (!command_.ranks) return command_.quiet;
    const std::optional<JobRank> rank = FindJobRank(getenv);
    return job_is_quiet_ || (rank && rank->rank != 0);
  }

  // One of several ranks has its number in the name. Rank 0 says what would
  // make one answer of them.
  std::string NameOfRun() const {
    const std::optional<JobRank> rank = FindJobRank(getenv);
    if (!rank || rank->size < 2) return target_.name;
    if (rank->rank == 0 && !command_.quiet) {
      Say(absl::StrCat("this is rank 0 of ", rank->size,
                       ", and each writes a folder of its own; with --ranks, "
                       "all write one answer"));
    }
    return absl::StrCat(target_.name, "-rank", rank->rank);
  }

  absl::Status TakeFolder() {
    if (command_.ranks) {
      KYMO_ASSIGN_OR_RETURN(job_, JobRun::Join(command_, job_is_quiet_,
                                               target_.name, exporters_));
      KYMO_ASSIGN_OR_RETURN(out_, RunFolder::Take(job_->RankPath()));
    } else if (command_.output_dir.empty()) {
      KYMO_ASSIGN_OR_RETURN(
          out_, RunFolder::TakeDated(UserPath(kDefaultFolder), NameOfRun()));
    } else {
      KYMO_ASSIGN_OR_RETURN(out_,
                            RunFolder::Take(UserPath(command_.output_dir)));
    }
    return absl::OkStatus();
  }

  absl::Status Prepare() {
    if (absl::Status status = TakeFolder(); !status.ok()) {
      if (status.code() == absl::StatusCode::kInvalidArgument) return status;
      return absl::Status(status.code(),
                          absl::StrCat(status.message(),
                                       "; try another folder (--output_dir)"));
    }
    KYMO_RETURN_IF_ERROR(out_->CheckFree(NamesOfFiles(command_, exporters_)));
    SessionOptions options;
    options.target = TargetKind::kChildProcess;
    options.target_path = target_.path;
    options.record_shapes = command_.record_shapes;
    options.with_stack = command_.with_stack;
    options.with_modules = command_.with_modules;
    options.capture_overload_names = command_.capture_overload_names;
    options.profile_memory = command_.profile_memory;
    options.settings = command_.settings;
    options.scratch_dir = out_->path();
    options.shared = std::make_shared<SharedParts>();
    last_records_ = LastRecords::Of(options.shared);
    KYMO_RETURN_IF_ERROR(
        SetHeapFolding(command_, backends_, exporters_, options));
    KYMO_ASSIGN_OR_RETURN(
        recording_, Recording::Create(backends_, command_.activities, options));
    const auto facts = RecordingFacts::Of(options.shared);
    facts->reducer = summer_;
    facts->others_record_ranges = OthersRecordRanges(recording_->backends());
    KYMO_RETURN_IF_ERROR(out_->Note(kRawFile));
    // With it, the file is made before the target starts.
    if (command_.settings.contains("cpu_keep_raw")) out_->SetAside(kRawFile);
    TargetSetup setup;
    KYMO_RETURN_IF_ERROR(recording_->Prepare(&setup));
    if (job_) KYMO_RETURN_IF_ERROR(job_->Guard(*last_records_));
    KYMO_ASSIGN_OR_RETURN(const std::string self, OwnPath());
    KYMO_ASSIGN_OR_RETURN(environment_,
                          EnvironmentFor(setup, [&](const std::string& file) {
                            return FindRuntimeFile(self, file);
                          }));
    if (job_ && !job_->MeetingPath().empty()) {
      environment_[record::kMpiMeetingVariable] = job_->MeetingPath();
    }
    if (IsRunByMusl(AT_FDCWD, target_.path.c_str())) {
      environment_.erase("LD_PRELOAD");
    }
    if (command_.flight_recorder) {
      absl::StatusOr<ControlSocket> control = ControlSocket::Listen();
      if (control.ok()) {
        control_.emplace(*std::move(control));
      } else {
        Say(std::string(control.status().message()));
      }
    }
    if (!command_.quiet) {
      // A copy of Kymo's in a static program attaches by itself. In a set-uid
      // one it must not: its caller could name any memory.
      const bool is_static = setup.obstacle == "is statically linked";
      const LinkedKymo linked = FindLinkedKymo(target_.path);
      Say(PreFlightLine({.recorded = recording_->backends(),
                         .skipped = recording_->skipped(),
                         .limitations = recording_->limitations(),
                         .target_name = target_.name,
                         .obstacle = setup.obstacle,
                         .records_itself = is_static && linked.has_this,
                         .wants_stacks = command_.with_stack,
                         .heap_is_hidden = command_.profile_memory &&
                                           BringsMalloc(target_.path),
                         .has_this_kymo = linked.has_this,
                         .has_other_kymo = linked.has_other}));
    }
    return absl::OkStatus();
  }

  // Runs the target to its end.
  absl::Status Record(int* wait_status) {
    std::vector<std::string> words = command_.target;
    words[0] = target_.word;
    // A program that this one took the place of, such as bazelw, may have had
    // children.
    const DurationNs cpu_before_ns = ChildrenCpuNs();
    KYMO_ASSIGN_OR_RETURN(Child child,
                          Child::Fork(words, target_.path, environment_));
    // The program has been forked, and keeps its priority.
    const FirstInLine first_in_line;
    // It has threads, so it begins after the fork.
    if (job_) job_->Start(child.pid());
    KYMO_RETURN_IF_ERROR(recording_->Start(child.pid()));
    const int64_t exec_ns = MonotonicNs();
    if (const absl::Status status = child.Exec(); !status.ok()) {
      if (!absl::IsNotFound(status)) return status;
      return absl::NotFoundError(MissingPart(target_.path));
    }
    if (const absl::Status removed = out_->RemoveOld(); !removed.ok()) {
      Say(std::string(removed.message()));
    }
    if (command_.flight_recorder) recording_->BeginWithFirstEvent();
    if (command_.dump_signal != 0) child.KeepSignal(command_.dump_signal);
    const auto period_ms =
        static_cast<int>(recording_->PollPeriodNs() / kNsPerMs);
    while (!child.WaitFor(period_ms)) {
      recording_->Poll();
      AnswerRequests(child);
    }
    const int64_t end_ns = MonotonicNs();
    KeepWritingAfterFirstCtrlC(job_ ? FilesOf::kRankOfJob
                                    : FilesOf::kThisProcess);
    facts_ = {.target = target_.name,
              .target_pid = child.pid(),
              .wall_ns = end_ns - exec_ns,
              .ran_at_end = processes::RunningSince(child.pid()),
              .still_runs = [](int64_t pid) {
                const auto process =
                    processes::ReadProcess(static_cast<pid_t>(pid));
                return process.has_value() && !process->has_ended();
              }};
    recording_->Poll();
    // It reads what the kernel counted for the program up to its end.
    stopped_ = recording_->Stop();
    // A daemon's parent may end before it forks the daemon, so list them again.
    std::vector<int>& ran = facts_.ran_at_end;
    std::ranges::copy(processes::RunningSince(child.pid()),
                      std::back_inserter(ran));
    std::ranges::sort(ran);
    *wait_status = child.Reap();
    facts_.cpu_ns = ChildrenCpuNs() - cpu_before_ns;
    facts_.wait_status = *wait_status;
    // As root's default recording (docs/waiting.md).
    facts_.hides_page_faults = geteuid() == 0 && command_.activities.empty();
    if (job_ && stopped_.ok()) {
      job_->AddRank(*recording_, end_ns + EpochOffsetNs(), *wait_status);
    }
    // From now on a request for a dump gets an error at once.
    control_.reset();
    return absl::OkStatus();
  }

  // Writes the next dump, and returns its path.
  absl::StatusOr<std::string> Dump() {
    const std::string name = absl::StrCat("dump-", ++dumps_, ".raw");
    KYMO_RETURN_IF_ERROR(out_->Note(name));
    const std::string path = absl::StrCat(
        std::filesystem::absolute(out_->path()).string(), "/", name);
    KYMO_RETURN_IF_ERROR(recording_->Dump(path));
    return path;
  }

  void AnswerRequests(Child& child) {
    if (child.TakeSignal()) {
      const absl::StatusOr<std::string> path = Dump();
      Say(path.ok() ? absl::StrCat("wrote ", *path)
                    : std::string(path.status().message()));
    }
    if (!control_.has_value()) return;
    if (const auto request = control_->Accept()) request->Answer(Dump());
  }

  // Of a job, only the whole has a screen.
  const bool job_is_quiet_;  // as the user wants it
  const ProfileCommand command_;
  const BackendRegistry& backends_;
  const ExporterRegistry& exporters_;
  Target target_;
  std::unique_ptr<JobRun> job_;  // with --ranks
  std::unique_ptr<RunFolder> out_;
  Environment environment_;
  const std::shared_ptr<LiveSummer> summer_ = std::make_shared<LiveSummer>();
  std::unique_ptr<Recording> recording_;
  std::shared_ptr<LastRecords> last_records_;
  std::optional<ControlSocket> control_;
  int dumps_ = 0;
  absl::Status stopped_;
  RunFacts facts_;
};

}  // namespace

int ProfileTarget(ProfileCommand command, const BackendRegistry& backends,
                  const ExporterRegistry& exporters) {
  return ProfileRun(std::move(command), backends, exporters).Run();
}

}  // namespace kymo::tools
