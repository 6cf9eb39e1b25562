// coverage.h - how much of a program ran in captured regions.
//
//   std::vector<CoverageEvent> events = ...;    // operations and regions
//   const ProfileResult result = MeasureCoverage(events, {}).result;
//   std::cout << result.ToString();
//   //  1 graphs  2 graph calls    6/   8 =  75% ops  75% time
//
// PyTorch's torch._dynamo.profiler: ProfileMetrics, ProfileResult and the walk
// over the events. A captured region is a range named "TORCHDYNAMO"
// (kymo/coverage.h makes a callable into one); an operation is captured when it
// ends within the region that began last before it. Only outermost operations
// count: one that begins before the last one has ended is nested in it.
//
// Warts of PyTorch that are kept: adding results does not add `graphs`, and a
// sum made with + has 0 of them. Operations of all threads are mixed by their
// start.
#ifndef KYMO_PROFILER_COVERAGE_COVERAGE_H_
#define KYMO_PROFILER_COVERAGE_COVERAGE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kymo {

// The name of captured regions.
inline constexpr char kCapturedRegionName[] = "TORCHDYNAMO";
// "1" asks for a report of the operations that are not captured.
inline constexpr char kPrintMissingVariable[] = "TORCHDYNAMO_PRINT_MISSING";

struct ProfileMetrics {
  double microseconds = 0;
  double operators = 0;  // a count; in a quotient a share
  double fusions = 0;    // likewise
  int64_t graphs = 0;

  // Adds all but `graphs`, as PyTorch.
  ProfileMetrics& operator+=(const ProfileMetrics& other);
  // Its graphs are 0, as PyTorch's.
  friend ProfileMetrics operator+(const ProfileMetrics& a,
                                  const ProfileMetrics& b);
  // Each value by max(1, the other's); without graphs.
  friend ProfileMetrics operator/(const ProfileMetrics& a,
                                  const ProfileMetrics& b);
  friend ProfileMetrics operator/(const ProfileMetrics& a, int64_t divisor);

  // Shares as text: " 50% ops  25% time".
  std::string ToString() const;
  // Operators and microseconds.
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

struct CoverageEvent {
  std::string name;
  double start_us = 0;
  double end_us = 0;
  std::vector<std::string> stack;  // innermost first
};

struct CoverageOptions {
  // PyTorch counts one operation less for each region, and one less in all,
  // since user ranges once were operations themselves. They no longer are: the
  // totals come out too small, and PyTorch still subtracts.
  bool subtract_legacy_ops = false;
  // Collect `missing`.
  bool print_missing = false;
  // Regions that were made (CapturedRegions::Take).
  int64_t unique_graphs = 0;
};

struct Coverage {
  ProfileResult result;
  // "MISSING" and the last three entries of the stack of each operation that is
  // not captured, each text once, in the order of the operations.
  std::vector<std::string> missing;
};

Coverage MeasureCoverage(std::span<const CoverageEvent> events,
                         const CoverageOptions& options);

// Counts the captured regions that the process has made. Threads: any.
class CapturedRegions {
 public:
  static void Add() noexcept;
  // The count since the last call.
  static int64_t Take() noexcept;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_COVERAGE_COVERAGE_H_
