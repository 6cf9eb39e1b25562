#include "kymo/coverage.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kymo/warning.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

bool PrintMissing() {
  const char* const value = std::getenv(kPrintMissingVariable);
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

CoverageProfiler::CoverageProfiler()
    : print_missing_(PrintMissing()),
      profile_({.with_stack = print_missing_}) {}

absl::StatusOr<ProfileResult> CoverageProfiler::results(
    bool subtract_legacy_ops) {
  KYMO_ASSIGN_OR_RETURN(const EventList* const events, profile_.events());
  std::vector<CoverageEvent> converted;
  for (const FunctionEvent& event : *events) {
    converted.push_back({.name = event.name,
                         .start_us = event.time_range.start_us,
                         .end_us = event.time_range.end_us});
    if (event.stack != nullptr) converted.back().stack = *event.stack;
  }
  const Coverage coverage =
      MeasureCoverage(converted, {.subtract_legacy_ops = subtract_legacy_ops,
                                  .print_missing = print_missing_,
                                  .unique_graphs = CapturedRegions::Take()});
  for (const std::string& line : coverage.missing) Warn(line);
  return coverage.result;
}

}  // namespace kymo
