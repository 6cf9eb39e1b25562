#include "tools/profile_command/profile_run.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/base/children_cpu.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/activities.h"
#include "profiler/plugin/kept_recording.h"
#include "profiler/plugin/shared_parts.h"
#include "profiler/plugin/target_setup.h"
#include "profiler/plugin/window_reducer.h"
#include "profiler/report/ledger_text.h"
#include "profiler/session/recording.h"
#include "profiler/text/visible_text.h"
#include "tools/command_line/run_folder.h"
#include "tools/command_line/say.h"
#include "tools/command_line/user_folder.h"
#include "tools/deliver/sum_windows.h"
#include "tools/deliver/view_page.h"
#include "tools/profile_command/control_socket.h"
#include "tools/profile_command/deliver.h"
#include "tools/profile_command/deliver_large.h"
#include "tools/profile_command/first_screen.h"
#include "tools/profile_command/heap_folding.h"
#include "tools/profile_command/pre_flight.h"
#include "tools/profile_command/progress_line.h"
#include "tools/profile_command/screen.h"
#include "tools/profile_command/start/elf_file.h"
#include "tools/profile_command/start/injection.h"
#include "tools/profile_command/start/launch.h"
#include "tools/profile_command/start/other_kymo.h"
#include "tools/profile_command/start/own_allocator.h"
#include "tools/profile_command/start/runtime_files.h"
#include "tools/profile_command/start/target.h"
#include "tools/profile_command/what_to_open.h"

namespace kymo::tools {
namespace {

constexpr int kExitLost = 3;
constexpr int kExitNotExecutable = 126;
constexpr int kExitNotFound = 127;
constexpr int kPollMs = 5;
// What --strict does not accept.
constexpr char kNotWhole[] = "the trace is not whole";
constexpr char kNotWritten[] = "a file could not be written";
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

// This program's file.
absl::StatusOr<std::string> OwnPath() {
  std::error_code error;
  const std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return self.string();
  return absl::FailedPreconditionError(
      absl::StrCat("cannot read /proc/self/exe, which says where Kymo's "
                   "libraries are: ",
                   error.message(), "; mount /proc"));
}

class ProfileRun {
 public:
  ProfileRun(ProfileCommand command, const BackendRegistry& backends,
             const ExporterRegistry& exporters)
      : command_(std::move(command)),
        backends_(backends),
        exporters_(exporters) {}

  // Returns only if the status is not the target's: the target did not run,
  // nothing could be written, or --strict sets it.
  int Run() {
    SurviveFileSizeLimit();
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
    std::vector<std::string> lacks = {"the recording could not be analysed"};
    try {
      lacks = Deliver();
    } catch (const std::bad_alloc&) {
      Say("could not analyse the recording: not enough memory; try recording "
          "for a shorter time");
    }
    out_->Finish();
    const bool target_succeeded =
        WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
    if (target_succeeded && !out_->HasFiles()) return kExitFailed;
    if (target_succeeded && !lacks.empty() && command_.strict) {
      fputs(ledger_.c_str(), stderr);
      Say("--strict: status 3, because " + absl::StrJoin(lacks, ", and "));
      return kExitLost;
    }
    EndLike(wait_status);
  }

 private:
  absl::Status TakeFolder() {
    std::string path = UserPath(command_.output_dir);
    if (command_.output_dir.empty()) {
      KYMO_ASSIGN_OR_RETURN(
          path, MakeDatedFolder(UserPath(kDefaultFolder), target_.name));
    }
    KYMO_ASSIGN_OR_RETURN(out_, RunFolder::Take(path));
    return absl::OkStatus();
  }

  absl::Status Prepare() {
    if (absl::Status status = TakeFolder(); !status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(status.message(),
                                       "; try another folder (--output_dir)"));
    }
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
    KYMO_ASSIGN_OR_RETURN(const std::string self, OwnPath());
    KYMO_ASSIGN_OR_RETURN(environment_,
                          EnvironmentFor(setup, [&](const std::string& file) {
                            return FindRuntimeFile(self, file);
                          }));
    if (UsesMusl(target_.path)) environment_.erase("LD_PRELOAD");
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
    KYMO_RETURN_IF_ERROR(recording_->Start(child.pid()));
    const int64_t exec_ns = MonotonicNs();
    KYMO_RETURN_IF_ERROR(child.Exec());
    if (const absl::Status removed = out_->RemoveOld(); !removed.ok()) {
      Say(std::string(removed.message()));
    }
    if (command_.flight_recorder) recording_->BeginWithFirstEvent();
    if (command_.dump_signal != 0) child.KeepSignal(command_.dump_signal);
    while (!child.WaitFor(kPollMs)) {
      recording_->Poll();
      AnswerRequests(child);
    }
    *wait_status = child.wait_status();
    facts_ = {.target = target_.name,
              .wall_ns = MonotonicNs() - exec_ns,
              .cpu_ns = ChildrenCpuNs() - cpu_before_ns,
              .wait_status = *wait_status};
    recording_->Poll();
    stopped_ = recording_->Stop();
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

  // Analyses and writes. Returns what --strict does not accept.
  std::vector<std::string> Deliver() {
    std::vector<std::string> lacks;
    if (!stopped_.ok()) Say(std::string(stopped_.message()));
    ProgressLine progress(!command_.quiet);
    progress.Show("reading what was recorded");
    const FinishedRecording finished = recording_->Finish(
        RunMetadata(command_, ShownDevice(backends_, recording_->backends())));
    progress.Clear();
    const absl::StatusOr<model::Trace>& trace = finished.trace;
    for (const absl::Status& problem : recording_->problems()) {
      Say(std::string(problem.message()));
    }
    for (const KeptRecording& kept : finished.kept) Say(kept.why);
    if (!command_.quiet) {
      for (const std::string& remark : recording_->Remarks()) Say(remark);
    }
    if (!trace.ok()) Say(std::string(trace.status().message()));
    if (!recording_->problems().empty()) {
      lacks.emplace_back("an activity had a problem");
    }
    if (!finished.kept.empty()) {
      const LargeDelivery delivery =
          DeliverLarge(finished.kept, trace.ok() ? &*trace : nullptr, command_,
                       exporters_, *out_);
      ShowLarge(delivery);
      ledger_ = report::LedgerText(delivery.ledger);
      if (delivery.ledger.AnythingLost()) lacks.emplace_back(kNotWhole);
      if (!delivery.is_read) {
        lacks.emplace_back("the recording could not be read");
      } else if (!delivery.status.ok()) {
        lacks.emplace_back(kNotWritten);
      }
      lacks.emplace_back("the recording is larger than memory");
      return lacks;
    }
    if (!trace.ok()) {
      lacks.emplace_back("there is no trace");
      return lacks;
    }
    ledger_ = report::LedgerText(trace->ledger());
    progress.Show("summing up");
    const analysis::WindowSums* const sums = SumsBeyond(*trace, lacks);
    if (sums != nullptr) ledger_ = report::LedgerText(sums->ledger());
    const absl::StatusOr<RunTables> tables = MakeTables(*trace, command_, sums);
    const std::string text =
        tables.ok() ? tables->text : std::string(tables.status().message());
    ExportNotes notes;
    const absl::Status written = WriteFiles(*trace, text, command_, exporters_,
                                            *out_, progress, notes, sums);
    progress.Clear();
    if (sums != nullptr) Say(AboutNewest(*trace, *sums, command_));
    for (const std::string& notice : notes.notices) Say(notice);
    if (!written.ok()) Say(std::string(written.message()));
    if (tables.ok()) {
      ShowScreen(*trace, tables->screen);
    } else {
      Say(text);
    }
    ShowFiles();
    const model::LossLedger& ledger =
        sums != nullptr ? sums->ledger() : trace->ledger();
    if (ledger.AnythingLost()) lacks.emplace_back(kNotWhole);
    if (!written.ok()) lacks.emplace_back(kNotWritten);
    return lacks;
  }

  // Null if the trace has all of the recording.
  const analysis::WindowSums* SumsBeyond(
      const model::Trace& trace, std::vector<std::string>& lacks) const {
    if (!summer_->has_windows()) return nullptr;
    const absl::Status added = summer_->Finish(trace);
    if (!added.ok()) {
      Say(absl::StrCat("the table and the stacks lack the newest ranges: ",
                       added.message()));
      lacks.emplace_back(kNotWhole);
    }
    return &summer_->sums();
  }

  void ShowLarge(const LargeDelivery& delivery) const {
    for (const std::string& notice : delivery.notices) Say(notice);
    if (!delivery.status.ok()) Say(std::string(delivery.status.message()));
    if (!command_.quiet) fputs(VisibleLines(delivery.table).c_str(), stderr);
    ShowFiles();
  }

  void ShowScreen(const model::Trace& trace, const ScreenTables& tables) const {
    if (command_.quiet) return;
    ScreenOptions options =
        ScreenOf(STDERR_FILENO, command_.color, TableCount(tables),
                 tables.findings.size());
    if (command_.row_limit_given) options.rows = command_.row_limit;
    const absl::StatusOr<std::string> screen =
        FirstScreen(trace, tables, facts_, options);
    if (screen.ok()) {
      fputs(screen->c_str(), stderr);
    } else {
      Say(std::string(screen.status().message()));
    }
  }

  void ShowFiles() const {
    if (!out_->HasFiles()) return;
    const std::vector<std::string> names = out_->Names();
    if (!command_.quiet) {
      const std::string folder = ShownPath(out_->path());
      Say("wrote " + folder);
      for (const std::string& line : WhatToOpen(names, folder)) Say(line);
    }
    if (!command_.view || std::ranges::count(names, kPageFile) == 0) return;
    const std::string viewed = ViewPage(out_->path() + "/" + kPageFile);
    if (!command_.quiet) Say(viewed);
  }

  const ProfileCommand command_;
  const BackendRegistry& backends_;
  const ExporterRegistry& exporters_;
  Target target_;
  std::unique_ptr<RunFolder> out_;
  Environment environment_;
  const std::shared_ptr<LiveSummer> summer_ = std::make_shared<LiveSummer>();
  std::unique_ptr<Recording> recording_;
  std::optional<ControlSocket> control_;
  int dumps_ = 0;
  absl::Status stopped_;
  RunFacts facts_;
  std::string ledger_;
};

}  // namespace

int ProfileTarget(ProfileCommand command, const BackendRegistry& backends,
                  const ExporterRegistry& exporters) {
  return ProfileRun(std::move(command), backends, exporters).Run();
}

}  // namespace kymo::tools
