// undelivered.h - CPU time for which the sampler should have had a tick.
#ifndef KYMO_BACKENDS_SAMPLING_UNDELIVERED_H_
#define KYMO_BACKENDS_SAMPLING_UNDELIVERED_H_

#include <cstdint>
#include <string>

#include "profiler/base/time.h"

namespace kymo::sampling {

// Whether so much CPU time has no samples that it must be said: more than 5 %,
// and more than 10 periods.
constexpr bool IsMuch(DurationNs missing_ns, DurationNs cpu_time_ns,
                      DurationNs period_ns) {
  return missing_ns > cpu_time_ns / 20 && missing_ns > 10 * period_ns;
}

// Whether so little is missing that it may be chance: a CPU's samples meet a
// program that is on it now and then only so often, give or take the root of
// their number. Three times that is rare.
constexpr bool IsChance(DurationNs missing_ns, DurationNs cpu_time_ns,
                        DurationNs period_ns) {
  const auto missing = static_cast<double>(missing_ns);
  return missing_ns <= 0 ||
         missing * missing < 9.0 * static_cast<double>(cpu_time_ns) *
                                 static_cast<double>(period_ns);
}

// How many ticks are missing if `cpu_time_ns` ran and samples stand for
// `sampled_ns` of it. The result is 0 unless IsMuch.
constexpr uint64_t UndeliveredSamples(DurationNs cpu_time_ns,
                                      DurationNs sampled_ns,
                                      DurationNs period_ns) {
  const DurationNs missing_ns = cpu_time_ns - sampled_ns;
  if (!IsMuch(missing_ns, cpu_time_ns, period_ns)) return 0;
  return static_cast<uint64_t>(missing_ns / period_ns);
}

// A thread's last, incomplete period is never sampled. That is no loss, since
// nobody asked for such a sample. Of programs whose threads live for about a
// period, it is much of the CPU time nevertheless.
struct Undelivered {
  uint64_t lost = 0;     // more than the ends of threads can explain
  uint64_t at_ends = 0;  // the others
  bool operator==(const Undelivered&) const = default;
};

// The same if `threads` threads ended, each of which may have left out up to
// one period.
constexpr Undelivered UndeliveredSamples(DurationNs cpu_time_ns,
                                         DurationNs sampled_ns,
                                         DurationNs period_ns,
                                         uint64_t threads) {
  const uint64_t all = UndeliveredSamples(cpu_time_ns, sampled_ns, period_ns);
  if (all <= threads) return {.lost = 0, .at_ends = all};
  const auto rest_ns = static_cast<DurationNs>(all - threads) * period_ns;
  const uint64_t lost =
      IsMuch(rest_ns, cpu_time_ns, period_ns) ? all - threads : 0;
  return {.lost = lost, .at_ends = all - lost};
}

// Of a recording whose user may not look into the kernel, in which so many
// threads ended. The time that has no samples is no loss: nearly all of it is
// the kernel's, or at the ends of threads.
inline std::string KernelTimeText(DurationNs cpu_time_ns, DurationNs sampled_ns,
                                  DurationNs period_ns, uint64_t threads) {
  const DurationNs missing_ns = cpu_time_ns - sampled_ns;
  std::string text =
      "sampling: " + std::to_string(missing_ns / kNsPerMs) + " ms of " +
      std::to_string(cpu_time_ns / kNsPerMs) +
      " ms of CPU time have no samples, because time in the kernel is not "
      "sampled";
  if (static_cast<DurationNs>(threads) * period_ns > missing_ns / 10) {
    text += ", and neither is what each of " + std::to_string(threads) +
            " threads that ended ran last, for less than a period";
  }
  return text;
}

// Of processes whose clock is known exactly: what UndeliveredSamples leaves
// out. Empty: nothing that is worth a line.
inline std::string UnsampledTimeText(DurationNs cpu_time_ns,
                                     DurationNs sampled_ns,
                                     DurationNs period_ns) {
  const DurationNs missing_ns = cpu_time_ns - sampled_ns;
  if (missing_ns <= cpu_time_ns / 1000 || missing_ns <= 10 * period_ns) {
    return "";
  }
  return "sampling: " + std::to_string(missing_ns / kNsPerMs) + " ms of " +
         std::to_string(cpu_time_ns / kNsPerMs) +
         " ms of CPU time have no samples: a thread's last part of a period "
         "has none";
}

// How many of the lost records were samples, which they do not say: as many as
// fit into the CPU time that has no samples. At least one, so that a loss is
// told.
constexpr uint64_t LostSamples(uint64_t lost_records, DurationNs missing_ns,
                               DurationNs period_ns) {
  const uint64_t missing =
      missing_ns <= 0
          ? 1
          : static_cast<uint64_t>((missing_ns + period_ns - 1) / period_ns);
  return missing < lost_records ? missing : lost_records;
}

// How many of `lost` records were the target's, if `ours` of `all` samples
// were: its share, rounded up. A record that is lost does not say whose it was.
constexpr uint64_t LostOfTarget(uint64_t lost, uint64_t ours, uint64_t all) {
  return all == 0 ? lost : (lost * ours + all - 1) / all;
}

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_UNDELIVERED_H_
