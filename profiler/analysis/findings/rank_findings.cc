#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/findings/families.h"
#include "profiler/analysis/findings/finding_text.h"
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

}  // namespace

// Cost: that of matching messages, if the trace has ranks.
void AddRankFindings(const FindingRun& run, std::vector<Finding>& findings) {
  RankCalls found = FindRankCalls(run.trace);
  const auto ranks = static_cast<int64_t>(found.ranks.size());
  if (ranks < 2) return;
  const JobOfRanks job(run.trace, std::move(found));
  const std::vector<LateRank> late = LateRanks(job);
  if (late.empty()) return;
  DurationNs others_ns = 0;
  for (size_t i = 1; i < late.size(); ++i) others_ns += late[i].waited_ns;
  const LateRank& worst = late.front();
  // Of the time of each rank.
  if (!run.Matters(worst.waited_ns / ranks) ||
      worst.waited_ns / kLateTimes < others_ns / (ranks - 1)) {
    return;
  }
  const int64_t rank = job.calls.ranks[worst.rank].rank;
  Finding finding = run.OfTime(FindingKind::kLateRank, worst.waited_ns);
  finding.share /= static_cast<double>(ranks);
  finding.title = absl::StrCat("Other ranks waited ", TimeText(worst.waited_ns),
                               " in all for rank ", rank, Since(run, worst),
                               ", longest in ", worst.call, " (",
                               TimeText(worst.call_ns), ")");
  finding.next_step = absl::StrCat(
      "Compare what rank ", rank,
      " does before these calls with what the others do (imbalance), and give "
      "it less of it");
  finding.evidence = {.kind = EvidenceKind::kRow,
                      .name = worst.call,
                      .table = TableOf(worst.call)};
  findings.push_back(std::move(finding));
}

}  // namespace kymo::analysis
