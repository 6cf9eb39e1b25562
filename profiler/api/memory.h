// memory.h - tell the profiler about memory that it cannot see by itself.
//
//   void* Pool::Allocate(size_t bytes) {
//     void* block = ...;
//     kymo::ReportMemoryUsage(block, bytes, {.allocated = used_bytes_,
//                                            .reserved = pool_bytes_});
//     return block;
//   }
//   void Pool::Free(void* block) {
//     kymo::ReportMemoryUsage(block, -SizeOf(block), ...);
//   }
//
// A report becomes a [memory] event of the session, and is charged to the
// operations that are open on the calling thread. As PyTorch's
// reportMemoryUsageToProfiler: for one's own allocators, pools, device memory.
//
// The heap needs no reports: //tools:profile --profile_memory watches it, and
// so does a session of a program that has //:memory_hooks among its
// dependencies. Host memory is then counted by what the heap says alone. For
// resources of std::pmr see memory_resource.h.
//
// Cost: while no session with profile_memory records, one load and a branch.
// Threads: any. Errors: none; what cannot be kept is counted.
#ifndef KYMO_PROFILER_API_MEMORY_H_
#define KYMO_PROFILER_API_MEMORY_H_

#include <cstdint>

#include "profiler/base/device_type.h"
#include "profiler/record/range.h"

namespace kymo {

// The allocator's state after an event; 0 = not known.
struct AllocatorTotals {
  int64_t allocated = 0;  // bytes in use by the program
  int64_t reserved = 0;   // bytes taken from the system
};

// Which memory. The index of CPU memory is -1.
struct MemoryDevice {
  DeviceType type = DeviceType::kCpu;
  int16_t index = -1;
};

// `bytes` is positive for an allocation, negative for a free.
inline void ReportMemoryUsage(const void* address, int64_t bytes,
                              AllocatorTotals totals = {},
                              MemoryDevice device = {}) noexcept {
  if (record::GateBits() & record::kGateMemory) [[unlikely]] {
    record::RecordMemory({.address = reinterpret_cast<uint64_t>(address),
                          .bytes = bytes,
                          .total_allocated = totals.allocated,
                          .total_reserved = totals.reserved,
                          .device_type = static_cast<uint8_t>(device.type),
                          .device_index = device.index});
  }
}

// An allocation of `bytes` that failed: [OutOfMemory].
inline void ReportOutOfMemory(int64_t bytes, AllocatorTotals totals = {},
                              MemoryDevice device = {}) noexcept {
  if (record::GateBits() & record::kGateMemory) [[unlikely]] {
    record::RecordMemory({.bytes = bytes,
                          .total_allocated = totals.allocated,
                          .total_reserved = totals.reserved,
                          .device_type = static_cast<uint8_t>(device.type),
                          .device_index = device.index,
                          .flag = record::kMemoryOutOfMemory});
  }
}

}  // namespace kymo

#endif  // KYMO_PROFILER_API_MEMORY_H_
