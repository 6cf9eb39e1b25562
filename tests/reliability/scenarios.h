// scenarios.h - what programs do with processes, threads and ranges, and what
// a recording of it must hold.
//
//   for (const Scenario& scenario : Scenarios()) {
//     const Expected expected = scenario.run();
//     ... compares a recording with it ...
//   }
//
// A session of the process sees `own`, the command the others, too.
// Scenarios use their time, not chance: each run has the same counts, or says
// which it had.
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
  Counts at_least;   // of processes that go on when it has ended
  int64_t open = 0;  // of them, those that never end
};

struct Scenario {
  const char* name;
  Expected (*run)();
  // Starts this program again, as `program leaf COUNT`.
  bool starts_itself = false;
};

const std::vector<Scenario>& Scenarios();

// What `program leaf COUNT` does: as many ranges "leaf".
void RunLeaf(long count);

}  // namespace kymo::reliability

#endif  // KYMO_TESTS_RELIABILITY_SCENARIOS_H_
