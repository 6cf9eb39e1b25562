#include "tools/history/history.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "profiler/analysis/statistics/run_speeds.h"
#include "profiler/analysis/statistics/samples.h"

namespace kymo::tools {
namespace {

constexpr double kAlpha = 0.05;
constexpr double kLeastShare = 0.001;

// A program may have no range, but none has no heap: then nobody watched it.
std::vector<size_t> RunsThatMeasured(const RunHistory& history,
                                     RunTable table) {
  const bool may_be_empty =
      table == RunTable::kRanges || table == RunTable::kCalls;
  const auto found = history.has_table.find(table);
  std::vector<size_t> runs;
  for (size_t i = 0; i < history.runs.size(); ++i) {
    if (may_be_empty ||
        (found != history.has_table.end() && found->second[i])) {
      runs.push_back(i);
    }
  }
  return runs;
}

// The rows of one table, ready to be searched.
std::vector<HistoryCurve> CurvesOf(const RunHistory& history, RunTable table) {
  const std::vector<size_t> runs = RunsThatMeasured(history, table);
  std::vector<HistoryCurve> curves;
  std::vector<double> whole(runs.size());
  for (const auto& [key, amounts] : history.rows) {
    if (key.table != table) continue;
    HistoryCurve& curve = curves.emplace_back();
    curve.key = key;
    curve.runs = runs;
    for (size_t i = 0; i < runs.size(); ++i) {
      curve.amounts.push_back(amounts[runs[i]]);
      whole[i] += amounts[runs[i]];
    }
  }
  if (!IsTimeTable(table) || curves.empty()) return curves;
  const double least = kLeastShare * *std::ranges::max_element(whole);
  std::erase_if(curves, [&](const HistoryCurve& curve) {
    return *std::ranges::max_element(curve.amounts) < least;
  });
  if (curves.size() >= analysis::kFewestRelative) {
    std::vector<std::vector<double>> rows;
    for (const HistoryCurve& curve : curves) rows.push_back(curve.amounts);
    const std::vector<double> speeds = analysis::RunSpeeds(rows);
    for (HistoryCurve& curve : curves) {
      for (size_t i = 0; i < speeds.size(); ++i) curve.amounts[i] /= speeds[i];
    }
  }
  curves.insert(
      curves.begin(),
      {.key = {table, kWholeName}, .runs = runs, .amounts = std::move(whole)});
  return curves;
}

double SizeOf(const analysis::ChangePoint& point) {
  if (point.before <= 0) return HUGE_VAL;
  return std::abs(point.after / point.before - 1);
}

}  // namespace

HistoryChanges FindChanges(const RunHistory& history) {
  HistoryChanges result;
  for (size_t t = 0; t < static_cast<size_t>(RunTable::kCount); ++t) {
    const auto table = static_cast<RunTable>(t);
    for (HistoryCurve& curve : CurvesOf(history, table)) {
      result.curves.push_back(std::move(curve));
    }
  }
  result.tested = result.curves.size();
  const auto rows = static_cast<double>(std::max<size_t>(1, result.tested));
  for (HistoryCurve& curve : result.curves) {
    const auto points = analysis::FindChangePoints(
        curve.amounts, kAlpha / rows,
        IsTimeTable(curve.key.table) ? analysis::ValueKind::kTime
                                     : analysis::ValueKind::kCount);
    for (const analysis::ChangePoint& point : points) {
      curve.changes.push_back({.key = curve.key,
                               .run = curve.runs[point.first],
                               .point = point,
                               .confidence = 1 - point.p * rows});
    }
    result.changes.insert(result.changes.end(), curve.changes.begin(),
                          curve.changes.end());
  }
  std::erase_if(result.curves, [](const HistoryCurve& curve) {
    return curve.changes.empty();
  });
  std::ranges::stable_sort(result.changes,
                           [](const HistoryChange& a, const HistoryChange& b) {
                             if (a.run != b.run) return a.run > b.run;
                             return SizeOf(a.point) > SizeOf(b.point);
                           });
  return result;
}

}  // namespace kymo::tools
