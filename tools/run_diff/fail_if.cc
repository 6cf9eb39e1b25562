#include "tools/run_diff/fail_if.h"

#include <algorithm>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
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
        !absl::SimpleAtod(number, &limit.most) || !(limit.most >= 0)) {
      return Wrong(ToStd(word));
    }
    if (limit.is_share) limit.most /= 100;
    limits.push_back(std::move(limit));
  }
  return limits;
}

std::vector<std::string> Exceeded(const std::vector<Limit>& limits,
                                  const RunDiff& diff) {
  std::vector<std::string> exceeded;
  for (const Limit& limit : limits) {
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
