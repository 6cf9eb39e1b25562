// tracepoint.h - finds the kernel's tracepoint of threads that wake others.
//
//   if (const auto id = FindWakeTracepoint()) Open(WakeAttributes(parts, *id));
//
// For root, or CAP_SYS_ADMIN where tracefs is not mounted.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_TRACEPOINT_H_
#define KYMO_BACKENDS_SAMPLING_PERF_TRACEPOINT_H_

#include <cstdint>
#include <optional>

namespace kymo::sampling {

// The number of sched:sched_waking. Nothing: this process may not read it, the
// kernel has none, or its records are not as WakeFields says.
std::optional<uint64_t> FindWakeTracepoint();

// The raw part of its samples, in the kernel's order. The rest is left out.
struct WakeFields {
  uint16_t type;
  uint8_t flags;  // TRACE_FLAG_...: 8 in an interrupt, 16 in a soft one
  uint8_t preempt_count;
  int32_t waker_tid;
  char woken_name[16];
  int32_t woken_tid;  // in the first namespace of processes
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_TRACEPOINT_H_
