// memory.h - report allocations that the profiler cannot see by itself.
//
//   // In the program's own allocator:
//   kymo::ReportMemoryUsage(block, bytes, {.allocated = used_bytes,
//                                          .reserved = pool_bytes});
//   // Where it takes the block back:
//   kymo::ReportMemoryUsage(block, -bytes);
//
// Report memory of your own allocators, pools and devices. Each report becomes
// a [memory] event of sessions with profile_memory, which charge its bytes to
// the operations that are open on the calling thread. The same as PyTorch's
// reportMemoryUsageToProfiler.
//
// The heap needs no reports. //tools:profile --profile_memory records it, and
// so does a session in a program that depends on //:memory_hooks. Only the
// heap's own records then count as host memory. For resources of std::pmr see
// memory_resource.h.
//
// Threads: any.
// Errors:  none; a report that cannot be kept is counted in the trace's ledger.
// Cost:    one load and a branch unless a session with profile_memory records.
#ifndef KYMO_PROFILER_API_MEMORY_H_
#define KYMO_PROFILER_API_MEMORY_H_

#include <cstdint>

#include "profiler/base/device_type.h"
#include "profiler/record/range.h"

namespace kymo {

// The allocator's state after the allocation or free, in bytes; 0: not known.
struct AllocatorTotals {
  int64_t allocated = 0;  // in use by the program
  int64_t reserved = 0;   // taken from the system
};

// The device that the memory belongs to. CPU memory has the index -1.
struct MemoryDevice {
  DeviceType type = DeviceType::kCpu;
  int16_t index = -1;
};

// Reports an allocation of `bytes` at `address`, or with negative `bytes` a
// free.
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

// Reports an allocation of `bytes` that failed; an [OutOfMemory] event.
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
