#include <signal.h>
#include <string.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/analysis/findings/families.h"
#include "profiler/analysis/findings/finding_text.h"
#include "profiler/analysis/ranks/deadlock.h"
#include "profiler/analysis/ranks/mpi_calls.h"
#include "profiler/analysis/ranks/rank_waits.h"
#include "profiler/model/mpi_names.h"

namespace kymo::analysis {
namespace {

// In every job somebody is last, and a rank in the middle of a stencil has
// twice as many partners as one at its edge. A rank is late if it was waited
// for four times as long as another one on average.
constexpr int64_t kLateTimes = 4;

std::string_view TableOf(const std::string& call) {
  if (call.starts_with("MPI_Wait")) return "mpi_waits";
  return model::IsPointToPoint(call) ? "messages" : "collectives";
}

std::string Since(const FindingRun& run, const LateRank& late) {
  if (!late.since_ns) return "";
  return absl::StrCat(", since ",
                      TimeText(*late.since_ns - run.trace.start_ns()),
                      " after the start");
}

// The first one that left the job of MPI, or failed.
std::optional<size_t> FirstToEnd(const std::vector<Rank>& ranks) {
  std::optional<size_t> first = FirstToBreakOff(ranks);
  for (size_t i = 0; i < ranks.size(); ++i) {
    const std::optional<RankEnd>& end = ranks[i].ended;
    // Ranks without MPI, and those that have called MPI_Finalize.
    if (!end || (ranks[i].is_mpi && !ranks[i].is_finalized)) continue;
    if (end->signal == 0 && end->status == 0) continue;
    if (WasToldToEnd(*end)) continue;
    if (!first || end->time_ns < ranks[*first].ended->time_ns) first = i;
  }
  return first;
}

bool EndedByItself(const Rank& rank) {
  return rank.ended && rank.ended->signal == 0 && rank.ended->status == 0 &&
         !rank.has_aborted;
}

// "was killed by signal 9 (Killed)", of one rank or of several.
std::string HowItEnded(const Rank& rank, bool is_one) {
  if (rank.has_aborted) {
    return absl::StrCat("called MPI_Abort(comm, ", rank.abort_code, ")");
  }
  if (rank.ended->signal != 0) {
    const int signal = static_cast<int>(rank.ended->signal);
    return absl::StrCat(is_one ? "was" : "were", " killed by signal ", signal,
                        " (", strsignal(signal), ")");
  }
  if (rank.ended->status != 0) {
    return absl::StrCat("ended with status ", rank.ended->status);
  }
  return "ended";
}

bool EndedLike(const Rank& rank, const Rank& other) {
  return other.ended && other.ended->signal == rank.ended->signal &&
         other.ended->status == rank.ended->status &&
         other.has_aborted == rank.has_aborted &&
         other.abort_code == rank.abort_code &&
         other.is_finalized == rank.is_finalized;
}

// What may tell why.
std::string WhereToLook(const Rank& rank) {
  if (rank.has_aborted) return "";
  switch (rank.ended->signal) {
    case 0:
      return "";
    case SIGKILL:
      return ", and whether the kernel's log says that memory ran out";
    case SIGSYS:
      return ", and whether its filter of system calls (seccomp) forbids what "
             "Kymo does in it";
    default:
      return ", and at its core dump";
  }
}

// "; its last call of MPI was MPI_Recv". Empty: it called none.
std::string LastCall(const JobOfRanks& job, size_t rank) {
  model::EventIndex last = model::kNoEvent;
  const auto& start = job.trace.start();
  for (const MpiCall& call : job.calls.calls) {
    if (call.rank != rank || call.is_request || call.on_device) continue;
    if (last == model::kNoEvent || start[call.event] > start[last]) {
      last = call.event;
    }
  }
  if (last == model::kNoEvent) return "";
  return absl::StrCat("; its last call of MPI was ",
                      std::string(job.trace.EventName(last)));
}

// A rank that left the job before its end. `late`: how others waited for it.
void AddEnded(const FindingRun& run, const JobOfRanks& job, size_t ended,
              const LateRank& late, std::vector<Finding>& findings) {
  const Rank& rank = job.calls.ranks[ended];
  // A program that never calls MPI_Finalize, and nobody minds.
  const bool is_usual = std::ranges::all_of(job.calls.ranks, EndedByItself);
  if (is_usual && late.never_ns == 0) return;
  Finding finding = run.OfTime(FindingKind::kRankEnded, late.never_ns);
  finding.share /= static_cast<double>(job.calls.ranks.size());
  // If all end so, and nobody waited, the first one says little. The trace may
  // have only some of them.
  const std::vector<Rank>& all = job.calls.ranks;
  const bool is_of_all = late.never_ns == 0 && all.size() > 1 &&
                         std::cmp_equal(all.size(), rank.size) &&
                         std::ranges::all_of(all, [&](const Rank& other) {
                           return EndedLike(rank, other);
                         });
  const std::string when = absl::StrCat(
      "after ", TimeText(rank.ended->time_ns - run.trace.start_ns()));
  finding.title =
      is_of_all
          ? absl::StrCat("All ", all.size(), " ranks ", HowItEnded(rank, false),
                         ", the first, rank ", rank.rank, ", ", when)
          : absl::StrCat("Rank ", rank.rank, " ", HowItEnded(rank, true), " ",
                         when);
  if (rank.is_mpi && !rank.is_finalized) {
    absl::StrAppend(&finding.title, ", without MPI_Finalize");
  }
  if (late.never_ns > 0) {
    absl::StrAppend(&finding.title, "; ",
                    CountText(late.never_ranks, "rank", "ranks"), " waited ",
                    TimeText(late.never_ns),
                    late.never_ranks > 1 ? " in all for it" : " for it");
  }
  finding.next_step =
      absl::StrCat("Look at what rank ", rank.rank, " printed last",
                   WhereToLook(rank), LastCall(job, ended));
  finding.evidence = {.kind = EvidenceKind::kRow,
                      .name = absl::StrCat(rank.rank),
                      .table = "ranks"};
  findings.push_back(std::move(finding));
}

// "rank 0 waits for rank 1 in MPI_Recv (tag 5)".
std::string CircleText(const JobOfRanks& job, const CircleStep& step) {
  const auto name = [&](model::EventIndex event) {
    return std::string(job.trace.EventName(event));
  };
  std::vector<std::string> details;
  if (step.operation != step.call) details.push_back(name(step.operation));
  if (step.tag >= 0) details.push_back(absl::StrCat("tag ", step.tag));
  std::string text = absl::StrCat(
      "rank ", job.calls.ranks[step.rank].rank, " waits for ",
      step.rank == step.awaited
          ? std::string("itself")
          : absl::StrCat("rank ", job.calls.ranks[step.awaited].rank),
      " in ", name(step.call));
  if (!details.empty()) {
    absl::StrAppend(&text, " (", absl::StrJoin(details, ", "), ")");
  }
  return text;
}

// Ranks that wait for each other. False: there are none.
bool AddDeadlock(const FindingRun& run, const JobOfRanks& job,
                 std::vector<Finding>& findings) {
  constexpr size_t kMostSteps = 4;
  const std::optional<Deadlock> found = FindDeadlock(job);
  if (!found || !run.Matters(found->waiting_ns)) return false;
  Finding finding = run.OfTime(FindingKind::kDeadlock, found->waiting_ns);
  finding.share /= static_cast<double>(job.calls.ranks.size());
  const std::vector<CircleStep>& circle = found->circle;
  const auto count = static_cast<int64_t>(circle.size());
  finding.title = absl::StrCat(
      "Deadlock of ", CountText(count, "rank", "ranks"), " since ",
      TimeText(found->since_ns - run.trace.start_ns()), " after the start");
  for (size_t i = 0; i < std::min(circle.size(), kMostSteps); ++i) {
    absl::StrAppend(&finding.title, i == 0 ? ": " : ", ",
                    CircleText(job, circle[i]));
  }
  if (circle.size() > kMostSteps) {
    absl::StrAppend(&finding.title, ", and so on to rank ",
                    job.calls.ranks[circle.back().rank].rank);
  }
  finding.title +=
      OthersText(static_cast<int64_t>(found->others), "rank", "ranks");
  finding.next_step =
      "Compare which calls these ranks make, in which order, and with which "
      "tags and communicators; where each sends before it receives, or each "
      "receives first, MPI_Sendrecv or requests do both at once";
  finding.evidence = run.OfEvent(circle.front().call);
  findings.push_back(std::move(finding));
  return true;
}

// The rank that others waited for most. `late` is not empty.
void AddLate(const FindingRun& run, const JobOfRanks& job,
             const std::vector<LateRank>& late,
             std::vector<Finding>& findings) {
  const auto ranks = static_cast<int64_t>(job.calls.ranks.size());
  DurationNs others_ns = 0;
  for (size_t i = 1; i < late.size(); ++i) others_ns += late[i].delay_ns;
  const LateRank& worst = late.front();
  // Of the time of each rank.
  if (!run.Matters(worst.delay_ns / ranks) ||
      worst.delay_ns / kLateTimes < others_ns / (ranks - 1)) {
    return;
  }
  const int64_t rank = job.calls.ranks[worst.rank].rank;
  const bool never_came = worst.never_ns > worst.delay_ns / 2;
  Finding finding = run.OfTime(FindingKind::kLateRank, worst.delay_ns);
  finding.share /= static_cast<double>(ranks);
  finding.title = absl::StrCat(
      "Other ranks waited ", TimeText(worst.delay_ns), " in all for rank ",
      rank, never_came ? ", which never came" : Since(run, worst));
  if (worst.through_ns >= worst.delay_ns / kLeastPart) {
    absl::StrAppend(&finding.title, " (", TimeText(worst.through_ns),
                    " of it for ranks that themselves waited for it)");
  }
  absl::StrAppend(&finding.title, ", longest in ", worst.call, " (",
                  TimeText(worst.call_ns), ")");
  finding.next_step = absl::StrCat(
      "Compare what rank ", rank,
      " does before these calls with what the others do (imbalance), and give "
      "it less of it");
  if (never_came) {
    finding.next_step =
        absl::StrCat("Find out where rank ", rank, " hangs, or why it died",
                     LastCall(job, worst.rank));
  }
  finding.evidence = {.kind = EvidenceKind::kRow,
                      .name = worst.call,
                      .table = TableOf(worst.call)};
  findings.push_back(std::move(finding));
}

}  // namespace

// Cost: that of matching messages, if the trace has ranks.
void AddRankFindings(const FindingRun& run, std::vector<Finding>& findings) {
  const JobOfRanks& job = run.ranks.Get();
  // --keep_ranks=1 leaves one rank of a job.
  if (job.calls.ranks.empty() || job.calls.ranks.front().size < 2) return;
  // How its ranks ended then is up to who ended the job.
  if (AddDeadlock(run, job, findings)) return;
  const std::vector<LateRank> late = LateRanks(job);
  if (const std::optional<size_t> ended = FirstToEnd(job.calls.ranks)) {
    const auto of_it = std::ranges::find(late, *ended, &LateRank::rank);
    AddEnded(run, job, *ended, of_it == late.end() ? LateRank() : *of_it,
             findings);
    // Others then never came because of it.
    if (!late.empty() && late.front().never_ns > late.front().delay_ns / 2) {
      return;
    }
  }
  if (!late.empty() && job.calls.ranks.size() > 1) {
    AddLate(run, job, late, findings);
  }
}

}  // namespace kymo::analysis
