#include "tools/profile_command/job/job_screen.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/findings/findings.h"
#include "profiler/analysis/memory/lazy_profiles.h"
#include "profiler/analysis/ranks/imbalance.h"
#include "profiler/analysis/ranks/rank_path.h"
#include "profiler/base/time.h"
#include "profiler/report/fitted_table.h"
#include "profiler/report/ranks/rank_path_tables.h"
#include "profiler/report/ranks/rank_tables.h"
#include "profiler/text/text_cells.h"
#include "profiler/text/visible_text.h"
#include "tools/profile_command/first_screen.h"
#include "tools/profile_command/thread_screen.h"

namespace kymo::tools {
namespace {

using report::FormatFixed;
using report::Unit;
using report::Value;
using report::ValueColumn;
using report::ValueTable;
using report::Wrapped;

constexpr char kBold[] = "\033[1m";
constexpr char kYellow[] = "\033[33m";
constexpr char kPlain[] = "\033[0m";

// Columns in the order in which they are left out where there is no room.
constexpr std::string_view kFirstToGo[] = {"process",
                                           "finalized",
                                           "comm",
                                           "comm_name",
                                           "call_most_rank",
                                           "call_most_ns",
                                           "call_p50_ns",
                                           "call_p99_ns",
                                           "call_mean_ns",
                                           "deviation_ns",
                                           "ranks",
                                           "host",
                                           "late_operations",
                                           "late_calls",
                                           "incomplete",
                                           "clock_bound_ns",
                                           "sent_bytes",
                                           "worst_step_excess_ns",
                                           "worst_step_rank",
                                           "worst_step",
                                           "steps",
                                           "late_since_ns",
                                           "start_ns",
                                           "calls",
                                           "operations",
                                           "waiting_share",
                                           "other_mpi_ns",
                                           "least_rank",
                                           "least_ns",
                                           "partner",
                                           "bytes",
                                           "mean_ns",
                                           "excess_share",
                                           "messages",
                                           "point_to_point_ns",
                                           "collective_ns",
                                           "transfer_ns",
                                           "total_ns",
                                           "excess_ns",
                                           "missing_ranks"};
constexpr std::string_view kNeverGo[] = {"name",
                                         "rank",
                                         "from",
                                         "to",
                                         "wall_ns",
                                         "mpi_share",
                                         "waiting_ns",
                                         "late_rank",
                                         "late_ns",
                                         "most_ns",
                                         "most_rank",
                                         "late_sender_ns",
                                         "late_receiver_ns"};

int DropOf(std::string_view name) {
  if (std::ranges::count(kNeverGo, name) > 0) return 0;
  const auto at = std::ranges::find(kFirstToGo, name);
  return 1 + static_cast<int>(std::end(kFirstToGo) - at);
}

// A column of which no row says anything: all ranks are on one host, ended as
// they should, ...
bool SaysNothing(const ValueTable& table, size_t column) {
  const std::string& name = table.columns[column].name;
  const auto all = [&](const Value& value) {
    return std::ranges::all_of(table.rows, [&](const auto& row) {
      return row[column] == value || row[column] == Value();
    });
  };
  if (all(Value())) return true;
  if (name == "host") return all(table.rows.front()[column]);
  if (name == "finalized") return all(std::string("yes"));
  if (name == "partner") return all(std::string("found"));
  return name == "incomplete" && all(int64_t{0});
}

// The time of a row that somebody waited.
DurationNs WaitedIn(const ValueTable& table, const std::vector<Value>& row) {
  DurationNs waited_ns = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string& name = table.columns[i].name;
    if (name != "waiting_ns" && name != "late_sender_ns" &&
        name != "late_receiver_ns" && name != "excess_ns") {
      continue;
    }
    if (const auto* const ns = std::get_if<int64_t>(&row[i])) waited_ns += *ns;
  }
  return waited_ns;
}

report::FittedTable Fitted(const ValueTable& table, size_t shown,
                           DurationNs all_ns) {
  report::FittedTable fitted;
  std::vector<size_t> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (SaysNothing(table, i)) continue;
    const ValueColumn& column = table.columns[i];
    columns.push_back(i);
    fitted.columns.push_back({.title = column.title,
                              .fit = column.name == "name" ? report::Fit::kName
                                     : column.unit == Unit::kText
                                         ? report::Fit::kText
                                         : report::Fit::kNumber,
                              .drop = DropOf(column.name)});
  }
  // Rows without waiting have no colour.
  constexpr double kNoColor = 0.05;
  for (size_t r = 0; r < shown; ++r) {
    const std::vector<Value>& row = table.rows[r];
    report::FittedRow cells;
    for (const size_t i : columns) {
      const auto* const text = std::get_if<std::string>(&row[i]);
      cells.cells.push_back(
          text != nullptr
              ? VisibleText(*text)
              : report::ValueText(row[i], table.columns[i].unit, {}));
    }
    const DurationNs waited_ns = WaitedIn(table, row);
    cells.share =
        waited_ns == 0 || all_ns == 0
            ? kNoColor
            : static_cast<double>(waited_ns) / static_cast<double>(all_ns);
    fitted.rows.push_back(std::move(cells));
  }
  return fitted;
}

std::string Colored(const std::string& text, const char* color, bool wanted) {
  return wanted ? color + text + kPlain : text;
}

std::string Count(int64_t count, const char* one, const char* many) {
  return absl::StrCat(count, " ", count == 1 ? one : many);
}

std::string Headline(const JobFacts& facts) {
  const JobTimes& whole = facts.times;
  std::string line = absl::StrCat(VisibleText(facts.target), ": ",
                                  Count(facts.ranks, "rank", "ranks"));
  if (!whole.hosts.empty()) {
    absl::StrAppend(
        &line, " on ",
        Count(static_cast<int64_t>(whole.hosts.size()), "host", "hosts"));
  }
  if (whole.longest_ns > 0) {
    absl::StrAppend(
        &line, ", ",
        FormatFixed(static_cast<double>(whole.longest_ns) / kNsPerSecond, 3),
        " s");
  }
  if (whole.mpi_wall_ns > 0) {
    absl::StrAppend(&line, "; in MPI for ",
                    FormatFixed(100 * static_cast<double>(whole.mpi_ns) /
                                    static_cast<double>(whole.mpi_wall_ns),
                                0),
                    " % of their time");
  }
  if (facts.with_trace < facts.ranks) {
    absl::StrAppend(&line, "; with the traces of ",
                    Count(facts.with_trace, "rank", "ranks"));
  }
  return line;
}

// The path has MPI_Init, which the ranks' walls leave out.
std::string AboutThePath(const report::ValueTable& path) {
  DurationNs path_ns = 0;
  for (size_t i = 0; i < path.columns.size(); ++i) {
    if (path.columns[i].name != "path_ns") continue;
    for (const std::vector<Value>& row : path.rows) {
      path_ns += std::get<int64_t>(row[i]);
    }
  }
  return absl::StrCat(
      "Critical path: what held up the end (",
      FormatFixed(static_cast<double>(path_ns) / kNsPerSecond, 3),
      " s with MPI_Init, which Wall leaves out)");
}

}  // namespace

JobTimes TimesOfJob(const analysis::JobOfRanks& job) {
  JobTimes whole;
  for (const analysis::RankTimes& times :
       analysis::TimesOfRanks(job.trace, job.calls)) {
    const analysis::Rank& rank = job.calls.ranks[times.rank];
    if (!rank.host.empty()) whole.hosts.insert(rank.host);
    whole.longest_ns = std::max(whole.longest_ns, times.wall_ns);
    whole.all_ns += times.wall_ns;
    if (!rank.is_mpi) continue;
    whole.mpi_wall_ns += times.wall_ns;
    whole.mpi_ns += times.in_mpi_ns;
  }
  return whole;
}

std::vector<JobTable> JobTables(const analysis::JobOfRanks& job,
                                const analysis::RankSums* sums) {
  std::vector<JobTable> tables;
  const auto add = [&](std::string about, report::ValueTable table) {
    if (table.rows.empty()) return;
    tables.push_back({std::move(about), std::move(table)});
  };
  if (sums != nullptr) {
    const auto count = static_cast<int64_t>(sums->ranks().size());
    add("Averages of " + Count(count, "rank", "ranks"),
        report::JobTable(*sums));
  }
  add("Ranks", report::RankTable(job));
  if (analysis::HasRankPath(job.calls)) {
    report::ValueTable path = report::RankPathTable(job);
    std::string about = AboutThePath(path);
    add(std::move(about), std::move(path));
  }
  add("Collective calls: waiting until the last rank entered",
      report::CollectiveTable(job));
  add("Waits for requests: until the other rank had begun to send or to "
      "receive",
      report::MpiWaitTable(job));
  add("Imbalance: ranges that took longer in one rank",
      report::ImbalanceTable(job));
  add("Messages: who waited for a late sender, and for a late receiver",
      report::MessageTable(job));
  return tables;
}

std::vector<std::string> FindingsOfJob(const analysis::LazyJobOfRanks& ranks) {
  constexpr size_t kMost = 3;
  const model::Trace& trace = ranks.Get().trace;
  std::vector<analysis::Finding> findings =
      analysis::FindFindings(trace, analysis::LazyMemoryProfiles(trace), ranks);
  std::erase_if(findings, [](const analysis::Finding& finding) {
    return finding.kind == analysis::FindingKind::kLostData;
  });
  findings.resize(std::min(findings.size(), kMost));
  std::vector<std::string> titles;
  for (analysis::Finding& finding : findings) {
    titles.push_back(std::move(finding.title));
  }
  return titles;
}

std::string JobScreen(const model::Trace& trace, const JobFacts& facts,
                      const std::vector<JobTable>& tables,
                      const std::vector<std::string>& findings,
                      const ScreenOptions& options) {
  std::string out = Colored(Wrapped(Headline(facts), options.width, 2), kBold,
                            options.color) +
                    "\n";
  // Each rank may have a limit; the trace has one of them.
  const std::string limit =
      CpuLimitLine(trace, "the container of the rank that was stopped longest");
  if (!limit.empty()) out += Wrapped(limit, options.width, 2) + "\n";
  if (!findings.empty()) out += "\n";
  for (const std::string& finding : findings) {
    out += Wrapped("Finding: " + VisibleText(finding), options.width, 2) + "\n";
  }
  for (const JobTable& table : tables) {
    const size_t all = table.table.rows.size();
    const size_t shown = options.rows < 0
                             ? all
                             : std::min(all, static_cast<size_t>(options.rows));
    out += "\n" + Wrapped(table.about, options.width, 2) + "\n" +
           report::FormatFittedTable(
               Fitted(table.table, shown, facts.times.all_ns),
               {.width = options.width, .color = options.color});
    if (shown < all) absl::StrAppend(&out, "and ", all - shown, " more\n");
  }
  const std::vector<std::string> losses = LossesThatMatter(trace);
  if (!losses.empty()) out += "\n";
  for (const std::string& loss : losses) {
    out += Colored(Wrapped(loss, options.width, 2), kYellow, options.color);
    out += "\n";
  }
  return out;
}

}  // namespace kymo::tools
