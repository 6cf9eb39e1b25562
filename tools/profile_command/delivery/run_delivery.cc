#include "tools/profile_command/delivery/run_delivery.h"

#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/analysis/memory/lazy_profiles.h"
#include "profiler/plugin/kept_recording.h"
#include "profiler/report/ledger_text.h"
#include "profiler/text/visible_text.h"
#include "tools/command_line/flag_dashes.h"
#include "tools/command_line/say.h"
#include "tools/command_line/user_folder.h"
#include "tools/deliver/view_page.h"
#include "tools/profile_command/deliver.h"
#include "tools/profile_command/deliver_large.h"
#include "tools/profile_command/progress_line.h"
#include "tools/profile_command/screen.h"
#include "tools/profile_command/what_to_open.h"

namespace kymo::tools {
namespace {

// What --strict does not accept.
constexpr char kNotWhole[] = "the trace is not whole";
constexpr char kNotWritten[] = "a file could not be written";

// The tables, or why there are none.
std::string TextOf(const absl::StatusOr<RunTables>& tables) {
  return tables.ok() ? tables->text : std::string(tables.status().message());
}

class Delivery {
 public:
  Delivery(const StoppedRun& run, const ProfileCommand& command,
           const ExporterRegistry& exporters, RunFolder& out)
      : run_(run), command_(command), exporters_(exporters), out_(out) {}

  // Analyses and writes. Returns what --strict does not accept.
  std::vector<std::string> Deliver() {
    std::vector<std::string> lacks;
    if (!run_.stopped.ok()) Say(std::string(run_.stopped.message()));
    ProgressLine progress(!command_.quiet);
    progress.Show("reading what was recorded");
    const FinishedRecording finished = run_.recording.Finish(run_.metadata);
    progress.Clear();
    const absl::StatusOr<model::Trace>& trace = finished.trace;
    for (const absl::Status& problem : run_.recording.problems()) {
      Say(std::string(problem.message()));
    }
    for (const KeptRecording& kept : finished.kept) Say(kept.why);
    if (!command_.quiet) {
      for (const std::string& remark : run_.recording.Remarks()) Say(remark);
    }
    if (!trace.ok()) Say(std::string(trace.status().message()));
    if (!run_.recording.problems().empty()) {
      lacks.emplace_back("an activity had a problem");
    }
    if (!finished.kept.empty()) {
      const LargeDelivery delivery =
          DeliverLarge(finished.kept, trace.ok() ? &*trace : nullptr, command_,
                       exporters_, out_);
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
    if (run_.on_trace) run_.on_trace(*trace);
    ledger_ = report::LedgerText(trace->ledger());
    progress.Show("summing up");
    const analysis::WindowSums* const sums = SumsBeyond(*trace, lacks);
    if (sums != nullptr) ledger_ = report::LedgerText(sums->ledger());
    const analysis::LazyMemoryProfiles memory(*trace);
    absl::StatusOr<RunTables> tables;
    const auto make_tables = [&] {
      tables = MakeTables(*trace, command_, sums, &memory);
      return TextOf(tables);
    };
    ExportNotes notes;
    const absl::Status written =
        WriteFiles(*trace, make_tables, command_, exporters_, out_, progress,
                   notes, {.recording = sums, .memory = &memory});
    progress.Clear();
    if (sums != nullptr) SayNotices({AboutNewest(*trace, *sums, command_)});
    if (tables.ok()) {
      ShowScreen(*trace, tables->screen);
    } else {
      Say(TextOf(tables));
    }
    // What files lack comes after the answer, beside their names.
    SayNotices(notes.notices);
    if (!written.ok()) Say(std::string(written.message()));
    ShowFiles(written.ok());
    const model::LossLedger& ledger =
        sums != nullptr ? sums->ledger() : trace->ledger();
    if (ledger.AnythingLost()) lacks.emplace_back(kNotWhole);
    if (!written.ok()) lacks.emplace_back(kNotWritten);
    return lacks;
  }

  const std::string& ledger() const { return ledger_; }

 private:
  // Null if the trace has all of the recording.
  const analysis::WindowSums* SumsBeyond(
      const model::Trace& trace, std::vector<std::string>& lacks) const {
    if (!run_.summer.has_windows()) return nullptr;
    const absl::Status added = run_.summer.Finish(trace);
    if (!added.ok()) {
      Say(absl::StrCat("the table and the stacks lack the newest ranges: ",
                       added.message()));
      lacks.emplace_back(kNotWhole);
    }
    return &run_.summer.sums();
  }

  void SayNotices(const std::vector<std::string>& notices) const {
    if (run_.hides_notices) return;
    for (const std::string& notice : notices) Say(notice);
  }

  void ShowLarge(const LargeDelivery& delivery) const {
    SayNotices(delivery.notices);
    if (!delivery.status.ok()) Say(std::string(delivery.status.message()));
    if (!command_.quiet) fputs(VisibleLines(delivery.table).c_str(), stderr);
    ShowFiles(delivery.status.ok());
  }

  void ShowScreen(const model::Trace& trace, const ScreenTables& tables) const {
    if (command_.quiet) return;
    ScreenOptions options =
        ScreenOf(STDERR_FILENO, command_.color, TableCount(tables),
                 tables.findings.size());
    if (command_.row_limit_given) options.rows = command_.row_limit;
    const absl::StatusOr<std::string> screen =
        FirstScreen(trace, tables, run_.facts, options);
    if (screen.ok()) {
      fputs(screen->c_str(), stderr);
    } else {
      Say(std::string(screen.status().message()));
    }
  }

  void ShowFiles(bool are_all_written) const {
    if (!out_.HasFiles()) return;
    const std::vector<std::string> names = out_.Names();
    if (!command_.quiet) {
      const std::string folder = ShownPath(out_.path());
      const size_t tried = are_all_written ? names.size() : out_.CountTried();
      Say(WhatWasWritten(names.size(), tried, folder));
      for (const std::string& line : WhatToOpen(names, folder)) Say(line);
    }
    if (!command_.view || std::ranges::count(names, kPageFile) == 0) return;
    const std::string viewed = ViewPage(out_.path() + "/" + kPageFile);
    if (!command_.quiet) Say(viewed);
  }

  const StoppedRun& run_;
  const ProfileCommand& command_;
  const ExporterRegistry& exporters_;
  RunFolder& out_;
  std::string ledger_;
};

}  // namespace

int DeliverRun(const StoppedRun& run, const ProfileCommand& command,
               const ExporterRegistry& exporters, RunFolder& out) {
  std::vector<std::string> lacks = {"the recording could not be analysed"};
  Delivery delivery(run, command, exporters, out);
  try {
    lacks = delivery.Deliver();
  } catch (const std::bad_alloc&) {
    Say("could not analyse the recording: not enough memory; try recording "
        "for a shorter time");
  }
  out.Finish();
  if (!out.HasFiles()) return kExitFailed;
  if (lacks.empty() || !command.strict || !run.may_be_strict) return 0;
  fputs(WithFlagDashes(delivery.ledger()).c_str(), stderr);
  Say("--strict: status 3, because " + absl::StrJoin(lacks, ", and "));
  return kExitLost;
}

}  // namespace kymo::tools
