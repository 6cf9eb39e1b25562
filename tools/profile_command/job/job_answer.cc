#include "tools/profile_command/job/job_answer.h"

#include <stdio.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "importers/builtin/builtin_importers.h"
#include "importers/load/load.h"
#include "profiler/base/status_macros.h"
#include "profiler/report/ranks/rank_tables.h"
#include "profiler/report/value_table.h"
#include "profiler/text/visible_text.h"
#include "tools/command_line/run_folder.h"
#include "tools/command_line/say.h"
#include "tools/command_line/user_folder.h"
#include "tools/profile_command/deliver.h"
#include "tools/profile_command/progress_line.h"

namespace kymo::tools {
namespace {

constexpr int kRowsOnScreen = 8;

std::string Titled(const char* title, const report::ValueTable& table,
                   int row_limit) {
  if (table.rows.empty()) return "";
  return absl::StrCat(title, "\n",
                      report::FormatValueTable(report::VisibleTable(table),
                                               {.row_limit = row_limit}),
                      "\n");
}

std::string RanksText(const model::Trace& trace, int row_limit) {
  return absl::StrCat(
      Titled("Ranks", report::RankTable(trace), row_limit),
      Titled("Collective calls", report::CollectiveTable(trace), row_limit),
      Titled("Imbalance", report::ImbalanceTable(trace), row_limit),
      Titled("Messages", report::MessageTable(trace), row_limit));
}

absl::Status WriteText(const std::string& text, std::string_view name,
                       OutputDirectory& out) {
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSink> sink, out.Open(name));
  KYMO_RETURN_IF_ERROR(sink->Append(text));
  return sink->Commit();
}

absl::StatusOr<LoadedTrace> LoadRanks(const JobFiles& files) {
  ImporterRegistry importers;
  KYMO_RETURN_IF_ERROR(RegisterBuiltinImporters(importers));
  return Load(files.traces, {}, importers);
}

void SayMissing(const JobFiles& files) {
  if (files.missing.empty()) return;
  Say(absl::StrCat("no trace of ",
                   files.missing.size() == 1 ? "rank " : "ranks ",
                   absl::StrJoin(files.missing, ", "),
                   ": it was killed, or its machine does not see the folder; "
                   "the answer is that of the others"));
}

}  // namespace

absl::Status DeliverJob(const JobFolder& job, const ProfileCommand& command,
                        const ExporterRegistry& exporters) {
  ProgressLine progress(!command.quiet);
  progress.Show("waiting for the other ranks");
  const JobFiles files = job.WaitForRanks();
  progress.Clear();
  SayMissing(files);
  if (files.traces.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no rank has a trace in '", job.path(),
                     "'; all ranks have to see this folder (--output_dir)"));
  }
  progress.Show("reading the ranks");
  KYMO_ASSIGN_OR_RETURN(const LoadedTrace loaded, LoadRanks(files));
  for (const LoadedFile& file : loaded.files) {
    for (const ImportFinding& finding : file.findings) {
      if (finding.rule == "rank_clock_unknown") Say(finding.message);
    }
  }
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<RunFolder> out,
                        RunFolder::Take(job.path()));
  KYMO_RETURN_IF_ERROR(out->RemoveOld());
  KYMO_ASSIGN_OR_RETURN(const RunTables tables,
                        MakeTables(loaded.trace, command));
  ExportNotes notes;
  absl::Status status = WriteFiles(loaded.trace, tables.text, command,
                                   exporters, *out, progress, notes);
  status.Update(WriteText(RanksText(loaded.trace, -1), "ranks.txt", *out));
  progress.Clear();
  for (const std::string& notice : notes.notices) Say(notice);
  out->Finish();
  if (!command.quiet) {
    fputs(VisibleLines(RanksText(loaded.trace, kRowsOnScreen)).c_str(), stderr);
    Say("wrote " + ShownPath(job.path()));
  }
  return status;
}

}  // namespace kymo::tools
