// memory.h - report allocations that the profiler cannot see by itself, and
// say what memory is for.
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
// Say what memory is for, and the memory timeline of a session with
// profile_memory sorts it by PyTorch's categories:
//
//   kymo::SetMemoryCategory(block, bytes, kymo::MemoryCategory::kParameter);
//   {
//     kymo::MemoryCategoryScope scope(kymo::MemoryCategory::kActivation);
//     Work();  // all that this thread allocates here is an activation
//   }
//
// The heap needs no reports. //tools:profile --profile_memory records it, and
// so does a session in a program that depends on //:memory_hooks. Only the
// heap's own records then count as host memory. For resources of std::pmr see
// memory_resource.h.
//
// Threads: any.
// Errors:  none; a report that cannot be kept is counted in the trace's ledger.
// Cost:    one load and a branch unless a session with profile_memory records.
//          Then a report takes 64 bytes of the recording, a category 128.
#ifndef KYMO_PROFILER_API_MEMORY_H_
#define KYMO_PROFILER_API_MEMORY_H_

#include <cstdint>
#include <iterator>

#include "profiler/base/device_type.h"
#include "profiler/base/memory_category.h"
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

namespace internal {

// Whether a session records memory. A copy's first use asks its host.
inline bool IsMemoryRecorded() noexcept {
  constexpr uint32_t kMayBe = record::kGateMemory | record::kGateUnresolved;
  if ((record::GateBits() & kMayBe) == 0) [[likely]]
    return false;
  if (record::GateBits() & record::kGateUnresolved) record::Host();
  // Still unresolved: this is a signal handler, whose record is counted as
  // lost.
  return (record::GateBits() & kMayBe) != 0;
}

}  // namespace internal

// Reports an allocation of `bytes` at `address`, or with negative `bytes` a
// free.
inline void ReportMemoryUsage(const void* address, int64_t bytes,
                              AllocatorTotals totals = {},
                              MemoryDevice device = {}) noexcept {
  if (internal::IsMemoryRecorded()) [[unlikely]] {
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
  if (internal::IsMemoryRecorded()) [[unlikely]] {
    record::RecordMemory({.bytes = bytes,
                          .total_allocated = totals.allocated,
                          .total_reserved = totals.reserved,
                          .device_type = static_cast<uint8_t>(device.type),
                          .device_index = device.index,
                          .flag = record::kMemoryOutOfMemory});
  }
}

// Says what the block at `address` is for. Give the address that the allocator
// returned. A statement counts for the block that is alive there now:
//
// - kParameter, kOptimizerState, kGradient and kTemporary hold for the block's
//   whole life, also before you say it.
// - kInput, kActivation and kAutogradDetail hold for its contents, until
//   IncrementMemoryVersion.
// - If you say several, the first of this order counts: kOptimizerState,
//   kParameter, kGradient, kTemporary, kInput, kActivation, kAutogradDetail.
//
// A block that was allocated before the recording is unknown to the recording.
// Say within the recording what the block is, once in each, and it shows as
// PREEXISTING with `bytes`. For other blocks `bytes` are not needed.
inline void SetMemoryCategory(const void* address, int64_t bytes,
                              MemoryCategory category,
                              MemoryDevice device = {}) noexcept {
  if (internal::IsMemoryRecorded()) [[unlikely]] {
    const record::Arg args[] = {
        {kMemoryCategoryArg, MemoryCategoryName(category)},
        {kMemoryAddressArg, reinterpret_cast<uintptr_t>(address)},
        {kMemoryBytesArg, bytes},
        {kMemoryDeviceTypeArg, static_cast<int>(device.type)},
        {kMemoryDeviceIndexArg, device.index}};
    record::RecordInstant(kMemoryCategoryInstant, {}, args, std::size(args));
  }
}

// Says that the contents of the block at `address` were changed in place: the
// timeline's INCREMENT_VERSION. If the new contents are an input, an activation
// or a detail of autograd, say so afterwards with SetMemoryCategory.
inline void IncrementMemoryVersion(const void* address, int64_t bytes,
                                   MemoryDevice device = {}) noexcept {
  if (internal::IsMemoryRecorded()) [[unlikely]] {
    const record::Arg args[] = {
        {kMemoryAddressArg, reinterpret_cast<uintptr_t>(address)},
        {kMemoryBytesArg, bytes},
        {kMemoryDeviceTypeArg, static_cast<int>(device.type)},
        {kMemoryDeviceIndexArg, device.index}};
    record::RecordInstant(kMemoryVersionInstant, {}, args, std::size(args));
  }
}

// While it is open, all blocks that the thread allocates, on any device, get
// the category. Of nested scopes the innermost counts. A scope that was opened
// before the recording began is not known to the recording.
//
// Threads: it must end on the thread on which it began.
class MemoryCategoryScope {
 public:
  explicit MemoryCategoryScope(MemoryCategory category) noexcept {
    if (internal::IsMemoryRecorded()) [[unlikely]] {
      const record::Arg args[] = {
          {kMemoryCategoryArg, MemoryCategoryName(category)}};
      record::RecordInstant(kMemoryScopeInstant, {}, args, std::size(args));
      is_recorded_ = true;
    }
  }
  MemoryCategoryScope(const MemoryCategoryScope&) = delete;
  MemoryCategoryScope& operator=(const MemoryCategoryScope&) = delete;
  ~MemoryCategoryScope() {
    if (is_recorded_ && (record::GateBits() & record::kGateMemory)) {
      record::RecordInstant(kMemoryScopeInstant, {}, nullptr, 0);
    }
  }

 private:
  bool is_recorded_ = false;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_API_MEMORY_H_
