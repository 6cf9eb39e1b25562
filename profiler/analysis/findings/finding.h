// finding.h - one thing that a performance engineer would say of a trace: a
// number, where to see it, and what to do next.
//
//   Finding{.kind = FindingKind::kHotFunction,
//           .title = "Parse took 62 % of the CPU time (1.21 s)",
//           .next_step = "Make it cheaper, or call it less often",
//           .time_ns = 1'210'000'000,
//           .share = 0.62,
//           .evidence = {.kind = EvidenceKind::kStack, .name = "Parse"}}
//
// findings.h finds them. Titles and names hold texts of the target as they are:
// print them through VisibleText (profiler/text/visible_text.h).
//
// Units: nanoseconds of the trace's clock, bytes. Threads: values.
#ifndef KYMO_PROFILER_ANALYSIS_FINDINGS_FINDING_H_
#define KYMO_PROFILER_ANALYSIS_FINDINGS_FINDING_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"

namespace kymo::analysis {

// docs/findings.md describes each of them.
enum class FindingKind : uint8_t {
  kHotFunction,
  kHotOperation,
  kHotKernel,
  kUnnamedCode,
  kTinyRanges,
  kLowFlops,
  kLockContention,
  kThreadWait,
  kSerialPart,
  kCpuShortage,
  kLoadImbalance,
  kDeadlock,
  kRankEnded,
  kLateRank,
  kSlowSteps,
  kShortLivedAllocations,
  kMemoryGrowth,
  kLeak,
  kPageFaults,
  kDeviceIdle,
  kSmallKernels,
  kCopiesNotHidden,
  kCommunicationNotHidden,
  kSynchronisation,
  kLostData,
};
inline constexpr FindingKind kLastFindingKind = FindingKind::kLostData;

// "hot_function"; lower_snake, stable.
constexpr std::string_view FindingId(FindingKind kind) noexcept {
  constexpr std::string_view kIds[] = {"hot_function",
                                       "hot_operation",
                                       "hot_kernel",
                                       "unnamed_code",
                                       "tiny_ranges",
                                       "low_flops",
                                       "lock_contention",
                                       "thread_wait",
                                       "serial_part",
                                       "cpu_shortage",
                                       "load_imbalance",
                                       "deadlock",
                                       "rank_ended",
                                       "late_rank",
                                       "slow_steps",
                                       "short_lived_allocations",
                                       "memory_growth",
                                       "leak",
                                       "page_faults",
                                       "device_idle",
                                       "small_kernels",
                                       "copies_not_hidden",
                                       "communication_not_hidden",
                                       "synchronisation",
                                       "lost_data"};
  static_assert(std::size(kIds) == static_cast<size_t>(kLastFindingKind) + 1);
  return kIds[static_cast<size_t>(kind)];
}

enum class EvidenceKind : uint8_t {
  kInterval,  // a time on a track
  kEvent,     // one event of the trace
  kStack,     // a call stack
  kRow,       // a row of a table
  kCounter,   // a counter's curve
};

// "interval", "event", "stack", "row", "counter".
constexpr std::string_view EvidenceKindName(EvidenceKind kind) noexcept {
  constexpr std::string_view kNames[] = {"interval", "event", "stack", "row",
                                         "counter"};
  return kNames[static_cast<size_t>(kind)];
}

// Where to see it. Members beyond those that its kind needs are set where they
// are known: the stack of an interval in which a thread waited, for instance.
struct Evidence {
  EvidenceKind kind = EvidenceKind::kRow;
  // Of the event, function, row or counter; what happened in the interval.
  std::string name;
  // kRow: the table that has the row. An analysis of `report`, or a member of
  // summary.json.
  std::string_view table;
  model::TrackIndex track = model::kNoTrack;  // interval, event, counter
  TimeNs begin_ns = 0;                        // interval, event
  DurationNs duration_ns = 0;
  model::EventIndex event = model::kNoEvent;
  model::StackId stack = model::kEmptyStack;
};

struct Finding {
  FindingKind kind = FindingKind::kHotFunction;
  std::string title;      // a sentence with its numbers, without a full stop
  std::string next_step;  // a sentence, without a full stop
  // What is at stake: one of the two, or none (kLostData). The time may be that
  // of several threads together.
  DurationNs time_ns = 0;
  int64_t bytes = 0;
  // The time as a part of the run's, the bytes as a part of the peak, or the
  // part of the data that was lost. Above 1 if several threads add up to more
  // than the run. Findings are ranked by it.
  double share = 0;
  // Perhaps nobody waited for it: such a finding comes after all others.
  bool may_be_idle = false;
  Evidence evidence;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_FINDINGS_FINDING_H_
