// measures.h - what a budget can hold a program to, and how much of it a run
// took.
//
//   Amounts amounts;
//   AddAmountsOf(trace, amounts);                    // of a recording
//   amounts.Find({What::kCalls, "matmul"})           // 128, or nothing
//
//   name                   of                     it counts
//   CALLS                  - or operation, range  how often it ran
//   ALLOCATIONS            - or operation         calls of malloc, new, ...
//   ALLOCATED_BYTES        - or operation         what they asked for
//   PEAK_BYTES             - or operation         most heap bytes at a time
//   TEMPORARY_ALLOCATIONS  -                      freed by the next call
//   LEAKS, LEAKED_BYTES    -                      not freed at the end
//   FLOPS                  - or operation         as with_flops estimates
//   BLOCKING_CALLS         - or function of libc  calls that may block, whether
//                                                 or not they waited
//   FILES_OPENED           -                      successful open, openat, ...
//   SYSTEM_CALLS           -                      )
//   PAGE_FAULTS            -                      ) depend on the machine
//   BYTES_READ, _WRITTEN   -                      )
//   CPU_TIME_US            - or operation         self time, microseconds;
//                                                 waits count, too
//   CPU_SHARE              operation              its share of that, 0 to 1
//
// Heap amounts add up those of all processes. An operation's allocations are
// those of which it was the innermost.
#ifndef KYMO_TOOLS_GATE_COMMAND_MEASURES_H_
#define KYMO_TOOLS_GATE_COMMAND_MEASURES_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/trace.h"

namespace kymo::tools {

enum class What : uint8_t {
  kCalls,
  kAllocations,
  kAllocatedBytes,
  kPeakBytes,
  kTemporaryAllocations,
  kLeaks,
  kLeakedBytes,
  kFlops,
  kBlockingCalls,
  kFilesOpened,
  kSystemCalls,
  kPageFaults,
  kBytesRead,
  kBytesWritten,
  kCpuTimeUs,
  kCpuShare,
  kCount,
};

std::string_view WhatName(What what);  // "CALLS"
std::optional<What> ParseWhat(std::string_view name);
std::string AllWhatNames();  // "CALLS, ALLOCATIONS, ..."

// Whether the amount comes from a run that counts calls, not from a recording.
bool IsCounted(What what);
// Whether it depends on the machine, so that it must be seen to repeat.
bool DependsOnMachine(What what);
// Whether it is a time, which never repeats.
bool IsTime(What what);
// Whether the whole program has such an amount, and whether its parts do.
bool IsOfWhole(What what);
bool IsOfParts(What what);

struct Measure {
  What what = What::kCalls;
  std::string of = {};  // empty: the whole program

  friend auto operator<=>(const Measure&, const Measure&) = default;
};

// "CALLS of matmul"
std::string MeasureText(const Measure& measure);

class Amounts {
 public:
  void Set(const Measure& measure, double amount) { all_[measure] = amount; }
  void Add(const Measure& measure, double amount) { all_[measure] += amount; }
  void Remove(const Measure& measure) { all_.erase(measure); }
  std::optional<double> Find(const Measure& measure) const;
  const std::map<Measure, double>& all() const { return all_; }

  // The parts that have such an amount, sorted.
  std::vector<std::string> PartsOf(What what) const;

 private:
  std::map<Measure, double> all_;
};

// Whether all processes were recorded, so that what is not there did not
// happen.
bool WasRecorded(const model::Trace& trace);

// The amounts of a recording. Those of the heap are there if the trace watched
// it, leaks if it has stacks, and FLOPS if it kept inputs.
void AddAmountsOf(const model::Trace& trace, Amounts& amounts);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_GATE_COMMAND_MEASURES_H_
