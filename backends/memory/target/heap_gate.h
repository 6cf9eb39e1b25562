// heap_gate.h - what the hooks of the heap share: whether recordings want to
// know of it, and how a hook tells them.
//
//   KYMO_HOOK void* malloc(size_t bytes) {
//     return Allocated(real.malloc(bytes), bytes, KYMO_FRAME);
//   }
//
// Threads: any. Errors: none. Nothing here allocates.
#ifndef KYMO_BACKENDS_MEMORY_TARGET_HEAP_GATE_H_
#define KYMO_BACKENDS_MEMORY_TARGET_HEAP_GATE_H_

#include <stddef.h>
#include <stdint.h>

#include <atomic>

#include "profiler/record/heap.h"

#define KYMO_HOOK extern "C" __attribute__((visibility("default")))
// The hook's frame. The stack of its caller becomes the allocation's.
#define KYMO_FRAME __builtin_frame_address(0)
// Inlined by force, because KYMO_FRAME must be the frame of the hook itself.
#define KYMO_INLINE inline __attribute__((always_inline))

namespace kymo::memory {

// The gate says what recordings want from these hooks. It stays off if other
// hooks do the work.
extern constinit record::Gate hooks_gate __attribute__((visibility("hidden")));

inline uint32_t GateBits() {
  return hooks_gate.state.load(std::memory_order_relaxed);
}
// The bits of the gate if recordings want to know about the heap, otherwise 0.
inline uint32_t HeapBits() {
  const uint32_t bits = GateBits();
  return (bits & record::kHeapBits) != 0 ? bits : 0;
}

// Whether to report an allocation; call it once for each. With sampling it is
// mostly false. If it is called before allocating, the hook can then just jump
// to the allocator.
KYMO_INLINE bool IsToReport(size_t bytes) {
  const uint32_t bits = GateBits();
  if ((bits & record::kHeapBits) == 0) [[likely]]
    return false;
  return (bits & record::kGateHeapSampled) == 0 || record::IsSampleDue(bytes);
}

KYMO_INLINE void* Reported(void* block, size_t bytes, const void* frame) {
  if (const uint32_t bits = HeapBits(); bits != 0) [[likely]] {
    record::OnAllocation(block, bytes, frame, bits);
  }
  return block;
}

KYMO_INLINE void* Allocated(void* block, size_t bytes, const void* frame) {
  return IsToReport(bytes) ? Reported(block, bytes, frame) : block;
}

}  // namespace kymo::memory

#endif  // KYMO_BACKENDS_MEMORY_TARGET_HEAP_GATE_H_
