#include "profiler/report/ranks/rank_tables.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/ranks/collectives.h"
#include "profiler/analysis/ranks/imbalance.h"
#include "profiler/analysis/ranks/messages.h"
#include "profiler/analysis/ranks/mpi_calls.h"
#include "profiler/analysis/ranks/rank_path.h"
#include "profiler/analysis/ranks/rank_waits.h"

namespace kymo::report {
namespace {

Value ShareOf(DurationNs part, DurationNs whole) {
  if (whole <= 0) return {};
  return static_cast<double>(part) / static_cast<double>(whole);
}

// Since when a rank is late is said if others waited for it for a twentieth of
// their time: two runs of one program differ by as much.
constexpr int64_t kMattersPart = 20;

// Of a rank or a communicator; below 0 it is none.
Value NumberOrNone(int64_t number) {
  return number >= 0 ? Value(number) : Value();
}

// Each rank's part of the critical path. Empty: the trace has none.
std::vector<Value> SharesOfPath(const analysis::JobOfRanks& job) {
  if (!analysis::HasRankPath(job.calls)) return {};
  std::vector<DurationNs> times(job.calls.ranks.size());
  DurationNs path = 0;
  for (const analysis::RankStep& step : analysis::FindRankPath(job)) {
    times[step.rank] += step.duration_ns();
    path += step.duration_ns();
  }
  std::vector<Value> shares;
  for (const DurationNs time : times) shares.push_back(ShareOf(time, path));
  return shares;
}

Value TextOrNone(const std::string& text) {
  return text.empty() ? Value() : Value(text);
}

// Of a rank that ended as it should, or whose command did not say, nothing.
Value HowItEnded(const analysis::Rank& rank) {
  if (!rank.ended) return {};
  if (rank.has_aborted) {
    return "MPI_Abort(comm, " + std::to_string(rank.abort_code) + ")";
  }
  const analysis::RankEnd& end = *rank.ended;
  if (end.signal != 0) return "signal " + std::to_string(end.signal);
  if (end.status != 0) return "status " + std::to_string(end.status);
  return rank.is_mpi && !rank.is_finalized ? Value(std::string("early"))
                                           : Value();
}

}  // namespace

std::string RankRanges(std::span<const int64_t> ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    if (i > 0) text += ", ";
    text += std::to_string(ranks[i]);
    if (last > i) text += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

ValueTable RankTable(const analysis::JobOfRanks& job) {
  ValueTable table{
      .columns = {{"rank", "Rank", Unit::kCount},
                  {"host", "Host", Unit::kText},
                  {"process", "Process", Unit::kCount},
                  {"waited_for_ns", "Waited for", Unit::kNs},
                  {"delay_ns", "Delay", Unit::kNs},
                  {"late_since_ns", "Late since", Unit::kNs},
                  {"start_ns", "Start +", Unit::kNs},
                  {"wall_ns", "Wall", Unit::kNs},
                  {"path_share", "Path %", Unit::kShare},
                  {"mpi_share", "MPI %", Unit::kShare},
                  {"collective_ns", "Collective", Unit::kNs},
                  {"mean_late_ns", "Enters +", Unit::kNs},
                  {"point_to_point_ns", "Point to point", Unit::kNs},
                  {"other_mpi_ns", "Other MPI", Unit::kNs},
                  {"calls", "# of Calls", Unit::kCount},
                  {"sent_bytes", "Sent", Unit::kBytes},
                  {"clock_bound_ns", "Clock +-", Unit::kNs},
                  {"finalized", "Finalized", Unit::kText},
                  {"ended", "Ended", Unit::kText},
                  {"ended_ns", "After", Unit::kNs}},
      .rows = {}};
  const analysis::RankCalls& calls = job.calls;
  const std::vector<analysis::RankSkew> skews = analysis::SkewOfRanks(job);
  const std::vector<Value> path_shares = SharesOfPath(job);
  std::vector<Value> waited_for(calls.ranks.size(), Value(int64_t{0}));
  std::vector<Value> delay = waited_for;
  std::vector<Value> late_since(calls.ranks.size());
  const std::vector<analysis::RankTimes> all_times =
      analysis::TimesOfRanks(job.trace, calls);
  DurationNs all_ns = 0;
  for (const analysis::RankTimes& times : all_times) all_ns += times.wall_ns;
  for (const analysis::LateRank& late : analysis::LateRanks(job)) {
    waited_for[late.rank] = late.waited_ns;
    delay[late.rank] = late.delay_ns;
    if (late.since_ns && late.delay_ns >= all_ns / kMattersPart)
      late_since[late.rank] = *late.since_ns - job.trace.start_ns();
  }
  for (const analysis::RankTimes& times : all_times) {
    const analysis::Rank& rank = calls.ranks[times.rank];
    const analysis::RankSkew& skew = skews[times.rank];
    Value bound;
    if (rank.clock_bound_ns) bound = *rank.clock_bound_ns;
    Value enters;
    if (skew.operations > 0) enters = skew.mean_ns();
    std::vector<Value> row = {rank.rank,
                              rank.host,
                              rank.pid,
                              waited_for[times.rank],
                              delay[times.rank],
                              late_since[times.rank],
                              skew.start_ns,
                              times.wall_ns,
                              {}};
    if (!path_shares.empty()) row.back() = path_shares[times.rank];
    if (rank.is_mpi) {
      row.insert(row.end(),
                 {ShareOf(times.in_mpi_ns, times.wall_ns), times.collective_ns,
                  enters, times.point_to_point_ns, times.other_mpi_ns,
                  times.calls, times.sent_bytes});
    } else {
      Value collective;
      if (skew.operations > 0) collective = times.collective_ns;
      row.insert(row.end(), {{}, collective, enters, {}, {}, {}, {}});
    }
    row.push_back(bound);
    row.push_back(rank.is_mpi
                      ? Value(std::string(rank.is_finalized ? "yes" : "no"))
                      : Value());
    row.push_back(HowItEnded(rank));
    row.push_back(row.back() == Value()
                      ? Value()
                      : Value(rank.ended->time_ns - job.trace.start_ns()));
    table.rows.push_back(std::move(row));
  }
  return table;
}

ValueTable ImbalanceTable(const analysis::JobOfRanks& job) {
  ValueTable table{.columns = {{"name", "Name", Unit::kText},
                               {"ranks", "Ranks", Unit::kCount},
                               {"mean_ns", "Mean", Unit::kNs},
                               {"most_ns", "Most", Unit::kNs},
                               {"most_rank", "In rank", Unit::kCount},
                               {"least_ns", "Least", Unit::kNs},
                               {"least_rank", "In rank", Unit::kCount},
                               {"excess_ns", "Most - mean", Unit::kNs},
                               {"excess_share", "Of most", Unit::kShare},
                               {"steps", "Steps", Unit::kCount},
                               {"step_excess_ns", "By step", Unit::kNs},
                               {"worst_step", "Worst step", Unit::kCount},
                               {"worst_step_rank", "In rank", Unit::kCount},
                               {"worst_step_excess_ns", "There", Unit::kNs}},
                   .rows = {}};
  for (const analysis::Imbalance& row :
       analysis::ImbalanceByName(job.trace, job.calls)) {
    table.rows.push_back({row.name, row.ranks, row.mean_ns, row.most_ns,
                          row.most_rank, row.least_ns, row.least_rank,
                          row.excess_ns(),
                          ShareOf(row.excess_ns(), row.most_ns)});
    std::vector<Value>& cells = table.rows.back();
    if (row.steps == 0) {
      cells.resize(table.columns.size());
      continue;
    }
    cells.insert(cells.end(), {row.steps, row.step_excess_ns});
    if (row.worst_step > 0) {
      cells.insert(cells.end(), {row.worst_step, row.worst_step_rank,
                                 row.worst_step_excess_ns});
    }
    cells.resize(table.columns.size());
  }
  return table;
}

ValueTable CollectiveTable(const analysis::JobOfRanks& job) {
  ValueTable table{.columns = {{"name", "Name", Unit::kText},
                               {"comm", "Communicator", Unit::kCount},
                               {"comm_name", "Its name", Unit::kText},
                               {"ranks", "Ranks", Unit::kCount},
                               {"operations", "Operations", Unit::kCount},
                               {"incomplete", "Incomplete", Unit::kCount},
                               {"missing_ranks", "Without ranks", Unit::kText},
                               {"total_ns", "Total", Unit::kNs},
                               {"waiting_ns", "Waiting", Unit::kNs},
                               {"waiting_share", "Waiting %", Unit::kShare},
                               {"transfer_ns", "Transfer", Unit::kNs},
                               {"late_rank", "Late rank", Unit::kCount},
                               {"late_ns", "Waited for it", Unit::kNs},
                               {"late_operations", "Last in", Unit::kCount},
                               {"mean_skew_ns", "Mean skew", Unit::kNs},
                               {"most_skew_ns", "Most skew", Unit::kNs}},
                   .rows = {}};
  for (const analysis::CollectiveSum& sum : analysis::CollectiveSums(job)) {
    table.rows.push_back(
        {sum.name, NumberOrNone(sum.comm), TextOrNone(sum.comm_name), sum.ranks,
         sum.operations, sum.incomplete, TextOrNone(RankRanges(sum.missing)),
         sum.total_ns, sum.waiting_ns, ShareOf(sum.waiting_ns, sum.total_ns),
         sum.transfer_ns(), NumberOrNone(sum.late_rank), sum.late_ns,
         sum.late_operations, sum.skew_ns / sum.operations, sum.most_skew_ns});
  }
  return table;
}

ValueTable MpiWaitTable(const analysis::JobOfRanks& job) {
  ValueTable table{.columns = {{"name", "Name", Unit::kText},
                               {"calls", "# of Calls", Unit::kCount},
                               {"messages", "Messages", Unit::kCount},
                               {"total_ns", "Total", Unit::kNs},
                               {"waiting_ns", "Waiting", Unit::kNs},
                               {"waiting_share", "Waiting %", Unit::kShare},
                               {"transfer_ns", "Transfer", Unit::kNs},
                               {"late_rank", "Late rank", Unit::kCount},
                               {"late_ns", "Waited for it", Unit::kNs},
                               {"late_calls", "In calls", Unit::kCount}},
                   .rows = {}};
  for (const analysis::WaitSum& sum : analysis::WaitSums(job)) {
    table.rows.push_back({sum.name, sum.calls, sum.messages, sum.total_ns,
                          sum.waiting_ns, ShareOf(sum.waiting_ns, sum.total_ns),
                          sum.transfer_ns(), NumberOrNone(sum.late_rank),
                          sum.late_ns, sum.late_calls});
  }
  return table;
}

ValueTable JobTable(const analysis::RankSums& sums) {
  ValueTable table{.columns = {{"name", "Name", Unit::kText},
                               {"ranks", "Ranks", Unit::kCount},
                               {"calls", "# of Calls", Unit::kCount},
                               {"total_ns", "Total", Unit::kNs},
                               {"mean_ns", "Mean of ranks", Unit::kNs},
                               {"deviation_ns", "Deviation", Unit::kNs},
                               {"most_ns", "Most", Unit::kNs},
                               {"most_rank", "In rank", Unit::kCount},
                               {"least_ns", "Least", Unit::kNs},
                               {"least_rank", "In rank", Unit::kCount},
                               {"call_mean_ns", "Call mean", Unit::kNs},
                               {"call_p50_ns", "Call p50", Unit::kNs},
                               {"call_p99_ns", "Call p99", Unit::kNs},
                               {"call_most_ns", "Call most", Unit::kNs},
                               {"call_most_rank", "In rank", Unit::kCount}},
                   .rows = {}};
  using Named = std::pair<const std::string, analysis::NameSums>;
  std::vector<const Named*> by_time;
  for (const Named& named : sums.names()) by_time.push_back(&named);
  std::stable_sort(by_time.begin(), by_time.end(),
                   [](const Named* a, const Named* b) {
                     return a->second.totals.sum_ns > b->second.totals.sum_ns;
                   });
  for (const Named* const named : by_time) {
    const analysis::RankNumbers& totals = named->second.totals;
    const analysis::RankNumbers& calls = named->second.calls;
    table.rows.push_back(
        {named->first, totals.count, calls.count, totals.sum_ns,
         static_cast<int64_t>(totals.mean_ns()),
         static_cast<int64_t>(totals.deviation_ns()), totals.most_ns,
         totals.most_rank, totals.least_ns, totals.least_rank,
         static_cast<int64_t>(calls.mean_ns()), named->second.QuantileNs(0.5),
         named->second.QuantileNs(0.99), calls.most_ns, calls.most_rank});
  }
  return table;
}

ValueTable MessageTable(const analysis::JobOfRanks& job) {
  ValueTable table{.columns = {{"from", "From rank", Unit::kCount},
                               {"to", "To rank", Unit::kCount},
                               {"messages", "Messages", Unit::kCount},
                               {"bytes", "Bytes", Unit::kBytes},
                               {"late_sender_ns", "Late sender", Unit::kNs},
                               {"late_receiver_ns", "Late receiver", Unit::kNs},
                               {"partner", "Partner", Unit::kText}},
                   .rows = {}};
  const analysis::RankCalls& calls = job.calls;
  struct Sum {
    int64_t messages = 0;
    int64_t bytes = 0;
    DurationNs late_sender_ns = 0;
    DurationNs late_receiver_ns = 0;
  };
  std::map<std::pair<size_t, size_t>, Sum> pairs;
  const analysis::MatchedMessages& matched = job.messages;
  for (const analysis::Message& message : matched.messages) {
    Sum& sum = pairs[{message.from, message.to}];
    ++sum.messages;
    sum.bytes += message.bytes;
    sum.late_sender_ns += message.late_sender_ns;
    sum.late_receiver_ns += message.late_receiver_ns;
  }
  for (const auto& [pair, sum] : pairs) {
    table.rows.push_back({calls.ranks[pair.first].rank,
                          calls.ranks[pair.second].rank, sum.messages,
                          sum.bytes, sum.late_sender_ns, sum.late_receiver_ns,
                          std::string("found")});
  }
  // Calls that wait for a rank that never came. Of what it should have sent,
  // nobody knows the bytes.
  std::map<std::pair<size_t, size_t>, Sum> unanswered;
  for (const analysis::UnansweredCall& call : matched.unanswered) {
    Sum& sum = unanswered[call.receives ? std::pair(call.awaited, call.rank)
                                        : std::pair(call.rank, call.awaited)];
    ++sum.messages;
    sum.bytes += call.bytes;
    (call.receives ? sum.late_sender_ns : sum.late_receiver_ns) +=
        call.waiting_ns;
  }
  for (const auto& [pair, sum] : unanswered) {
    table.rows.push_back(
        {calls.ranks[pair.first].rank, calls.ranks[pair.second].rank,
         sum.messages, sum.bytes > 0 ? Value(sum.bytes) : Value(),
         sum.late_sender_ns, sum.late_receiver_ns, std::string("never came")});
  }
  // Messages whose other end is in no file of the trace.
  if (matched.sends_alone > 0) {
    table.rows.push_back(
        {{}, {}, matched.sends_alone, {}, {}, {}, std::string("no receive")});
  }
  if (matched.receives_alone > 0) {
    table.rows.push_back(
        {{}, {}, matched.receives_alone, {}, {}, {}, std::string("no send")});
  }
  return table;
}

}  // namespace kymo::report
