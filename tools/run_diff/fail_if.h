// fail_if.h - limits on what may change: --fail_if="self_cpu>5%,allocations>0".
//
//   KYMO_ASSIGN_OR_RETURN(const std::vector<Limit> limits, ParseLimits(text));
//   KYMO_ASSIGN_OR_RETURN(const auto over, Exceeded(limits, diff));
//   for (const std::string& sentence : over) Say(sentence);
//
//   self_cpu         a range's time that surely changed, and all of them
//   steady_cpu       the same without disturbances (steady_times.h)
//   function_cpu     the same of sampled functions
//   calls            calls of a range
//   allocations, allocated_bytes, peak_bytes   of the heap
//
// A number with % is a share of base, without it a difference (times in
// microseconds). Times count only where the verdict is "slower": noise alone
// exceeds no limit.
#ifndef KYMO_TOOLS_RUN_DIFF_FAIL_IF_H_
#define KYMO_TOOLS_RUN_DIFF_FAIL_IF_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/run_diff/run_diff.h"

namespace kymo::tools {

struct Limit {
  std::string metric;
  double most = 0;
  bool is_share = false;
  std::string text;  // as it was given
};

// kInvalidArgument, in one line.
absl::StatusOr<std::vector<Limit>> ParseLimits(std::string_view text);

// A sentence for each row that is over a limit. kFailedPrecondition if a limit
// could not be exceeded: some run did not measure it, or there are too few.
absl::StatusOr<std::vector<std::string>> Exceeded(
    const std::vector<Limit>& limits, const RunDiff& diff);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_RUN_DIFF_FAIL_IF_H_
