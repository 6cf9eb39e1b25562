// clock.h - ticks while recording, one clock of nanoseconds afterwards.
//
// Recording reads ticks: the invariant time stamp counter where the processor
// has one, else CLOCK_MONOTONIC in nanoseconds. Around a recording two anchors
// pair ticks with CLOCK_MONOTONIC; what lies between is interpolated:
//
//   monotonic_ns(t) = a.ns + (t - a.ticks) * (b.ns - a.ns)/(b.ticks - a.ticks)
//
// so the conversion is off by at most the larger anchor's uncertainty plus what
// the kernel's slewing of CLOCK_MONOTONIC deviates from a straight line between
// the anchors; error_ns() states the first. Epoch time is CLOCK_MONOTONIC plus
// an offset that is read once per process: all clocks of one program agree, and
// a step of the wall clock in mid-recording moves nothing.
//
// Threads: everything may be called concurrently. Nothing allocates, throws or
//   locks; everything but MeasureAnchor is cheap.
#ifndef KYMO_PROFILER_BASE_CLOCK_H_
#define KYMO_PROFILER_BASE_CLOCK_H_

#include <time.h>

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "profiler/base/time.h"

namespace kymo {

enum class ClockSource : uint32_t {
  kSystem = 0,  // clock_gettime(CLOCK_MONOTONIC); one tick is 1 ns
  kTsc = 1,     // invariant TSC
};

// kTsc where CPUID says that the TSC is invariant and the kernel did not find
// it unstable, else kSystem. The environment variable KYMO_CLOCK=tsc|system
// overrides. Costs a file read; ask once.
ClockSource DetectClockSource() noexcept;

// ns of CLOCK_MONOTONIC.
inline int64_t MonotonicNs() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec;
}

// Ticks of `source`; never 0.
inline uint64_t ReadTicks(ClockSource source) noexcept {
#if defined(__x86_64__)
  if (source == ClockSource::kTsc) [[likely]]
    return __rdtsc();
#endif
  return static_cast<uint64_t>(MonotonicNs());
}

// The same instant on both clocks.
struct ClockAnchor {
  uint64_t ticks = 0;
  int64_t monotonic_ns = 0;
  int64_t uncertainty_ns = 0;  // half of the bracket that was measured
};

// The best of a few bracketed readings, about a microsecond.
ClockAnchor MeasureAnchor(ClockSource source) noexcept;

// Epoch minus CLOCK_MONOTONIC, ns; measured on the first call, then constant.
int64_t EpochOffsetNs() noexcept;

// Ticks to epoch nanoseconds.
class TickConverter {
 public:
  // REQUIRES: `first` was measured before `last`.
  TickConverter(ClockSource source, const ClockAnchor& first,
                const ClockAnchor& last, int64_t epoch_offset_ns) noexcept;

  TimeNs ToEpochNs(uint64_t ticks) const noexcept {
    // Signed: a tick just before the first anchor is legal.
    const int64_t delta = static_cast<int64_t>(ticks - base_ticks_);
    // Unsigned: files may hold any ticks, and what they mean is some time.
    const auto since = static_cast<uint64_t>(
        (static_cast<__int128>(delta) * multiplier_) >> kShift);
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
