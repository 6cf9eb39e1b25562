// clock.h - a cheap clock for recording, and nanoseconds from it afterwards.
//
//   const kymo::ClockSource source = kymo::DetectClockSource();
//   const kymo::ClockAnchor first = kymo::MeasureAnchor(source);
//   const uint64_t ticks = kymo::ReadTicks(source);   // while recording
//   Work();
//   const kymo::ClockAnchor last = kymo::MeasureAnchor(source);
//   const kymo::TickConverter converter(source, first, last,
//                                       kymo::EpochOffsetNs());
//   Print(converter.ToEpochNs(ticks));                // ns since 1970
//
// The recorder reads ticks: those of the processor's counter where there is one
// that runs at one rate, else CLOCK_MONOTONIC in nanoseconds. The counter is
// the invariant TSC of x86-64, and cntvct_el0 of AArch64. Two anchors, one
// before and one after the recording, pair ticks with CLOCK_MONOTONIC. The
// converter interpolates between them:
//
//   | monotonic_ns(t) =
//   |     a.ns + (t - a.ticks) * (b.ns - a.ns) / (b.ticks - a.ticks)
//
// Accuracy: two things add up to the error. The first is the larger uncertainty
//   of the two anchors, which error_ns() returns. The second is how far the
//   kernel's adjustment of CLOCK_MONOTONIC deviates from a straight line.
// Epoch:    epoch time is CLOCK_MONOTONIC plus an offset, which a process reads
//   once. So all times of one program agree, and a step of the wall clock
//   during a recording moves nothing.
// Threads:  any, concurrently. Nothing allocates, throws or locks.
// Cost:     ReadTicks takes a few nanoseconds, MeasureAnchor about one
//   microsecond, DetectClockSource a file read.
#ifndef KYMO_PROFILER_BASE_CLOCK_H_
#define KYMO_PROFILER_BASE_CLOCK_H_

#include <time.h>

#include <cstdint>

#include "profiler/base/time.h"

namespace kymo {

enum class ClockSource : uint32_t {
  kSystem = 0,   // clock_gettime(CLOCK_MONOTONIC); one tick is 1 ns
  kCounter = 1,  // the processor's
};

// On x86-64, returns kCounter where CPUID says that the TSC is invariant and
// the kernel did not find it unstable; on AArch64, where the firmware has told
// the counter's frequency; else kSystem. The environment variable
// KYMO_CLOCK=counter|system overrides this. It may read a file: call it once.
ClockSource DetectClockSource() noexcept;

// CLOCK_MONOTONIC in nanoseconds.
inline int64_t MonotonicNs() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec;
}

// The CPU time of the calling thread in nanoseconds. A system call.
inline DurationNs ThreadCpuNs() noexcept {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec;
}

// The ticks of `source` now; never 0.
inline uint64_t ReadTicks(ClockSource source) noexcept {
#if defined(__x86_64__)
  if (source == ClockSource::kCounter) [[likely]]
    // Not __rdtsc: <x86intrin.h> takes half a second to compile.
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  if (source == ClockSource::kCounter) [[likely]] {
    uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
  }
#endif
  return static_cast<uint64_t>(MonotonicNs());
}

// The same instant on both clocks.
struct ClockAnchor {
  uint64_t ticks = 0;
  int64_t monotonic_ns = 0;
  // Half the time between the readings around it, and TickNs().
  int64_t uncertainty_ns = 0;
};

// The time from one tick to the next in nanoseconds, rounded up, where that is
// much: many counters of AArch64 tick 25 to 62.5 million times a second. Else
// (CLOCK_MONOTONIC, the TSC) 0.
int64_t TickNs(ClockSource source) noexcept;

// Reads both clocks a few times and returns the pair with the least
// uncertainty.
ClockAnchor MeasureAnchor(ClockSource source) noexcept;

// Epoch time minus CLOCK_MONOTONIC, in nanoseconds. The first call measures it;
// later calls return the same number.
int64_t EpochOffsetNs() noexcept;

// Converts ticks to nanoseconds since the epoch.
class TickConverter {
 public:
  // REQUIRES: `first` was measured before `last`.
  TickConverter(ClockSource source, const ClockAnchor& first,
                const ClockAnchor& last, int64_t epoch_offset_ns) noexcept;

  TimeNs ToEpochNs(uint64_t ticks) const noexcept {
    // Signed: a tick just before the first anchor is legal.
    const int64_t delta = static_cast<int64_t>(ticks - base_ticks_);
    // Unsigned: a file may hold any ticks, and the sum must not overflow.
    __extension__ using Wide = __int128;  // else -Wpedantic warns
    const auto since = static_cast<uint64_t>(
        (static_cast<Wide>(delta) * multiplier_) >> kShift);
    return static_cast<TimeNs>(static_cast<uint64_t>(base_ns_) + since);
  }
  int64_t error_ns() const noexcept { return error_ns_; }

 private:
  static constexpr int kShift = 40;

  uint64_t base_ticks_;
  TimeNs base_ns_;
  int64_t multiplier_;  // ns per tick, fixed point
  int64_t error_ns_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_CLOCK_H_
