// jemalloc_hooks.cc - hooks of the functions that jemalloc has besides malloc
// and its relatives. BIND allocates with these alone.
//
// A program can ask for such a function by a weak symbol, and finds the hook
// where there is no jemalloc. So without it, blocks are those of malloc.
//
// xallocx changes the size of a block in its place. It has no hook: the block
// keeps the size that was asked for first.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>

#include "backends/memory/target/heap_gate.h"
#include "backends/memory/target/real_allocator.h"
#include "profiler/record/heap.h"

namespace {

using namespace kymo::memory;  // NOLINT

// Of jemalloc's flags: the binary logarithm of the alignment, and whether the
// block is to be zero.
constexpr int kAlignmentBits = 63;
constexpr int kZero = 64;

// As mallocx does.
void* NewBlock(size_t bytes, int flags) {
  const size_t alignment = size_t{1} << (flags & kAlignmentBits);
  void* block = nullptr;
  if (alignment <= alignof(max_align_t)) {
    block = (flags & kZero) != 0 ? real.calloc(1, bytes) : real.malloc(bytes);
  } else if (real.posix_memalign(&block, alignment, bytes) != 0) {
    return nullptr;
  } else if ((flags & kZero) != 0) {
    memset(block, 0, bytes);
  }
  return block;
}

// As rallocx does.
void* MovedBlock(void* block, size_t bytes, int flags) {
  void* const moved = NewBlock(bytes, flags);
  if (moved == nullptr) return nullptr;
  memcpy(moved, block, std::min(bytes, real.malloc_usable_size(block)));
  real.free(block);
  return moved;
}

// Before the block is free.
KYMO_INLINE void ReportFree(void* block) {
  const uint32_t bits = HeapBits();
  if (bits == 0) [[likely]]
    return;
  if ((bits & kymo::record::kGateHeapSampled) == 0 ||
      kymo::record::MayBeSampled(block)) {
    kymo::record::OnFree(block, bits);
  }
}

}  // namespace

KYMO_HOOK void* mallocx(size_t bytes, int flags) {
  static constinit RealFunction found;
  const auto function =
      reinterpret_cast<void* (*)(size_t, int)>(found.Find("mallocx"));
  return Allocated(
      function == nullptr ? NewBlock(bytes, flags) : function(bytes, flags),
      bytes, KYMO_FRAME);
}

KYMO_HOOK void* rallocx(void* block, size_t bytes, int flags) {
  static constinit RealFunction found;
  const auto function =
      reinterpret_cast<void* (*)(void*, size_t, int)>(found.Find("rallocx"));
  const uint32_t bits = HeapBits();
  // Before the real function returns, another thread may get the old block.
  const uint64_t ticks = bits == 0 ? 0 : kymo::record::HeapTicks();
  void* const moved = function == nullptr ? MovedBlock(block, bytes, flags)
                                          : function(block, bytes, flags);
  if (bits == 0) [[likely]]
    return moved;
  if (moved != nullptr) kymo::record::OnFree(block, bits, ticks);
  return Allocated(moved, bytes, KYMO_FRAME);
}

KYMO_HOOK void dallocx(void* block, int flags) {
  static constinit RealFunction found;
  const auto function =
      reinterpret_cast<void (*)(void*, int)>(found.Find("dallocx"));
  ReportFree(block);
  function == nullptr ? real.free(block) : function(block, flags);
}

KYMO_HOOK void sdallocx(void* block, size_t bytes, int flags) {
  static constinit RealFunction found;
  const auto function =
      reinterpret_cast<void (*)(void*, size_t, int)>(found.Find("sdallocx"));
  ReportFree(block);
  function == nullptr ? real.free(block) : function(block, bytes, flags);
}
