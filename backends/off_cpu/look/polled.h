// polled.h - which descriptors poll(2) and select(2) wait for.
//
//   const auto polled = ReadPolled(call, memory);
//   if (polled && polled->count == 1) Use(polled->first[0]);
//
// Threads: any.
#ifndef KYMO_BACKENDS_OFF_CPU_LOOK_POLLED_H_
#define KYMO_BACKENDS_OFF_CPU_LOOK_POLLED_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "backends/off_cpu/look/blocked_call.h"

namespace kymo::off_cpu {

struct Polled {
  size_t count = 0;
  std::vector<int32_t> first;  // of them, by number; kMostPolled at most
};
inline constexpr size_t kMostPolled = 16;

// Reads bytes of the thread's memory. False: not readable.
using ReadMemory =
    std::function<bool(uint64_t address, std::span<std::byte> bytes)>;
// Of a thread that is blocked.
ReadMemory MemoryOf(int64_t tid);

// Nothing if the call is no poll, or its memory cannot be read. Descriptors
// that are negative are none.
std::optional<Polled> ReadPolled(const BlockedCall& call,
                                 const ReadMemory& memory);

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_LOOK_POLLED_H_
