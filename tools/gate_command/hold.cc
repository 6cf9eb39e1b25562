#include "tools/gate_command/hold.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "profiler/analysis/statistics/samples.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/plugin/settings.h"
#include "tools/runtime/blocking_calls.h"

namespace kymo::tools {
namespace {

constexpr size_t kMostListed = 30;
constexpr std::string_view kUse =
    "name the program instead of the recording: kymo gate --budget=FILE -- "
    "PROGRAM";

constexpr char kNotRecorded[] =
    "the recording has no range, and lacks processes; a program that is linked "
    "statically, is set-uid, or is started with an empty environment cannot be "
    "recorded";

bool IsBlockingCall(const std::string& name) {
  return std::ranges::count(kBlockingCallNames, name) > 0;
}

// Amounts that are 0 where nobody sets them.
bool IsKnown(const Measure& measure, std::span<const Amounts> runs) {
  switch (measure.what) {
    case What::kBlockingCalls:
      // One that was not called, in a program whose calls were counted.
      return IsBlockingCall(measure.of) &&
             std::ranges::any_of(runs, [](const Amounts& run) {
               return run.Find({What::kBlockingCalls}).has_value();
             });
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

// Amounts that each run has if they can be known: 0 is one, too.
bool IsOfRecorded(const Measure& measure) {
  return measure.what == What::kLeaks || measure.what == What::kLeakedBytes ||
         (measure.of.empty() &&
          (measure.what == What::kCalls || measure.what == What::kCpuTimeUs));
}

std::string NoSuch(const Measure& measure, std::span<const Amounts> runs) {
  const bool are_counted = std::ranges::any_of(runs, [](const Amounts& run) {
    return run.Find({What::kBlockingCalls}).has_value();
  });
  if (measure.what == What::kBlockingCalls && !are_counted) {
    return "the program's BLOCKING_CALLS cannot be counted: it is linked "
           "statically, or removes LD_PRELOAD from its environment";
  }
  if (!measure.of.empty()) {
    std::vector<std::string> names = runs[0].PartsOf(measure.what);
    if (measure.what == What::kBlockingCalls) {
      names.assign(std::begin(kBlockingCallNames),
                   std::end(kBlockingCallNames));
    } else if (names.empty()) {
      names = runs[0].PartsOf(What::kCalls);
    }
    return absl::StrCat("the program has no ", MeasureText(measure), "; ",
                        Listed(std::move(names), measure.of));
  }
  if (measure.what == What::kCalls || measure.what == What::kCpuTimeUs) {
    return absl::StrCat("the program's ", ToAbsl(WhatName(measure.what)),
                        " cannot be known: ", kNotRecorded);
  }
  const bool is_watched = std::ranges::any_of(runs, [](const Amounts& run) {
    return run.Find({What::kAllocations}).has_value();
  });
  if (is_watched && IsOfRecorded(measure)) {
    return absl::StrCat(ToAbsl(WhatName(measure.what)),
                        " takes the stacks of allocations, which tell leaks "
                        "from what the C++ library keeps: record with "
                        "--profile_memory --memory_stacks");
  }
  return absl::StrCat(
      "the recording has no ", ToAbsl(WhatName(measure.what)),
      measure.what == What::kFlops
          ? "; no operation with a known formula recorded its inputs"
          : "; the heap was not watched: record it with --profile_memory; a "
            "program that is linked statically, or brings a malloc of its own, "
            "cannot be watched");
}

struct MeasuredLine {
  std::vector<double> amounts;  // by run; 0 where it has none
  size_t occurs_in = 0;         // runs
  bool is_known = false;
};

MeasuredLine AmountsOf(const Measure& measure, std::span<const Amounts> runs) {
  MeasuredLine measured;
  for (const Amounts& run : runs) {
    const std::optional<double> amount = run.Find(measure);
    measured.occurs_in += amount.has_value() ? 1 : 0;
    measured.amounts.push_back(amount.value_or(0));
  }
  measured.is_known = IsOfRecorded(measure)
                          ? measured.occurs_in == runs.size()
                          : measured.occurs_in > 0 || IsKnown(measure, runs);
  return measured;
}

absl::Status NotThere(const Budget& budget, const BudgetLine& line,
                      std::span<const Amounts> runs) {
  return absl::NotFoundError(absl::StrCat(budget.path, ":", line.row, ": ",
                                          NoSuch(line.measure, runs)));
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

// Whole numbers are counts, and exact. Limits with a tolerance have roundings.
bool IsEqualNumber(double a, double b) {
  if (a == std::floor(a) && b == std::floor(b)) return a == b;
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

std::string AmountText(What what, double amount) {
  return NumberText(what == What::kCpuTimeUs ? std::round(amount) : amount) +
         (what == What::kCpuTimeUs ? " us" : "");
}

// "1010, which is 1000 and 1 %"
std::string LimitText(const BudgetLine& line) {
  const What what = line.measure.what;
  const double effect = line.min_effect.value_or(0);
  const std::string expect = AmountText(what, line.expect);
  if (line.tolerance == 0 && effect == 0) return expect;
  std::string text = absl::StrCat(
      AmountText(what, line.expect * (1 + line.tolerance) * (1 + effect)),
      ", which is ", expect);
  if (line.tolerance > 0) {
    absl::StrAppendFormat(&text, " and its tolerance of %.4g %%",
                          100 * line.tolerance);
  }
  if (effect > 0) {
    absl::StrAppendFormat(&text, " and its min_effect of %.4g %%",
                          100 * effect);
  }
  return text;
}

void HoldTime(const BudgetLine& line, std::span<const double> amounts,
              HeldLine& held) {
  const What what = line.measure.what;
  held.amount = analysis::Median(amounts);
  const std::string change = Percent(held.amount, line.expect);
  if (!line.confidence) {
    // One time is above the budget half of the time.
    held.held = Held::kShown;
    held.why = absl::StrCat(AmountText(what, held.amount), "; the budget has ",
                            AmountText(what, line.expect), change);
    return;
  }
  const double limit =
      line.expect * (1 + line.min_effect.value_or(0)) * (1 + line.tolerance);
  const double sure = analysis::BootstrapMedian(amounts, *line.confidence).low;
  held.why = absl::StrCat(
      AmountText(what, held.amount), change, ", at least ",
      AmountText(what, sure),
      absl::StrFormat(" with %.4g %% confidence", 100 * *line.confidence),
      "; the limit is ", LimitText(line));
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
                            LimitText(line), change);
  } else if (held.amount < line.expect &&
             !IsEqualNumber(held.amount, line.expect)) {
    held.held = Held::kBetter;
    held.why = absl::StrCat(NumberText(held.amount), " is less than ",
                            NumberText(line.expect), change);
  } else {
    held.why = NumberText(held.amount);
  }
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
                     const MeasuredLine& measured,
                     std::vector<std::string>& notes) {
  const std::vector<double>& amounts = measured.amounts;
  LineUpdate update;
  if (IsTime(measure.what)) {
    update.expect = analysis::Median(amounts);
    if (measure.what == What::kCpuTimeUs) {
      update.expect = std::round(update.expect);
    }
    return update;
  }
  update.expect = *std::ranges::max_element(amounts);
  const double least = *std::ranges::min_element(amounts);
  const bool repeats =
      Repeats(amounts) || least * (1 + tolerance) >= update.expect;
  update.repeats = repeats && DependsOnMachine(measure.what);
  if (!repeats) {
    update.advisory = !DependsOnMachine(measure.what);
    const std::string how = measured.occurs_in < amounts.size()
                                ? absl::StrCat("occurs in ", measured.occurs_in,
                                               " of ", amounts.size(), " runs")
                                : "does not repeat here";
    notes.push_back(absl::StrCat(MeasureText(measure), " ", how, " (",
                                 AllNumbers(amounts), "): it is advisory"));
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
    if (options.is_recording && line.confidence &&
        static_cast<int>(runs.size()) < FewestRunsFor(*line.confidence)) {
      held.held = Held::kNotHeld;
      held.why =
          absl::StrCat("a recording is one run, and ", 100 * *line.confidence,
                       " % confidence takes ", FewestRunsFor(*line.confidence),
                       "; ", ToAbsl(kUse));
      continue;
    }
    const MeasuredLine measured = AmountsOf(line.measure, runs);
    if (!measured.is_known) {
      if (!line.advisory) return NotThere(budget, line, runs);
      held.held = Held::kAdvisoryOver;
      held.why = NoSuch(line.measure, runs);
      continue;
    }
    if (IsTime(line.measure.what)) {
      HoldTime(line, measured.amounts, held);
    } else {
      HoldCount(line, measured.amounts, held);
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

absl::StatusOr<std::vector<LineUpdate>> UpdatesFor(
    const Budget& budget, std::span<const Amounts> runs,
    const HoldOptions& options, std::vector<std::string>& notes) {
  std::vector<LineUpdate> updates;
  for (size_t i = 0; i < budget.lines.size(); ++i) {
    const BudgetLine& line = budget.lines[i];
    if (!IsOfShard(line, options)) continue;
    if (options.is_recording && IsCounted(line.measure.what)) continue;
    const MeasuredLine measured = AmountsOf(line.measure, runs);
    if (!measured.is_known) {
      if (!line.advisory) return NotThere(budget, line, runs);
      notes.push_back(absl::StrCat(MeasureText(line.measure),
                                   " occurs in none of ", runs.size(),
                                   " runs: delete the line if it "
                                   "is gone"));
      continue;
    }
    LineUpdate update =
        UpdateFor(line.measure, line.tolerance, measured, notes);
    if (line.advisory && runs.size() > 1 && Repeats(measured.amounts)) {
      notes.push_back(absl::StrCat(MeasureText(line.measure),
                                   " repeats now: remove `advisory: true` to "
                                   "hold it"));
    }
    update.line = i;
    updates.push_back(update);
  }
  return updates;
}

std::string NewBudget(std::span<const Amounts> runs, const HoldOptions& options,
                      std::vector<std::string>& notes) {
  std::set<Measure> measures;
  for (const Amounts& run : runs) {
    for (const auto& [measure, amount] : run.all()) measures.insert(measure);
  }
  std::string text;
  for (const Measure& measure : measures) {
    // Times differ from machine to machine, and page faults from run to run.
    // The sums over all functions and operations say what their parts do.
    if (IsTime(measure.what) || measure.what == What::kPageFaults ||
        (measure.what != What::kCalls && !measure.of.empty())) {
      continue;
    }
    const MeasuredLine measured = AmountsOf(measure, runs);
    if (!measured.is_known) continue;
    text += LineText(measure, UpdateFor(measure, 0, measured, notes),
                     options.shard);
  }
  if (!AmountsOf({What::kCalls}, runs).is_known) {
    notes.push_back(NoSuch({What::kCalls}, runs));
  }
  return text;
}

}  // namespace kymo::tools
