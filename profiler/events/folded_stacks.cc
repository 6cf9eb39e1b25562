#include "profiler/events/folded_stacks.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"
#include "profiler/text/python_text.h"

namespace kymo {
namespace {

constexpr std::string_view kMetrics[] = {
    "self_cpu_time_total",
    "self_cuda_time_total",
    "self_xpu_time_total",
    "self_privateuse1_time_total",
};

void WriteLine(const EventStack& stack, double us, std::ostream& out) {
  const int64_t whole_us = static_cast<int64_t>(us);
  if (stack.empty() || whole_us <= 0) return;
  for (size_t i = stack.size(); i-- > 0;) {
    std::string entry = stack[i];
    std::replace_if(
        entry.begin(), entry.end(),
        [](char c) { return c == ' ' || c == ';' || c == '\t' || c == '\n'; },
        '_');
    out << entry << (i == 0 ? " " : ";");
  }
  // A stream's numbers are those of the program's locale.
  out << absl::StrCat(whole_us, "\n");
}

}  // namespace

absl::StatusOr<StackMetric> ParseStackMetric(std::string_view metric) {
  const auto* const found =
      std::find(std::begin(kMetrics), std::end(kMetrics), metric);
  if (found == std::begin(kMetrics)) return StackMetric::kSelfCpuTime;
  if (found != std::end(kMetrics)) return StackMetric::kSelfDeviceTime;
  std::string known;
  for (const std::string_view name : kMetrics) {
    absl::StrAppend(&known, known.empty() ? "" : ", ", PythonString(name));
  }
  return absl::InvalidArgumentError(absl::StrCat("metric should be one of: [",
                                                 known, "], but got ",
                                                 PythonString(metric)));
}

void WriteFoldedStacks(std::span<const FunctionEvent> events,
                       StackMetric metric, std::ostream& out) {
  for (const FunctionEvent& event : events) {
    if (event.stack == nullptr) continue;
    WriteLine(*event.stack,
              metric == StackMetric::kSelfCpuTime
                  ? event.self_cpu_time_total()
                  : event.self_device_time_total(),
              out);
  }
}

void WriteFoldedStacks(std::span<const FunctionEventAvg> averages,
                       StackMetric metric, std::ostream& out) {
  for (const FunctionEventAvg& average : averages) {
    WriteLine(average.stack,
              metric == StackMetric::kSelfCpuTime
                  ? average.self_cpu_time_total
                  : average.self_device_time_total,
              out);
  }
}

}  // namespace kymo
