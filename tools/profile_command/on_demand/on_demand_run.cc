#include "tools/profile_command/on_demand/on_demand_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "importers/chrome/chrome_importer.h"
#include "importers/load/load.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"
#include "tools/command_line/run_folder.h"
#include "tools/command_line/say.h"
#include "tools/command_line/user_folder.h"
#include "tools/profile_command/attach/attach_run.h"
#include "tools/profile_command/deliver.h"
#include "tools/profile_command/delivery/run_delivery.h"
#include "tools/profile_command/on_demand/demand_daemon.h"
#include "tools/profile_command/on_demand/demand_files.h"
#include "tools/profile_command/progress_line.h"
#include "tools/profile_command/screen.h"
#include "tools/profile_command/start/launch.h"

namespace kymo::tools {
namespace {

using State = DemandedProgram::State;

constexpr int kPollMs = 50;
constexpr DurationNs kDefaultNs = 5 * kNsPerSecond;
constexpr int kEndSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr char kAttachedFolder[] = "attached";

// The signals that end it early; blocked while this lives.
class EarlyEnd {
 public:
  EarlyEnd() {
    sigemptyset(&signals_);
    for (const int signal : kEndSignals) sigaddset(&signals_, signal);
    sigprocmask(SIG_BLOCK, &signals_, &before_);
  }
  ~EarlyEnd() { Restore(); }
  EarlyEnd(const EarlyEnd&) = delete;
  EarlyEnd& operator=(const EarlyEnd&) = delete;

  void Restore() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  bool HasCome() const {
    const timespec now = {};
    return sigtimedwait(&signals_, nullptr, &now) > 0;
  }

 private:
  sigset_t signals_;
  sigset_t before_;
};

// Of a process that the trace knows. In a container it may have another number.
bool LacksRanges(const model::Trace& trace, int64_t pid) {
  return std::ranges::count(trace.processes(), pid, &model::Process::pid) > 0 &&
         std::ranges::none_of(trace.track(), [&](model::TrackIndex track) {
           return trace.tracks()[track].pid == pid;
         });
}

class OnDemandRun {
 public:
  OnDemandRun(ProfileCommand command, const BackendRegistry& backends,
              const ExporterRegistry& exporters)
      : command_(std::move(command)),
        backends_(backends),
        exporters_(exporters) {}
  ~OnDemandRun() {
    std::error_code error;
    if (!trace_folder_.empty()) {
      std::filesystem::remove_all(trace_folder_, error);
    }
  }

  int Run() {
    SurviveFileSizeLimit();
    const absl::Status status = Record();
    if (!status.ok()) {
      return Fail(status,
                  absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed);
    }
    Gather();
    for (const std::string& line : missing_) Say(line);
    if (traces_.empty()) {
      return Fail(absl::NotFoundError("no program wrote a trace"), kExitFailed);
    }
    const absl::Status answer = WriteAnswer();
    if (!answer.ok()) {
      Say(
          absl::StrCat("the traces of the programs are there, but not those of "
                       "all together: ",
                       answer.message()));
    }
    out_->Finish();
    if (!command_.quiet) Say("wrote " + ShownPath(out_->path()));
    return command_.strict && (!missing_.empty() || !answer.ok()) ? kExitLost
                                                                  : 0;
  }

 private:
  absl::Status Record() {
    const EarlyEnd early_end;
    KYMO_ASSIGN_OR_RETURN(trace_folder_, MakeTraceFolder());
    auto daemon = DemandDaemon::Bind(Options());
    if (absl::IsAlreadyExists(daemon.status())) {
      return absl::FailedPreconditionError(
          "a dynolog daemon runs here already, or another `kymo profile "
          "--on_demand`: use `dyno gputrace`, which also starts programs with "
          "Kymo in them, or stop the daemon first");
    }
    KYMO_RETURN_IF_ERROR(daemon.status());
    KYMO_ASSIGN_OR_RETURN(
        out_, command_.output_dir.empty()
                  ? RunFolder::TakeDated(UserPath(kDefaultFolder), "on-demand")
                  : RunFolder::Take(UserPath(command_.output_dir)));
    attached_trace_ =
        absl::StrCat(out_->path(), "/", kAttachedFolder, "/trace.json");
    const auto of_earlier_run = StampOf(attached_trace_);
    daemon->Begin();
    StartAttached(*daemon, early_end);
    if (daemon->programs().empty() && attached_ == 0) {
      return absl::NotFoundError(
          "no program has registered, and none has an open door: start "
          "programs with KINETO_USE_DAEMON=1 (PyTorch's, and those that link "
          "Kymo), or with KYMO_ATTACH=1 (docs/on_demand.md)");
    }
    KYMO_RETURN_IF_ERROR(out_->RemoveOld());
    Await(*daemon, early_end);
    const auto now = StampOf(attached_trace_);
    has_attached_trace_ = now.first != 0 && now != of_earlier_run;
    programs_ = daemon->programs();
    return absl::OkStatus();
  }

  DurationNs Duration() const {
    return std::max(command_.duration_ns.value_or(kDefaultNs), kNsPerMs);
  }

  DemandDaemon::Options Options() {
    DemandDaemon::Options options;
    on_demand::Config& config = options.config;
    config.duration_ms = Duration() / kNsPerMs;
    if (command_.iterations > 0) {
      config.iterations = command_.iterations;
      config.start_iteration = 0;
      config.start_iteration_roundup = 1;
    }
    config.record_shapes = command_.record_shapes;
    config.with_stack = command_.with_stack;
    config.with_flops = command_.with_flops;
    config.with_modules = command_.with_modules;
    config.profile_memory = command_.profile_memory;
    options.trace_folder = trace_folder_;
    options.only = command_.attach.pids;
    options.on_change = [this](const DemandedProgram& program) {
      // What is missing in the end is said then.
      const bool is_news = program.state == State::kTold ||
                           program.state == State::kRecords ||
                           program.state == State::kWrote;
      if (command_.quiet || !is_news) return;
      if (program.is_kymo && program.state == State::kTold) return;
      Say(absl::StrCat(program.name, ": ", StateText(program)));
    };
    return options;
  }

  // A process that attaches to those that have a door alone.
  void StartAttached(DemandDaemon& daemon, const EarlyEnd& early_end) {
    const std::vector<pid_t> pids =
        ProcessesWithDoorAlone(command_.attach.pids);
    if (pids.empty()) return;
    if (command_.iterations > 0) {
      for (const pid_t pid : pids) {
        Say(absl::StrCat("process ", pid,
                         " has a door and has not registered, so its steps are "
                         "not known: leave out --iterations"));
      }
      return;
    }
    ProfileCommand command = command_;
    command.attach = {.pids = pids};
    command.duration_ns = daemon.kymo_duration_ns();
    if (command.activities.empty()) {
      command.activities = {"cpu"};
      if (command.profile_memory) command.activities.emplace_back("memory");
    }
    command.exporters = {"chrome"};
    command.gzip = false;
    command.view = false;
    command.quiet = true;
    command.output_dir = absl::StrCat(out_->path(), "/", kAttachedFolder);
    fflush(nullptr);
    attached_ = fork();
    if (attached_ == 0) {
      // What the terminal sends goes to the command alone, which passes it on.
      setpgid(0, 0);
      prctl(PR_SET_PDEATHSIG, SIGINT);
      daemon.CloseInChild();
      early_end.Restore();
      const int status =
          ProfileRunning(std::move(command), backends_, exporters_);
      fflush(nullptr);
      _exit(status);
    }
    if (attached_ < 0) {
      attached_ = 0;
      Say("could not attach to the programs with doors: fork: " +
          std::generic_category().message(errno));
    } else if (!command_.quiet) {
      Say(absl::StrCat("attaching to ", pids.size(),
                       pids.size() == 1 ? " program" : " programs",
                       " with an open door"));
    }
  }

  // 0 when the process that attaches has ended.
  void LookAtAttached() {
    if (attached_ == 0) return;
    if (waitpid(attached_, &attached_status_, WNOHANG) != 0) attached_ = 0;
  }

  // Kymo's programs have recorded long enough when those are through that had
  // to ask first.
  void StopWithKineto(DemandDaemon& daemon, int64_t begin_ns) {
    const int64_t now_ns = MonotonicNs();
    if (is_stopped_ || command_.iterations > 0 || !daemon.KinetoIsThrough() ||
        now_ns < begin_ns + Duration()) {
      return;
    }
    is_stopped_ = true;
    daemon.StopKymo();
    // Where it is about to end by itself, a signal would come too late.
    const bool is_early =
        now_ns + kNsPerSecond < begin_ns + daemon.kymo_duration_ns();
    if (is_early) StopAttached();
  }

  void Await(DemandDaemon& daemon, const EarlyEnd& early_end) {
    const int64_t begin_ns = MonotonicNs();
    while (!daemon.IsDone() || attached_ != 0) {
      pollfd waits = {.fd = daemon.fd(), .events = POLLIN, .revents = 0};
      poll(&waits, 1, kPollMs);
      daemon.Advance();
      LookAtAttached();
      StopWithKineto(daemon, begin_ns);
      if (!early_end.HasCome()) continue;
      if (is_called_off_) return EndAttached();  // the second time
      is_called_off_ = true;
      daemon.CallOff();
      StopAttached();
    }
  }

  // Once: a second signal would end it while it writes.
  void StopAttached() {
    if (attached_ != 0 && !is_attached_stopped_) kill(attached_, SIGINT);
    is_attached_stopped_ = true;
  }

  void EndAttached() {
    if (attached_ == 0) return;
    kill(attached_, SIGKILL);
    waitpid(attached_, &attached_status_, 0);
    attached_ = 0;
  }

  // Copies the traces into the folder, under the programs' names.
  void Gather() {
    for (const DemandedProgram& program : programs_) {
      if (program.state != State::kWrote) {
        missing_.push_back(
            absl::StrCat(program.name, ": ", StateText(program)));
        continue;
      }
      const std::string name = TraceNameOf(program.name);
      const std::string path = absl::StrCat(out_->path(), "/", name);
      absl::Status status = out_->Note(name);
      if (status.ok()) {
        unlink(path.c_str());
        status = CopyTrace(program.file, program.user, path);
      }
      if (status.ok()) {
        recorded_[path] = program;
        traces_.push_back(path);
      } else {
        missing_.emplace_back(status.message());
      }
    }
    if (has_attached_trace_) traces_.push_back(attached_trace_);
    std::string text = AttachedText(attached_status_, has_attached_trace_);
    if (!text.empty()) missing_.push_back(std::move(text));
  }

  // A program that only loads PyTorch has registered, too.
  void TellOfTracesWithoutRanges(const LoadedTrace& loaded) const {
    for (const LoadedFile& file : loaded.files) {
      const auto found = recorded_.find(file.path);
      if (found == recorded_.end()) continue;
      const DemandedProgram& program = found->second;
      const auto changed = file.pids.find(program.pid);
      if (!LacksRanges(loaded.trace, changed == file.pids.end()
                                         ? program.pid
                                         : changed->second)) {
        continue;
      }
      Say(absl::StrCat(
          program.name, ": its trace has no ranges: ",
          program.is_kymo ? "no annotated range ran while it recorded"
                          : "no operation of PyTorch ran while it recorded; "
                            "perhaps the program is still loading PyTorch",
          ". To see what it does: `kymo profile --pid=", program.pid, "`"));
    }
  }

  // What a run writes, of all programs together.
  absl::Status WriteAnswer() {
    ProgressLine progress(!command_.quiet);
    progress.Show("reading the traces");
    ImporterRegistry importers;
    KYMO_RETURN_IF_ERROR(importers.Register(NewChromeImporter()));
    KYMO_ASSIGN_OR_RETURN(const LoadedTrace loaded,
                          Load(traces_, {}, importers));
    KYMO_ASSIGN_OR_RETURN(const RunTables tables,
                          MakeTables(loaded.trace, command_));
    ExportNotes notes;
    const absl::Status written = WriteFiles(
        loaded.trace, [&] { return tables.text; }, command_, exporters_, *out_,
        progress, notes);
    progress.Clear();
    for (const std::string& notice : notes.notices) Say(notice);
    TellOfTracesWithoutRanges(loaded);
    if (command_.quiet) return written;
    ScreenOptions options =
        ScreenOf(STDERR_FILENO, command_.color, TableCount(tables.screen),
                 tables.screen.findings.size());
    if (command_.row_limit_given) options.rows = command_.row_limit;
    const RunFacts facts = {
        .target = absl::StrCat("programs on demand (", traces_.size(),
                               traces_.size() == 1 ? " trace)" : " traces)"),
        .wall_ns = loaded.trace.end_ns() - loaded.trace.start_ns(),
        .attach_end = is_called_off_ ? "recorded until a signal came" : ""};
    KYMO_ASSIGN_OR_RETURN(
        const std::string screen,
        FirstScreen(loaded.trace, tables.screen, facts, options));
    fputs(screen.c_str(), stderr);
    return written;
  }

  ProfileCommand command_;
  const BackendRegistry& backends_;
  const ExporterRegistry& exporters_;
  std::string trace_folder_;
  std::unique_ptr<RunFolder> out_;
  pid_t attached_ = 0;
  int attached_status_ = 0;  // wait()'s, when it has ended
  std::string attached_trace_;
  bool has_attached_trace_ = false;
  bool is_called_off_ = false;
  bool is_stopped_ = false;
  bool is_attached_stopped_ = false;
  std::vector<DemandedProgram> programs_;
  std::vector<std::string> traces_;
  std::map<std::string, DemandedProgram> recorded_;  // by trace
  std::vector<std::string> missing_;
};

}  // namespace

int RecordOnDemand(ProfileCommand command, const BackendRegistry& backends,
                   const ExporterRegistry& exporters) {
  return OnDemandRun(std::move(command), backends, exporters).Run();
}

}  // namespace kymo::tools
