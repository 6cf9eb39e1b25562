// heap.h - the hot path of allocations, for the hooks of an allocator.
//
//   void* malloc(size_t size) {
//     void* block = real_malloc(size);
//     if (const uint32_t bits = GateBits(); bits & kHeapBits) {
//       OnAllocation(block, size, __builtin_frame_address(0), bits);
//     }
//     return block;
//   }
//   void free(void* block) {
//     if (const uint32_t bits = GateBits(); bits & kHeapBits) {
//       OnFree(block, bits);                // before the block is another's
//     }
//     real_free(block);
//   }
//
// If the gate has kGateHeapSampled, call IsSampleDue(size) first, and
// OnAllocation only if it is true.
//
// The bits may also come from a gate of the hooks (HostApi::add_gate).
//
// Modes, by the gate's bits:
//   kGateHeap           every allocation and every free is a record of 32 bytes
//   + kGateHeapStacks   an allocation also has its caller's stack behind it:
//                       8 bytes, and 8 for each frame, rounded up to 32
//   + kGateHeapSampled  one allocation in `heap_sample_interval` bytes, on
//                       average, and the free of each of these
//   kGateHeapCounts     three numbers per thread, no records
//
// A process is watched in one way at a time (host.h: kHeapModeFlags).
//
// Sampling: every byte has the same chance of being sampled, independently of
// all others (a Poisson process over the bytes of a thread). So a block of n
// bytes is sampled with probability 1 - exp(-n / interval).
//
// Cost: docs/overhead.md. Memory: the records. Sampling reserves 2 MiB of
//   address space and touches as much of it as live samples need.
// Threads: any, at any time of their life. They may also be in the recorder,
//   whose own allocations are not recorded. Nothing allocates, or takes a lock
//   for which an allocation could wait. errno is kept.
// Errors: none; lost records are counted, as everywhere.
#ifndef KYMO_PROFILER_RECORD_HEAP_H_
#define KYMO_PROFILER_RECORD_HEAP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profiler/record/arena/layout.h"
#include "profiler/record/host/host.h"
#include "profiler/record/range.h"

namespace kymo::record {

inline constexpr uint32_t kHeapBits = kGateHeap | kGateHeapCounts;

// The distance to the calling thread's next sample.
struct HeapSampling {
  int64_t bytes_until_sample;
  uint64_t random;  // the generator's state; 0 = not begun
};
extern constinit thread_local HeapSampling heap_sampling
    __attribute__((tls_model("initial-exec")));

// How many live sampled blocks fall on each place; see MayBeSampled.
inline constexpr int kSampledFilterBits = 16;
extern constinit std::atomic<uint8_t>
    sampled_filter[size_t{1} << kSampledFilterBits];

inline uint64_t HashBlock(uint64_t address) noexcept {
  return address * 0x9e3779b97f4a7c15u;
}

// False: the block was not sampled. True: perhaps it was.
inline bool MayBeSampled(const void* block) noexcept {
  return sampled_filter[HashBlock(reinterpret_cast<uint64_t>(block)) >>
                        (64 - kSampledFilterBits)]
             .load(std::memory_order_relaxed) != 0;
}

// Counts the bytes of an allocation that is about to be made.
inline bool IsSampleDue(size_t bytes) noexcept {
  // At least one byte, since an empty block is a block, too. A larger size than
  // kMost is no real block, and must not overflow the count.
  constexpr size_t kMost = size_t{1} << 40;
  if (bytes - 1 >= kMost) [[unlikely]]
    bytes = bytes == 0 ? 1 : kMost;
  return (heap_sampling.bytes_until_sample -= static_cast<int64_t>(bytes)) < 0;
}

// Out of line.
void RecordAllocation(uint64_t address, uint64_t bytes, HeapSource source,
                      const void* frame, uint32_t bits) noexcept;
void RecordFree(uint64_t address, uint64_t bytes, HeapSource source,
                uint64_t ticks) noexcept;
void SampleAllocation(uint64_t address, uint64_t bytes, const void* frame,
                      uint32_t bits) noexcept;
void FreeSampled(uint64_t address, uint64_t ticks) noexcept;
// The calling thread's counts; null if nobody records it.
HeapCounts* HeapCountsSlow() noexcept;
// Records a failed allocation ([OutOfMemory]): kAllocation at address 0.
void OnOutOfMemory(uint64_t bytes, const void* frame, uint32_t bits) noexcept;

inline HeapCounts* ThreadHeapCounts() noexcept {
  ThreadStream* const stream = thread_stream;
  if (stream != nullptr && stream->heap_counts != nullptr) [[likely]] {
    return stream->heap_counts;
  }
  return HeapCountsSlow();
}

// One thread writes: no atomic addition is needed.
inline void AddTo(std::atomic<uint64_t>& count, uint64_t amount) noexcept {
  count.store(count.load(std::memory_order_relaxed) + amount,
              std::memory_order_relaxed);
}

// Counts an allocation, for the mode without records.
inline void CountAllocation(size_t size) noexcept {
  if (HeapCounts* const counts = ThreadHeapCounts()) [[likely]] {
    AddTo(counts->allocations, 1);
    AddTo(counts->allocated_bytes, size);
  }
}

// `frame` is the __builtin_frame_address(0) of the function whose caller gets
// the allocation. Call it after the block was allocated. REQUIRES: `bits` are
// GateBits() and have one of kHeapBits.
inline void OnAllocation(const void* block, size_t size, const void* frame,
                         uint32_t bits) noexcept {
  const uint64_t address = reinterpret_cast<uint64_t>(block);
  if (address == 0) [[unlikely]] {
    OnOutOfMemory(size, frame, bits);
  } else if (bits & kGateHeapSampled) {
    SampleAllocation(address, size, frame, bits);
  } else if (bits & kGateHeap) {
    RecordAllocation(address, size, HeapSource::kHeap, frame, bits);
  } else {
    CountAllocation(size);
  }
}

// Call it while the caller still owns the block. If the block may turn out to
// stay (realloc), pass the ticks of a moment when the caller owned it. 0 = now.
// REQUIRES: `bits` are GateBits() and have one of kHeapBits.
inline void OnFree(const void* block, uint32_t bits,
                   uint64_t ticks = 0) noexcept {
  const uint64_t address = reinterpret_cast<uint64_t>(block);
  if (address == 0) return;
  if (bits & kGateHeapSampled) {
    if (MayBeSampled(block)) [[unlikely]]
      FreeSampled(address, ticks);
  } else if (bits & kGateHeap) {
    RecordFree(address, 0, HeapSource::kHeap, ticks);
  } else if (HeapCounts* const counts = ThreadHeapCounts()) {
    AddTo(counts->frees, 1);
  }
}

// The clock of this process's records, for OnFree. 0 = nothing records.
uint64_t HeapTicks() noexcept;

// The same for mappings, if `bits` have kGateMapped. Every mapping is a record,
// except the recorder's own.
void OnMap(const void* address, size_t size, const void* frame,
           uint32_t bits) noexcept;
void OnUnmap(const void* address, size_t size, uint64_t ticks = 0) noexcept;

// Counts that this process has an allocator that the hooks do not see.
void CountHeapNotWatched() noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HEAP_H_
