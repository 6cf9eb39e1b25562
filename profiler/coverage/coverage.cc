#include "profiler/coverage/coverage.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace kymo {
namespace {

std::atomic<int64_t> captured_regions{0};

ProfileMetrics DivideBy(const ProfileMetrics& a, double microseconds,
                        double operators, double fusions) {
  return {.microseconds = a.microseconds / std::max(1.0, microseconds),
          .operators = a.operators / std::max(1.0, operators),
          .fusions = a.fusions / std::max(1.0, fusions)};
}

// The report of an operation that is not captured; empty if it is not reported.
std::string MissingText(const CoverageEvent& event) {
  std::vector<std::string> kept;
  for (const std::string& entry : event.stack) {
    if (entry.find("/torch/autograd/profiler.py") != std::string::npos) {
      return {};
    }
    if (entry.find("<built-in") == std::string::npos &&
        entry.find("site-packages/torch/") == std::string::npos) {
      kept.push_back(entry);
    }
  }
  if (kept.size() > 3) kept.erase(kept.begin(), kept.end() - 3);
  return absl::StrCat("MISSING ", absl::StrJoin(kept, " >> "));
}

}  // namespace

ProfileMetrics& ProfileMetrics::operator+=(const ProfileMetrics& other) {
  microseconds += other.microseconds;
  operators += other.operators;
  fusions += other.fusions;
  return *this;
}

ProfileMetrics operator+(const ProfileMetrics& a, const ProfileMetrics& b) {
  ProfileMetrics sum;
  sum += a;
  sum += b;
  return sum;
}

ProfileMetrics operator/(const ProfileMetrics& a, const ProfileMetrics& b) {
  return DivideBy(a, b.microseconds, b.operators, b.fusions);
}

ProfileMetrics operator/(const ProfileMetrics& a, int64_t divisor) {
  const double d = static_cast<double>(divisor);
  return DivideBy(a, d, d, d);
}

std::string ProfileMetrics::ToString() const {
  return absl::StrFormat("%4s ops %4s time",
                         absl::StrFormat("%.0f%%", 100 * operators),
                         absl::StrFormat("%.0f%%", 100 * microseconds));
}

std::vector<double> ProfileMetrics::tocsv() const {
  return {operators, microseconds};
}

ProfileResult& ProfileResult::operator+=(const ProfileResult& other) {
  captured += other.captured;
  total += other.total;
  unique_graphs += other.unique_graphs;
  return *this;
}

ProfileMetrics ProfileResult::percent() const { return captured / total; }

std::string ProfileResult::ToString() const {
  return absl::StrFormat("%2d graphs %2d graph calls %4.0f/%4.0f = %s",
                         unique_graphs, captured.graphs, captured.operators,
                         total.operators, percent().ToString());
}

std::vector<double> ProfileResult::tocsv() const {
  std::vector<double> values = {static_cast<double>(unique_graphs),
                                static_cast<double>(captured.graphs),
                                captured.operators, total.operators};
  for (const double value : percent().tocsv()) values.push_back(value);
  return values;
}

Coverage MeasureCoverage(std::span<const CoverageEvent> events,
                         const CoverageOptions& options) {
  std::vector<const CoverageEvent*> sorted;
  for (const CoverageEvent& event : events) sorted.push_back(&event);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](auto* a, auto* b) { return a->start_us < b->start_us; });

  Coverage coverage;
  std::set<std::string> seen;
  int64_t regions = 0;
  int64_t captured_ops = 0;
  int64_t total_ops = 0;
  double captured_us = 0;
  double total_us = 0;
  double last_op_end = -1;
  double region_end = -1;
  for (const CoverageEvent* const event : sorted) {
    const double elapsed = event->end_us - event->start_us;
    if (event->name == kCapturedRegionName) {
      region_end = event->end_us;
      ++regions;
      continue;
    }
    if (event->start_us < last_op_end) continue;
    last_op_end = event->end_us;
    if (event->end_us <= region_end) {
      ++captured_ops;
      captured_us += elapsed;
    } else if (options.print_missing) {
      std::string text = MissingText(*event);
      if (!text.empty() && seen.insert(text).second) {
        coverage.missing.push_back(std::move(text));
      }
    }
    ++total_ops;
    total_us += elapsed;
  }
  if (options.subtract_legacy_ops) total_ops -= regions + 1;
  coverage.result = {
      .captured = {.microseconds = captured_us,
                   .operators = static_cast<double>(captured_ops),
                   .fusions = static_cast<double>(captured_ops - regions),
                   .graphs = regions},
      .total = {.microseconds = total_us,
                .operators = static_cast<double>(total_ops),
                .fusions = static_cast<double>(total_ops - 1)},
      .unique_graphs = options.unique_graphs};
  return coverage;
}

void CapturedRegions::Add() noexcept {
  captured_regions.fetch_add(1, std::memory_order_relaxed);
}

int64_t CapturedRegions::Take() noexcept {
  return captured_regions.exchange(0, std::memory_order_relaxed);
}

}  // namespace kymo
