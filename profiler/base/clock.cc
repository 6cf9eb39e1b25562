#include "profiler/base/clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "profiler/base/descriptor.h"

namespace kymo {
namespace {

#if defined(__x86_64__)
// CPUID 80000007h, EDX bit 8: the TSC runs at one rate in all states.
bool CpuSaysInvariant() noexcept {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

// A kernel whose watchdog found the TSC unstable removes it from this list.
bool KernelTrustsTsc() noexcept {
  const int fd = AboveStandardStreams(
      open("/sys/devices/system/clocksource/clocksource0/available_clocksource",
           O_RDONLY | O_CLOEXEC));
  if (fd < 0) return false;
  char text[256];
  const ssize_t size = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (size <= 0) return false;
  text[size] = '\0';
  // A list of words: "tsc hpet acpi_pm".
  char* rest = text;
  while (const char* const word = strtok_r(rest, " \n", &rest)) {
    if (strcmp(word, "tsc") == 0) return true;
  }
  return false;
}
#elif defined(__aarch64__)
// In Hz; 0 if the firmware did not tell it.
uint64_t CounterFrequency() noexcept {
  uint64_t frequency;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  return frequency;
}
#endif

int64_t RealtimeNs() noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec;
}

// Reads `read_middle` between two CLOCK_MONOTONIC readings until a short
// bracket was seen; returns its middle and half its width.
template <typename Read>
auto Bracket(Read read_middle, int64_t* monotonic_ns,
             int64_t* uncertainty_ns) noexcept {
  auto best = read_middle();
  int64_t best_width = INT64_MAX;
  for (int i = 0; i < 16; ++i) {
    const int64_t before = MonotonicNs();
    const auto middle = read_middle();
    const int64_t after = MonotonicNs();
    if (after - before < best_width) {
      best_width = after - before;
      best = middle;
      *monotonic_ns = before + best_width / 2;
    }
  }
  *uncertainty_ns = best_width / 2 + 1;
  return best;
}

}  // namespace

ClockSource DetectClockSource() noexcept {
  const char* const wish = secure_getenv("KYMO_CLOCK");
  if (wish != nullptr && strcmp(wish, "system") == 0) {
    return ClockSource::kSystem;
  }
#if defined(__x86_64__) || defined(__aarch64__)
  if (wish != nullptr && strcmp(wish, "counter") == 0) {
    return ClockSource::kCounter;
  }
#endif
#if defined(__x86_64__)
  if (CpuSaysInvariant() && KernelTrustsTsc()) return ClockSource::kCounter;
#elif defined(__aarch64__)
  if (CounterFrequency() != 0) return ClockSource::kCounter;
#endif
  return ClockSource::kSystem;
}

int64_t TickNs([[maybe_unused]] ClockSource source) noexcept {
#if defined(__aarch64__)
  const auto frequency = static_cast<int64_t>(CounterFrequency());
  if (source == ClockSource::kCounter && frequency != 0) {
    return (kNsPerSecond + frequency - 1) / frequency;
  }
#endif
  return 0;
}

ClockAnchor MeasureAnchor(ClockSource source) noexcept {
  ClockAnchor anchor;
  anchor.ticks = Bracket([source] { return ReadTicks(source); },
                         &anchor.monotonic_ns, &anchor.uncertainty_ns);
  anchor.uncertainty_ns += TickNs(source);
  return anchor;
}

int64_t EpochOffsetNs() noexcept {
  // Not a function-local static: that would need the C++ runtime library,
  // which the preloaded runtime does without.
  static constinit std::atomic<int64_t> offset{0};
  int64_t known = offset.load(std::memory_order_relaxed);
  if (known != 0) return known;
  int64_t monotonic_ns = 0;
  int64_t uncertainty_ns = 0;
  const int64_t realtime_ns =
      Bracket(RealtimeNs, &monotonic_ns, &uncertainty_ns);
  const int64_t measured = realtime_ns - monotonic_ns;
  // The first to arrive decides, so that all threads use one offset.
  if (offset.compare_exchange_strong(known, measured,
                                     std::memory_order_relaxed)) {
    return measured;
  }
  return known;
}

TickConverter::TickConverter(ClockSource source, const ClockAnchor& first,
                             const ClockAnchor& last,
                             int64_t epoch_offset_ns) noexcept
    : base_ticks_(first.ticks),
      base_ns_(static_cast<TimeNs>(static_cast<uint64_t>(first.monotonic_ns) +
                                   static_cast<uint64_t>(epoch_offset_ns))),
      multiplier_(int64_t{1} << kShift),
      error_ns_(first.uncertainty_ns > last.uncertainty_ns
                    ? first.uncertainty_ns
                    : last.uncertainty_ns) {
  if (source == ClockSource::kSystem) {
    // A tick is a nanosecond of the very clock that anchors are paired with.
    base_ticks_ = static_cast<uint64_t>(first.monotonic_ns);
    error_ns_ = 0;
    return;
  }
  const int64_t ticks = static_cast<int64_t>(last.ticks - first.ticks);
  if (ticks <= 0) return;
  multiplier_ = static_cast<int64_t>(
      ((static_cast<__int128>(last.monotonic_ns) - first.monotonic_ns)
       << kShift) /
      ticks);
}

}  // namespace kymo
