#include "tools/gate_command/hold.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "profiler/analysis/statistics/samples.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/plugin/settings.h"
#include "profiler/text/visible_text.h"
#include "tools/run_diff/run_key.h"
#include "tools/runtime/blocking_calls.h"

namespace kymo::tools {
namespace {

constexpr size_t kMostListed = 30;
constexpr std::string_view kUse =
    "name the program instead of the recording: kymo gate --budget=FILE -- "
    "PROGRAM";

bool IsBlockingCall(const std::string& name) {
  return std::ranges::count(kBlockingCallNames, name) > 0;
}

// Amounts that are 0 where nobody sets them.
bool IsKnown(const Measure& measure, std::span<const Amounts> runs) {
  switch (measure.what) {
    case What::kBlockingCalls:
      return measure.of.empty() || IsBlockingCall(measure.of);
    case What::kPeakBytes:
    case What::kFlops:
      // An operation that ran, and held no memory at the peak.
      return !measure.of.empty() &&
             std::ranges::any_of(runs, [&](const Amounts& run) {
               return run.Find({What::kCalls, measure.of}).has_value();
             });
    default:
      return false;
  }
}

std::string Listed(std::vector<std::string> names, const std::string& wanted) {
  if (names.empty()) return "it has none at all";
  const std::string nearest = NearestName(wanted, names);
  std::string text = absl::StrCat("it has ", names.size(), ": ");
  const size_t more = names.size() - std::min(names.size(), kMostListed);
  names.resize(names.size() - more);
  absl::StrAppend(&text, absl::StrJoin(names, ", "));
  if (more > 0) absl::StrAppend(&text, " and ", more, " more");
  if (!nearest.empty()) {
    absl::StrAppend(&text, "; did you mean ", nearest, "?");
  }
  return text;
}

absl::Status NoSuch(const Budget& budget, const BudgetLine& line,
                    std::span<const Amounts> runs) {
  const Measure& measure = line.measure;
  const std::string where = absl::StrCat(budget.path, ":", line.row, ": ");
  if (!measure.of.empty()) {
    std::vector<std::string> names = runs[0].PartsOf(measure.what);
    if (measure.what == What::kBlockingCalls) {
      names.assign(std::begin(kBlockingCallNames),
                   std::end(kBlockingCallNames));
    } else if (names.empty()) {
      names = runs[0].PartsOf(What::kCalls);
    }
    return absl::NotFoundError(
        absl::StrCat(where, "the program has no ", MeasureText(measure), "; ",
                     Listed(std::move(names), measure.of)));
  }
  return absl::NotFoundError(absl::StrCat(
      where, "the recording has no ", ToAbsl(WhatName(measure.what)),
      measure.what == What::kFlops
          ? "; no operation with a known formula recorded its inputs"
          : "; the heap was not watched: record it with --profile_memory; a "
            "program that is linked statically, or brings a malloc of its own, "
            "cannot be watched"));
}

absl::StatusOr<std::vector<double>> AmountsOf(const Budget& budget,
                                              const BudgetLine& line,
                                              std::span<const Amounts> runs) {
  std::vector<double> amounts;
  bool is_there = IsKnown(line.measure, runs);
  for (const Amounts& run : runs) {
    const std::optional<double> amount = run.Find(line.measure);
    is_there |= amount.has_value();
    amounts.push_back(amount.value_or(0));
  }
  if (!is_there) return NoSuch(budget, line, runs);
  return amounts;
}

std::string Percent(double amount, double expect) {
  if (expect == 0) return "";
  return absl::StrFormat(" (%+.2f %%)", 100 * (amount / expect - 1));
}

bool Blocks(const BudgetLine& line) {
  if (line.advisory) return false;
  if (IsTime(line.measure.what)) return line.min_effect.has_value();
  return !DependsOnMachine(line.measure.what) || line.repeats;
}

bool IsEqualNumber(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

void HoldTime(const BudgetLine& line, std::span<const double> amounts,
              HeldLine& held) {
  const double limit =
      line.expect * (1 + line.min_effect.value_or(0)) * (1 + line.tolerance);
  held.amount = analysis::Median(amounts);
  double sure = held.amount;
  std::string how;
  if (line.confidence) {
    sure = analysis::BootstrapMedian(amounts, *line.confidence).low;
    how = absl::StrFormat(", at least %s with %.4g %% confidence",
                          NumberText(sure), 100 * *line.confidence);
  }
  held.why =
      absl::StrCat(NumberText(held.amount), how, "; the budget is ",
                   NumberText(line.expect), Percent(held.amount, line.expect));
  if (sure > limit) held.held = Held::kOver;
}

void HoldCount(const BudgetLine& line, std::span<const double> amounts,
               HeldLine& held) {
  held.amount = *std::ranges::max_element(amounts);
  const double limit = line.expect * (1 + line.tolerance);
  const std::string change = Percent(held.amount, line.expect);
  if (held.amount > limit && !IsEqualNumber(held.amount, limit)) {
    held.held = Held::kOver;
    held.why = absl::StrCat(NumberText(held.amount), " is more than ",
                            NumberText(line.expect), change);
  } else if (held.amount < line.expect &&
             !IsEqualNumber(held.amount, line.expect)) {
    held.held = Held::kBetter;
    held.why = absl::StrCat(NumberText(held.amount), " is less than ",
                            NumberText(line.expect), change);
  } else {
    held.why = NumberText(held.amount);
  }
}

const char* HeldName(Held held) {
  static constexpr const char* kNames[] = {"ok", "better", "OVER", "advice",
                                           "not held"};
  return kNames[static_cast<size_t>(held)];
}

bool IsOfShard(const BudgetLine& line, const HoldOptions& options) {
  return line.shard == options.shard;
}

bool Repeats(std::span<const double> amounts) {
  return std::ranges::all_of(amounts, [&](double amount) {
    return IsEqualNumber(amount, amounts[0]);
  });
}

std::string AllNumbers(std::span<const double> amounts) {
  return absl::StrJoin(amounts, ", ", [](std::string* out, double amount) {
    out->append(NumberText(amount));
  });
}

LineUpdate UpdateFor(const Measure& measure, double tolerance,
                     std::span<const double> amounts,
                     std::vector<std::string>& notes) {
  LineUpdate update;
  if (IsTime(measure.what)) {
    update.expect = analysis::Median(amounts);
    return update;
  }
  update.expect = *std::ranges::max_element(amounts);
  const double least = *std::ranges::min_element(amounts);
  const bool repeats =
      Repeats(amounts) || least * (1 + tolerance) >= update.expect;
  update.repeats = repeats && DependsOnMachine(measure.what);
  if (!repeats) {
    update.advisory = !DependsOnMachine(measure.what);
    notes.push_back(absl::StrCat(MeasureText(measure),
                                 " does not repeat here (", AllNumbers(amounts),
                                 "): it is advisory"));
  }
  return update;
}

}  // namespace

absl::StatusOr<std::vector<HeldLine>> HoldBudget(const Budget& budget,
                                                 std::span<const Amounts> runs,
                                                 const HoldOptions& options) {
  std::vector<HeldLine> lines;
  for (size_t i = 0; i < budget.lines.size(); ++i) {
    const BudgetLine& line = budget.lines[i];
    HeldLine& held = lines.emplace_back();
    held.line = i;
    if (options.is_filtered || !IsOfShard(line, options)) {
      held.held = Held::kNotHeld;
      held.why = options.is_filtered ? "only a part of the program ran"
                 : line.shard ? absl::StrCat("it is of shard ", *line.shard)
                              : "it is of the program in one shard";
      continue;
    }
    if (options.is_recording && IsCounted(line.measure.what)) {
      held.held = Held::kNotHeld;
      held.why = "it is counted while the program runs; " + std::string(kUse);
      continue;
    }
    KYMO_ASSIGN_OR_RETURN(const std::vector<double> amounts,
                          AmountsOf(budget, line, runs));
    if (IsTime(line.measure.what)) {
      HoldTime(line, amounts, held);
    } else {
      HoldCount(line, amounts, held);
    }
    if (held.held == Held::kOver && !Blocks(line)) {
      held.held = Held::kAdvisoryOver;
    }
  }
  const auto is_held = [](const HeldLine& held) {
    return held.held != Held::kNotHeld;
  };
  if (options.is_recording && std::ranges::none_of(lines, is_held)) {
    return absl::NotFoundError(absl::StrCat(
        budget.path, " has no line that a recording can tell; ", ToAbsl(kUse)));
  }
  if (!options.is_filtered && std::ranges::none_of(lines, is_held)) {
    return absl::NotFoundError(absl::StrCat(
        budget.path, " has no line",
        options.shard ? absl::StrCat(" of shard ", *options.shard) : "",
        "; to write it, run the target NAME.update, or kymo gate --update"));
  }
  return lines;
}

bool IsOverBudget(std::span<const HeldLine> lines) {
  return std::ranges::any_of(
      lines, [](const HeldLine& line) { return line.held == Held::kOver; });
}

std::string HeldText(std::span<const HeldLine> lines, const Budget& budget) {
  std::string text;
  size_t counts[5] = {};
  for (const HeldLine& held : lines) {
    ++counts[static_cast<size_t>(held.held)];
    const BudgetLine& line = budget.lines[held.line];
    absl::StrAppendFormat(&text, "%-8s  %s:%d  %s: %s\n", HeldName(held.held),
                          budget.path, line.row,
                          VisibleText(MeasureText(line.measure)), held.why);
  }
  absl::StrAppendFormat(
      &text,
      "%d over the budget, %d advice, %d within, %d better, %d not "
      "held\n",
      counts[2], counts[3], counts[0], counts[1], counts[4]);
  return text;
}

std::string HeldXml(std::span<const HeldLine> lines, const Budget& budget,
                    const std::string& suite) {
  size_t failures = 0;
  size_t skipped = 0;
  std::string cases;
  for (const HeldLine& held : lines) {
    const BudgetLine& line = budget.lines[held.line];
    absl::StrAppend(&cases, "    <testcase name=\"",
                    MarkupText(MeasureText(line.measure)), "\" classname=\"",
                    MarkupText(suite), "\" file=\"", MarkupText(budget.path),
                    "\" line=\"", line.row, "\" time=\"0\">");
    const std::string why = MarkupText(held.why);
    if (held.held == Held::kOver) {
      ++failures;
      absl::StrAppend(&cases, "<failure message=\"", why, "\"/>");
    } else if (held.held == Held::kNotHeld) {
      ++skipped;
      absl::StrAppend(&cases, "<skipped message=\"", why, "\"/>");
    } else {
      absl::StrAppend(&cases, "<system-out>", HeldName(held.held), ": ", why,
                      "</system-out>");
    }
    absl::StrAppend(&cases, "</testcase>\n");
  }
  const std::string counts =
      absl::StrCat(" tests=\"", lines.size(), "\" failures=\"", failures,
                   "\" errors=\"0\" skipped=\"", skipped, "\"");
  return absl::StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
                      "<testsuites", counts, ">\n  <testsuite name=\"",
                      MarkupText(suite), "\"", counts, ">\n", cases,
                      "  </testsuite>\n</testsuites>\n");
}

std::string ErrorXml(const std::string& message, const std::string& suite) {
  return absl::StrCat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"1\" "
      "errors=\"1\">\n  <testsuite name=\"",
      MarkupText(suite),
      "\" tests=\"1\" errors=\"1\">\n    <testcase name=\"budget\"",
      " classname=\"", MarkupText(suite), "\" time=\"0\"><error message=\"",
      MarkupText(message), "\"/></testcase>\n  </testsuite>\n</testsuites>\n");
}

absl::StatusOr<std::vector<LineUpdate>> UpdatesFor(
    const Budget& budget, std::span<const Amounts> runs,
    const HoldOptions& options, std::vector<std::string>& notes) {
  std::vector<LineUpdate> updates;
  for (size_t i = 0; i < budget.lines.size(); ++i) {
    const BudgetLine& line = budget.lines[i];
    if (!IsOfShard(line, options)) continue;
    if (options.is_recording && IsCounted(line.measure.what)) continue;
    KYMO_ASSIGN_OR_RETURN(const std::vector<double> amounts,
                          AmountsOf(budget, line, runs));
    LineUpdate update = UpdateFor(line.measure, line.tolerance, amounts, notes);
    update.line = i;
    updates.push_back(update);
  }
  return updates;
}

std::string NewBudget(std::span<const Amounts> runs, const HoldOptions& options,
                      std::vector<std::string>& notes) {
  std::string text;
  for (const auto& [measure, first] : runs[0].all()) {
    // Times differ from machine to machine, and the sums over all functions
    // and operations say what their parts do.
    if (IsTime(measure.what) || measure.what == What::kPageFaults ||
        (measure.what != What::kCalls && !measure.of.empty())) {
      continue;
    }
    std::vector<double> amounts;
    for (const Amounts& run : runs) {
      amounts.push_back(run.Find(measure).value_or(0));
    }
    text +=
        LineText(measure, UpdateFor(measure, 0, amounts, notes), options.shard);
  }
  return text;
}

}  // namespace kymo::tools
