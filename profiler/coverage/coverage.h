// coverage.h - the share of operations that ran in captured regions.
//
//   const std::vector<kymo::CoverageEvent> events = {
//       {.name = "TORCHDYNAMO", .start_us = 0, .end_us = 10},
//       {.name = "matmul", .start_us = 1, .end_us = 9},
//       {.name = "relu", .start_us = 11, .end_us = 13}};
//   const kymo::Coverage coverage = kymo::MeasureCoverage(events, {});
//   Print(coverage.result.ToString());   // "... 1/   2 =  50% ops  80% time"
//
// A captured region is a range named "TORCHDYNAMO"; kymo/coverage.h makes a
// callable into one. An operation is captured if it ends within the last region
// that began before it. Only outermost operations count: an operation that
// begins before the last outermost one has ended is nested in it. Operations of
// all threads are mixed by their start.
//
// These are ProfileMetrics, ProfileResult and the walk over the events of
// PyTorch's torch._dynamo.profiler. Two of its oddities are kept: += does not
// add `graphs`, and a sum made with + has 0 graphs.
//
// Threads: everything here is a value, except CapturedRegions: any thread.
// Errors:  none.
#ifndef KYMO_PROFILER_COVERAGE_COVERAGE_H_
#define KYMO_PROFILER_COVERAGE_COVERAGE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kymo {

// The name of captured regions.
inline constexpr char kCapturedRegionName[] = "TORCHDYNAMO";
// An environment variable. "1" asks for a report of operations that are not
// captured.
inline constexpr char kPrintMissingVariable[] = "TORCHDYNAMO_PRINT_MISSING";

// Sums over operations, or (as a quotient of two sums) shares.
struct ProfileMetrics {
  double microseconds = 0;
  double operators = 0;
  double fusions = 0;
  int64_t graphs = 0;

  // Adds everything except `graphs`, as PyTorch does.
  ProfileMetrics& operator+=(const ProfileMetrics& other);
  // The sum; its `graphs` are 0, as in PyTorch.
  friend ProfileMetrics operator+(const ProfileMetrics& a,
                                  const ProfileMetrics& b);
  // Each value divided by max(1, the other's value). The quotient has no
  // graphs.
  friend ProfileMetrics operator/(const ProfileMetrics& a,
                                  const ProfileMetrics& b);
  friend ProfileMetrics operator/(const ProfileMetrics& a, int64_t divisor);

  // The text of shares: " 50% ops  25% time".
  std::string ToString() const;
  // The operators and the microseconds.
  std::vector<double> tocsv() const;

  friend bool operator==(const ProfileMetrics&,
                         const ProfileMetrics&) = default;
};

struct ProfileResult {
  ProfileMetrics captured;
  ProfileMetrics total;
  int64_t unique_graphs = 0;

  ProfileResult& operator+=(const ProfileResult& other);
  // captured / total.
  ProfileMetrics percent() const;

  std::string ToString() const;
  // unique_graphs, captured graphs, captured and total operators, and
  // percent()'s two.
  std::vector<double> tocsv() const;
};

// An operation or a captured region.
struct CoverageEvent {
  std::string name;
  double start_us = 0;
  double end_us = 0;
  std::vector<std::string> stack = {};  // innermost first
};

struct CoverageOptions {
  // Subtract one operation for each region, and one more, as PyTorch does. User
  // ranges were operations once; today the subtraction makes totals too small.
  bool subtract_legacy_ops = false;
  // Fill Coverage::missing.
  bool print_missing = false;
  // How many regions the program has made (CapturedRegions::Take).
  int64_t unique_graphs = 0;
};

struct Coverage {
  ProfileResult result;
  // A text for each operation that is not captured: "MISSING" and the last
  // three entries of its stack. Each text stands once, in the order of the
  // operations.
  std::vector<std::string> missing;
};

Coverage MeasureCoverage(std::span<const CoverageEvent> events,
                         const CoverageOptions& options);

// Counts the captured regions that the process has made. Threads: any.
class CapturedRegions {
 public:
  static void Add() noexcept;
  // Returns the count and sets it to 0.
  static int64_t Take() noexcept;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_COVERAGE_COVERAGE_H_
