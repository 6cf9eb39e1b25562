#include "tools/run_diff/fail_if.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/text/visible_text.h"

namespace kymo::tools {
namespace {

constexpr const char* kMetrics[] = {
    "self_cpu",    "steady_cpu",      "function_cpu", "calls",
    "allocations", "allocated_bytes", "peak_bytes"};

bool IsOf(const RunKey& key, const std::string& metric) {
  switch (key.table) {
    case RunTable::kRanges:
      return metric == "self_cpu";
    case RunTable::kSteady:
      return metric == "steady_cpu";
    case RunTable::kFunctions:
      return metric == "function_cpu";
    case RunTable::kCalls:
      return metric == "calls";
    default:
      return metric == key.name;
  }
}

bool IsOver(const Limit& limit, const RunDiffRow& row) {
  if (!IsOf(row.key, limit.metric) ||
      row.compared.verdict != analysis::RunVerdict::kSlower) {
    return false;
  }
  // Of a time, what is left after the whole run's speed was taken out. From 100
  // to 101 is not more than 1 %, although it is in binary fractions.
  constexpr double kRounding = 1e-9;
  const double change =
      limit.is_share ? row.compared.change : row.head - row.base;
  return change > limit.most + kRounding;
}

std::string Sentence(const Limit& limit, const RunDiffRow& row) {
  const std::string what =
      limit.metric == row.key.name
          ? row.key.name
          : absl::StrCat(limit.metric, " of ", row.key.name);
  std::string text =
      absl::StrFormat("%s: %s went from %.10g to %.10g", limit.text,
                      VisibleText(what), row.base, row.head);
  if (row.base == 0) return text;
  return absl::StrFormat("%s (%+.2f %%)", text, 100 * row.compared.change);
}

RunTable TableOf(const Limit& limit) {
  for (const RunTable table : {RunTable::kRanges, RunTable::kSteady,
                               RunTable::kFunctions, RunTable::kCalls}) {
    if (IsOf({table, ""}, limit.metric)) return table;
  }
  return RunTable::kHeap;
}

// Runs of base and head that measured it.
std::pair<size_t, size_t> RunsWith(const Limit& limit, const RunDiff& diff) {
  const RunTable table = TableOf(limit);
  if (table == RunTable::kHeap) {
    for (const RunDiffRow& row : diff.rows) {
      if (IsOf(row.key, limit.metric)) return {row.base_has, row.head_has};
    }
    return {0, 0};
  }
  const auto found = diff.runs_with.find(table);
  return found == diff.runs_with.end() ? std::pair<size_t, size_t>()
                                       : found->second;
}

absl::Status CheckCanFail(const Limit& limit, const RunDiff& diff) {
  const auto [base, head] = RunsWith(limit, diff);
  const auto not_measured = [&](const char* side, size_t with, size_t all) {
    return absl::FailedPreconditionError(absl::StrCat(
        limit.text, ": ", with, " of ", all, " runs of ", side, " have ",
        limit.metric, ", so the limit says nothing; ",
        TableOf(limit) == RunTable::kHeap ? "record them with --profile_memory"
        : TableOf(limit) == RunTable::kFunctions
            ? "record them with --activities=cpu,sampling"
            : "record ranges in them"));
  };
  if (base < diff.base_runs) return not_measured("base", base, diff.base_runs);
  if (head < diff.head_runs) return not_measured("head", head, diff.head_runs);
  size_t rows = 0;
  size_t too_few = 0;
  const auto look_at = [&](const RunDiffRow& row) {
    if (!IsOf(row.key, limit.metric)) return;
    ++rows;
    if (row.compared.verdict == analysis::RunVerdict::kTooFewRuns) ++too_few;
  };
  for (const auto& [table, row] : diff.wholes) look_at(row);
  for (const RunDiffRow& row : diff.rows) look_at(row);
  if (rows == 0 || too_few < rows) return absl::OkStatus();
  // A count needs no test once two runs agree.
  const size_t fewest = IsTimeTable(TableOf(limit))
                            ? static_cast<size_t>(diff.fewest_runs)
                            : std::min(diff.base_runs, diff.head_runs) + 1;
  return absl::FailedPreconditionError(
      absl::StrCat(limit.text, ": ", diff.base_runs, " and ", diff.head_runs,
                   " runs are too few for any change of ", limit.metric,
                   " to be sure; it "
                   "takes ",
                   fewest, " or more on each side"));
}

absl::Status Wrong(std::string_view word) {
  std::string metrics;
  for (const char* const metric : kMetrics) {
    absl::StrAppend(&metrics, metrics.empty() ? "" : ", ", metric);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--fail_if has '", ToAbsl(word),
      "'; it takes a list such as self_cpu>5%,allocations>0 of: ", metrics));
}

}  // namespace

absl::StatusOr<std::vector<Limit>> ParseLimits(std::string_view text) {
  std::vector<Limit> limits;
  for (const absl::string_view word : absl::StrSplit(ToAbsl(text), ',')) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(word, absl::MaxSplits('>', 1));
    Limit limit = {.metric = parts.first, .text = std::string(word)};
    std::string number = parts.second;
    limit.is_share = number.ends_with('%');
    if (limit.is_share) number.pop_back();
    if (!std::ranges::count(kMetrics, limit.metric) ||
        !absl::SimpleAtod(number, &limit.most) || !(limit.most >= 0) ||
        std::isinf(limit.most)) {
      return Wrong(ToStd(word));
    }
    if (limit.is_share) limit.most /= 100;
    limits.push_back(std::move(limit));
  }
  return limits;
}

absl::StatusOr<std::vector<std::string>> Exceeded(
    const std::vector<Limit>& limits, const RunDiff& diff) {
  std::vector<std::string> exceeded;
  for (const Limit& limit : limits) {
    KYMO_RETURN_IF_ERROR(CheckCanFail(limit, diff));
    for (const auto& [table, row] : diff.wholes) {
      if (IsOver(limit, row)) exceeded.push_back(Sentence(limit, row));
    }
    for (const RunDiffRow& row : diff.rows) {
      if (IsOver(limit, row)) exceeded.push_back(Sentence(limit, row));
    }
  }
  return exceeded;
}

}  // namespace kymo::tools
