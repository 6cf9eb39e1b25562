// scenarios.h - programs that use processes, threads and ranges, and the
// records that a recording of each must hold.
//
//   for (const Scenario& scenario : Scenarios()) {
//     const Expected expected = scenario.run();
//     ... compares a recording with it ...
//   }
//
// A session of the process sees `own`; the command also sees the others.
// Scenarios do not depend on chance: each run has the same counts, or returns
// the counts that it had.
#ifndef KYMO_TESTS_RELIABILITY_SCENARIOS_H_
#define KYMO_TESTS_RELIABILITY_SCENARIOS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kymo::reliability {

// Ranges by name.
using Counts = std::map<std::string, int64_t>;

struct Expected {
  Counts own;
  Counts children;   // of processes that it starts
  Counts at_least;   // of processes that outlive it
  int64_t open = 0;  // of these ranges, those that never end
};

struct Scenario {
  const char* name;
  Expected (*run)();
  // Starts this program again, as `program leaf COUNT`.
  bool starts_itself = false;
};

const std::vector<Scenario>& Scenarios();

// Runs `program leaf COUNT`: records COUNT ranges "leaf".
void RunLeaf(long count);

}  // namespace kymo::reliability

#endif  // KYMO_TESTS_RELIABILITY_SCENARIOS_H_
