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
// Where the gate has kGateHeapSampled, IsSampleDue(size) says beforehand
// whether there will be anything to report; OnAllocation is then for those
// alone.
//
// The bits may be those of a gate that is the hooks' own (HostApi::add_gate).
//
// Modes, by the gate's bits:
//   kGateHeap           every allocation and every free is a record of 32 bytes
//   + kGateHeapStacks   an allocation also has its caller's stack behind it:
//                       8 bytes, and 8 for each frame, in steps of 32
//   + kGateHeapSampled  one allocation in `heap_sample_interval` bytes, on
//                       average, and the free of each of these
//   kGateHeapCounts     three numbers per thread, no records
//
// A process is watched in one way at a time (host.h: kHeapModeFlags).
//
// Sampling: every byte has the same chance, independently of all others, to be
// one that a sample is taken at (a Poisson process over the bytes of a thread):
// a block of n bytes is sampled with probability 1 - exp(-n / interval).
//
// Cost: docs/overhead.md. Memory: the records; for sampling 2 MiB of address
//   space, of which what live samples need is touched.
// Threads: any, at any time of their life, also within the recorder itself,
//   whose own allocations are not recorded. Nothing allocates or takes a lock
//   that an allocation could wait for; errno is kept.
// Errors: none; what cannot be kept is counted as every record is.
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

// When the calling thread takes its next sample.
struct HeapSampling {
  int64_t bytes_until_sample;
  uint64_t random;  // the generator's state; 0 = not begun
};
extern constinit thread_local HeapSampling heap_sampling
    __attribute__((tls_model("initial-exec")));

// How many of the live sampled blocks fall on each place; see IsSampled.
// 255 stays: so many are not counted any more.
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
  // At least one byte: what has no size is a block, too. More than this is no
  // block at all, and must not run over.
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
// The calling thread's; null where it is in no recording.
HeapCounts* HeapCountsSlow() noexcept;
// A block that could not be had: [OutOfMemory].
void OnOutOfMemory(uint64_t bytes, uint32_t bits) noexcept;

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

// For a mode without records.
inline void CountAllocation(size_t size) noexcept {
  if (HeapCounts* const counts = ThreadHeapCounts()) [[likely]] {
    AddTo(counts->allocations, 1);
    AddTo(counts->allocated_bytes, size);
  }
}

// `frame`: the __builtin_frame_address(0) of the function whose caller's stack
// is the allocation's. Call it when the block is the caller's already.
// REQUIRES: `bits` are GateBits() and have one of kHeapBits.
inline void OnAllocation(const void* block, size_t size, const void* frame,
                         uint32_t bits) noexcept {
  const uint64_t address = reinterpret_cast<uint64_t>(block);
  if (address == 0) [[unlikely]] {
    OnOutOfMemory(size, bits);
  } else if (bits & kGateHeapSampled) {
    SampleAllocation(address, size, frame, bits);
  } else if (bits & kGateHeap) {
    RecordAllocation(address, size, HeapSource::kHeap, frame, bits);
  } else {
    CountAllocation(size);
  }
}

// Call it as long as the block is the caller's; or, where the block may turn
// out to stay (realloc), with the ticks of a moment when it was. 0 = now.
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

// Mappings, in the same way, where `bits` have kGateMapped; every one is a
// record. Those of the recorder itself are not.
void OnMap(const void* address, size_t size, const void* frame,
           uint32_t bits) noexcept;
void OnUnmap(const void* address, size_t size, uint64_t ticks = 0) noexcept;

// This process has an allocator that the hooks do not see; counted.
void CountHeapNotWatched() noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HEAP_H_
