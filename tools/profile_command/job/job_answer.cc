#include "tools/profile_command/job/job_answer.h"

#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "importers/chrome/chrome_importer.h"
#include "importers/load/load.h"
#include "importers/raw/raw_importer.h"
#include "profiler/analysis/ranks/lazy_job.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/trace.h"
#include "profiler/report/ranks/job_averages.h"
#include "profiler/report/ranks/rank_tables.h"
#include "profiler/report/value_table.h"
#include "profiler/text/json_writer.h"
#include "tools/command_line/run_folder.h"
#include "tools/command_line/say.h"
#include "tools/command_line/user_folder.h"
#include "tools/deliver/view_page.h"
#include "tools/profile_command/deliver.h"
#include "tools/profile_command/job/job_screen.h"
#include "tools/profile_command/progress_line.h"
#include "tools/profile_command/screen.h"
#include "tools/profile_command/what_to_open.h"

namespace kymo::tools {
namespace {

constexpr int kRowsOnScreen = 8;

// ranks.txt: the tables as they are.
std::string WholeTables(const std::vector<JobTable>& tables) {
  std::string text;
  for (const JobTable& table : tables) {
    absl::StrAppend(
        &text, table.about, "\n",
        report::FormatValueTable(report::VisibleTable(table.table), {}), "\n");
  }
  return text;
}

void ShowScreen(const analysis::LazyJobOfRanks& ranks, const JobFacts& facts,
                const std::vector<JobTable>& tables,
                const ProfileCommand& command) {
  const std::vector<std::string> findings = FindingsOfJob(ranks);
  ScreenOptions options =
      ScreenOf(STDERR_FILENO, command.color, tables.size(), findings.size());
  // A line above each table says what it is.
  options.rows = std::min(options.rows, kRowsOnScreen);
  if (command.row_limit_given) options.rows = command.row_limit;
  fputs(JobScreen(ranks.Get().trace, facts, tables, findings, options).c_str(),
        stderr);
}

void ShowFiles(const RunFolder& out) {
  const std::string folder = ShownPath(out.path());
  Say("wrote " + folder);
  for (const std::string& line : WhatToOpen(out.Names(), folder)) Say(line);
  Say(absl::StrCat("tables of ranks: ", folder,
                   "/ranks.txt; of each rank: ", folder, "/rank-N/"));
}

// The text, below what is to be said of it, if anything is.
std::string Below(const std::string& about, const std::string& text) {
  return about.empty() ? text : absl::StrCat(about, "\n\n", text);
}

absl::Status WriteText(const std::string& text, std::string_view name,
                       OutputDirectory& out) {
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSink> sink, out.Open(name));
  KYMO_RETURN_IF_ERROR(sink->Append(text));
  return sink->Commit();
}

// Of trace.json, trace.json.gz or kymo.raw.
absl::StatusOr<LoadedTrace> LoadRanks(const JobFiles& files) {
  ImporterRegistry importers;
  KYMO_RETURN_IF_ERROR(importers.Register(NewChromeImporter()));
  KYMO_RETURN_IF_ERROR(importers.Register(NewRawImporter()));
  return Load(files.traces, {}, importers);
}

// It follows "because".
const char* WhyMissing(MissingReason reason) {
  switch (reason) {
    case MissingReason::kNeverSeen:
      return "nothing was seen of a command with --ranks there, or the machine "
             "does not see the folder, or it has another KYMO_RANKS_TOKEN";
    case MissingReason::kLost:
      return "the command was killed";
    case MissingReason::kNoTrace:
      return "the command ended without a trace, and has said why";
  }
  return "";
}

// "rank 3", "ranks 0-2, 7".
std::string RankList(const std::vector<int64_t>& ranks) {
  return absl::StrCat(ranks.size() == 1 ? "rank " : "ranks ",
                      report::RankRanges(ranks));
}

using MissingRanks = std::map<MissingReason, std::vector<int64_t>>;

MissingRanks ByReason(const JobFiles& files) {
  MissingRanks by_reason;
  for (const MissingRank& missing : files.missing) {
    by_reason[missing.reason].push_back(missing.rank);
  }
  return by_reason;
}

// A sentence for each reason.
std::vector<std::string> AboutMissing(const MissingRanks& missing,
                                      const std::vector<int64_t>& killed) {
  std::vector<std::string> lines;
  if (!killed.empty()) {
    const bool is_one = killed.size() == 1;
    lines.push_back(absl::StrCat(
        is_one ? "the command of " : "the commands of ", RankList(killed),
        is_one ? " was" : " were",
        " killed; the answer has what was recorded until then, without samples "
        "and waits (rank-",
        killed.front(), "/kymo.raw)"));
  }
  for (const auto& [reason, ranks] : missing) {
    lines.push_back(absl::StrCat("no trace of ", RankList(ranks), ": ",
                                 WhyMissing(reason),
                                 "; the answer is that of the others"));
  }
  return lines;
}

// What is missing of a job, in the ledger of its trace.
void CountMissing(const MissingRanks& missing, std::vector<int64_t> killed,
                  model::Trace& trace) {
  const std::vector<analysis::Rank> ranks =
      analysis::FindRankCalls(trace).ranks;
  model::TraceData data = std::move(trace).Release();
  for (const auto& [reason, absent] : missing) {
    data.ledger.AddPart(
        {model::Loss::kRanksAbsent, RankList(absent), WhyMissing(reason)},
        absent.size());
  }
  // MPI says of which rank a process is. Else the command says it at its end.
  std::erase_if(killed, [&](int64_t rank) {
    return std::ranges::count(ranks, rank, &analysis::Rank::rank) > 0;
  });
  if (!killed.empty()) {
    data.ledger.AddPart({model::Loss::kRanksAbsent, RankList(killed),
                         "the command was killed before it could say which "
                         "process was the rank; the timeline has it"},
                        killed.size());
  }
  int64_t lost = 0;
  for (const analysis::Rank& rank : ranks) lost += rank.requests_lost;
  if (lost > 0) {
    data.ledger.AddOfBackend(
        "mpi",
        "requests that were not followed, since 65,536 of a rank were open; "
        "their messages, and who waited for them, are missing",
        static_cast<uint64_t>(lost));
  }
  trace = model::Trace(std::move(data));
}

// One line for each rule, however many ranks it is about.
void SayAboutClocks(std::string_view rule, const LoadedTrace& loaded) {
  int64_t more = -1;
  std::string first;
  for (const LoadedFile& file : loaded.files) {
    for (const ImportFinding& finding : file.findings) {
      if (finding.rule != rule) continue;
      if (++more == 0) first = finding.message;
    }
  }
  if (more < 0) return;
  Say(more == 0 ? first
                : absl::StrCat(first, " (the same holds for ", more, " more)"));
}

// Whether ranks of the job called MPI_Init, and each was alone there.
bool IsOfSingletons(const model::Trace& trace,
                    const std::vector<analysis::Rank>& ranks,
                    const JobRank& job) {
  if (job.size < 2 || (!trace.strings().Find("MPI_Init") &&
                       !trace.strings().Find("MPI_Init_thread"))) {
    return false;
  }
  return std::ranges::none_of(ranks, [](const analysis::Rank& rank) {
    return rank.is_mpi && rank.size > 1;
  });
}

// Says it if the trace lacks what a job of MPI should have.
void SayWhatMpiLacks(const model::Trace& trace,
                     const std::vector<analysis::Rank>& ranks,
                     const ProfileCommand& command, const JobRank& job) {
  if (command.quiet) return;
  const bool records_mpi = command.activities.empty() ||
                           std::ranges::count(command.activities, "mpi") > 0;
  if (job.may_use_mpi && !records_mpi) {
    Say("--activities has no mpi, so the answer is without calls of MPI, "
        "messages and who waited for whom; --activities=cpu,mpi records them");
  } else if (IsOfSingletons(trace, ranks, job)) {
    Say(absl::StrCat(
        "MPI knows of no other rank in any of the ", job.size,
        " ranks: the launcher has not connected them (srun has --mpi=pmix or "
        "--mpi=pmi2 for that), so there are no messages between ranks"));
  } else if (job.is_mpi && ranks.empty()) {
    Say("no rank called MPI_Init in a way that Kymo sees, so there are no "
        "tables of ranks; Kymo does not see MPI that is linked statically, or "
        "whose functions the program looks up itself (dlsym), as Python's "
        "ctypes and Julia's MPI.jl do");
  }
}

std::string SumsJson(const analysis::RankSums& sums) {
  std::string text;
  json::JsonWriter json(text);
  report::WriteJobAverages(sums, json);
  return text + "\n";
}

std::string KeptRanks(const std::vector<analysis::Rank>& ranks) {
  std::vector<int64_t> kept;
  for (const analysis::Rank& rank : ranks) kept.push_back(rank.rank);
  return RankList(kept);
}

// For the screen and ranks.txt.
struct JobAnswer {
  JobTimes times;
  std::vector<JobTable> tables;
  // With --keep_ranks, whose tables these are: in key_averages.txt, and beside
  // the averages of all ranks.
  std::string about_averages;
  std::string about_tables;
};

// `sums` are null without --keep_ranks.
JobAnswer AnswerOf(const analysis::JobOfRanks& ranks,
                   const ProfileCommand& command, const JobRank& job,
                   const analysis::RankSums* sums) {
  SayWhatMpiLacks(ranks.trace, ranks.calls.ranks, command, job);
  JobAnswer answer = {.times = TimesOfJob(ranks),
                      .tables = JobTables(ranks, sums)};
  if (sums == nullptr || ranks.calls.ranks.empty()) return answer;
  const std::string kept = KeptRanks(ranks.calls.ranks);
  const size_t count = sums->ranks().size();
  const std::string averages =
      absl::StrCat("averages of ", count, count == 1 ? " rank" : " ranks");
  answer.about_averages = absl::StrCat("These tables are of ", kept,
                                       " only, which --keep_ranks has kept; ",
                                       averages, " are in ranks.txt.");
  answer.about_tables = absl::StrCat("But for the ", averages,
                                     ", the tables and findings are of ", kept,
                                     " only, which --keep_ranks has kept.");
  return answer;
}

// Keeps so many. If no averages came, all that is there.
void KeepTraces(const JobFolder& job, const analysis::RankSums& sums, int count,
                const RankChoice& choice, JobFiles& files) {
  std::vector<int64_t> wanted =
      sums.MostInteresting(count, job.FirstToBreakOff());
  // Where commands were killed, these are not as many as were asked for.
  const bool has_none = sums.ranks().empty();
  for (int64_t rank = 0; rank < job.rank().size; ++rank) {
    if (!has_none && std::ssize(wanted) >= count) break;
    if (!std::ranges::count(wanted, rank)) wanted.push_back(rank);
  }
  const std::vector<int64_t> kept = choice.keep(wanted);
  const std::vector<std::string> before =
      std::exchange(files.traces, std::vector<std::string>());
  for (const int64_t rank : wanted) {
    std::string trace = job.TraceOf(rank);
    // Of a rank whose command was killed, there are its records only.
    const auto records =
        std::ranges::find_if(before, [&](const std::string& path) {
          return path.starts_with(job.RankPath(rank) + "/");
        });
    if (trace.empty() && records != before.end()) trace = *records;
    if (!trace.empty() && std::ranges::count(kept, rank) > 0) {
      files.traces.push_back(std::move(trace));
    } else if (std::ranges::count(files.missing, rank, &MissingRank::rank) ==
               0) {
      files.missing.push_back({rank, MissingReason::kLost});
    }
  }
}

// Waits, and says after a while whom for: a launcher that kills the job in the
// meantime also ends the wait.
JobFiles Wait(const JobFolder& job, const WaitLimits& limits,
              ProgressLine& progress) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  bool is_said = false;
  std::vector<int64_t> shown;
  return job.WaitForRanks(limits, [&](const std::vector<int64_t>& awaited) {
    if (awaited != shown) progress.Show("waiting for " + RankList(awaited));
    shown = awaited;
    if (is_said || Clock::now() - begin < std::chrono::seconds(20)) return;
    is_said = true;
    progress.Clear();
    Say(absl::StrCat("waiting for ", RankList(awaited),
                     "; to see the others' ranks now: kymo report "
                     "--analysis=ranks,collectives,imbalance,messages ",
                     ShownPath(job.path()), "/rank-*/trace.json"));
  });
}

}  // namespace

absl::Status DeliverJob(const JobFolder& job, const ProfileCommand& command,
                        const ExporterRegistry& exporters,
                        const WaitLimits& limits, const RankChoice* choice) {
  ProgressLine progress(!command.quiet);
  JobFiles files = Wait(job, limits, progress);
  std::optional<analysis::RankSums> sums;
  if (choice != nullptr) {
    sums = choice->take_sums();
    progress.Show("waiting for the traces of the ranks that are kept");
    KeepTraces(job, *sums, command.keep_ranks, *choice, files);
  }
  progress.Clear();
  const MissingRanks by_reason = ByReason(files);
  const auto missing = AboutMissing(by_reason, files.killed);
  for (const std::string& line : missing) Say(line);
  if (files.traces.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no rank has a trace in '", job.path(),
                     "', so the job has no answer; the lines before this one "
                     "say what went wrong"));
  }
  progress.Show("reading the ranks");
  KYMO_ASSIGN_OR_RETURN(LoadedTrace loaded, LoadRanks(files));
  CountMissing(by_reason, files.killed, loaded.trace);
  for (const std::string_view rule :
       {"rank_clock_unknown", "rank_clock_by_messages", "rank_clock_jumped"}) {
    if (!command.quiet) SayAboutClocks(rule, loaded);
  }
  const analysis::RankSums* const of_all = sums ? &*sums : nullptr;
  const analysis::LazyJobOfRanks ranks(loaded.trace);
  JobAnswer answer = AnswerOf(ranks.Get(), command, job.rank(), of_all);
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<RunFolder> out,
                        RunFolder::Take(job.path()));
  KYMO_RETURN_IF_ERROR(out->RemoveOld());
  ProfileCommand without_screen = command;
  without_screen.quiet = true;  // the screen of a job is another one
  KYMO_ASSIGN_OR_RETURN(const RunTables tables,
                        MakeTables(loaded.trace, without_screen));
  // First what is small and says most: a disk may have no room for a timeline.
  std::string about = Below(answer.about_tables, WholeTables(answer.tables));
  for (const std::string& line : missing) absl::StrAppend(&about, line, "\n");
  absl::Status status = WriteText(about, "ranks.txt", *out);
  if (sums) {
    status.Update(WriteText(SumsJson(*sums), "job_averages.json", *out));
  }
  ExportNotes notes;
  status.Update(WriteFiles(
      loaded.trace, [&] { return Below(answer.about_averages, tables.text); },
      command, exporters, *out, progress, notes,
      {.job = of_all, .ranks = &ranks}));
  progress.Clear();
  out->Finish();
  if (!command.quiet) {
    for (const std::string& notice : notes.notices) Say(notice);
    const JobFacts facts = {
        .target = absl::StrJoin(command.target, " "),
        .ranks = job.rank().size,
        .with_trace = static_cast<int64_t>(files.traces.size()),
        .times = std::move(answer.times)};
    ShowScreen(ranks, facts, answer.tables, command);
    if (!answer.about_tables.empty()) Say(answer.about_tables);
    ShowFiles(*out);
  }
  if (command.view && std::ranges::count(out->Names(), kPageFile) > 0) {
    const std::string viewed = ViewPage(out->path() + "/" + kPageFile);
    if (!command.quiet) Say(viewed);
  }
  return status;
}

}  // namespace kymo::tools
