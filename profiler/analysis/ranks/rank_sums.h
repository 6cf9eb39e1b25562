// rank_sums.h - averages of one rank or of many, that can be added up.
//
//   RankSums sums = RankSums::Of(trace, 3);            // in each rank
//   sums.Merge(*RankSums::Parse(bytes));               // of other ranks
//   Send(sums.Serialize());
//   for (const auto& [name, of] : sums.names()) Print(name, of.calls);
//
// Merging is associative and commutative, so ranks can be added up in pairs, in
// any order. What it takes does not grow with the ranks, but for 16 bytes of
// each: which rank worked how long.
//
// Units: nanoseconds. Threads: values. Errors: Parse takes bytes from a
//   network; it returns nothing if they are no sums.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_RANK_SUMS_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_RANK_SUMS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// Numbers of one kind: calls' durations, or ranks' totals.
struct RankNumbers {
  int64_t count = 0;
  DurationNs sum_ns = 0;
  double square_sum = 0;
  DurationNs least_ns = 0;
  int64_t least_rank = 0;
  DurationNs most_ns = 0;
  int64_t most_rank = 0;

  void Add(DurationNs value, int64_t rank);
  void Merge(const RankNumbers& other);
  double mean_ns() const;
  double deviation_ns() const;  // of all numbers, none is a sample
};

// The buckets of the histogram: four for each power of two, so that a bucket's
// end is at most a quarter above its begin.
int DurationBucket(DurationNs duration);
DurationNs DurationBucketEnd(int bucket);

// The ranges of one name.
struct NameSums {
  RankNumbers calls;   // the durations of calls
  RankNumbers totals;  // the total time in each rank that has the name
  std::map<int, int64_t> histogram;  // of calls' durations, by bucket

  // The duration that this part of the calls do not exceed, or nearly so.
  DurationNs QuantileNs(double part) const;
};

struct RankWork {
  int64_t rank = 0;
  // Of its main thread outside of MPI, from the first to the last event; in
  // MPI, ranks wait for each other.
  DurationNs work_ns = 0;
  bool operator==(const RankWork&) const = default;
};

class RankSums {
 public:
  // Beyond these, the names with the least time are added up as kOthers.
  static constexpr size_t kMostNames = 10'000;
  static constexpr std::string_view kOthers = "[other names]";

  // Of the ranges of one rank's trace. A range within one of its name counts as
  // a call, and not for the total.
  static RankSums Of(const model::Trace& trace, int64_t rank);

  void Merge(const RankSums& other);
  std::string Serialize() const;
  static std::optional<RankSums> Parse(std::string_view bytes);

  const std::map<std::string, NameSums, std::less<>>& names() const {
    return names_;
  }
  // By rank.
  const std::vector<RankWork>& ranks() const { return ranks_; }

  // Which ranks say most about the job, by rank: `first`, if there is such a
  // rank, also if its averages are missing; then in turn the one that worked
  // longest, the one that worked least, and the one in the middle; then those
  // next to them.
  std::vector<int64_t> MostInteresting(
      size_t count, std::optional<int64_t> first = std::nullopt) const;

 private:
  void LimitNames();

  std::map<std::string, NameSums, std::less<>> names_;
  std::vector<RankWork> ranks_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_RANK_SUMS_H_
