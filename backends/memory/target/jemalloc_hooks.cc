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
#include <atomic>

#include "backends/memory/target/heap_gate.h"
#include "backends/memory/target/real_allocator.h"
#include "profiler/record/heap.h"

// An address in the code that called the hook.
#define KYMO_CALLER __builtin_return_address(0)

namespace {

using namespace kymo::memory;  // NOLINT

// Of jemalloc's flags: the binary logarithm of the alignment, and whether the
// block is to be zero.
constexpr int kAlignmentBits = 63;
constexpr int kZero = 64;

// Without jemalloc, as its functions do.
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

void* MovedBlock(void* block, size_t bytes, int flags) {
  void* const moved = NewBlock(bytes, flags);
  if (moved == nullptr) return nullptr;
  memcpy(moved, block, std::min(bytes, real.malloc_usable_size(block)));
  real.free(block);
  return moved;
}

void Free(void* block, int) { real.free(block); }
void FreeSized(void* block, size_t, int) { real.free(block); }

struct Functions {
  void* (*mallocx)(size_t, int) = NewBlock;
  void* (*rallocx)(void*, size_t, int) = MovedBlock;
  void (*dallocx)(void*, int) = Free;
  void (*sdallocx)(void*, size_t, int) = FreeSized;
};

enum class Search { kNone, kStores, kDone };
constinit std::atomic<Search> search = Search::kNone;
constinit Functions functions;

template <typename Function>
void Set(Function& function, const char* name, const void* caller) {
  if (void* const found = FindOfJemalloc(name, caller)) {
    function = reinterpret_cast<Function>(found);
  }
}

__attribute__((noinline)) void Find(const void* caller) {
  Functions found;
  Set(found.mallocx, "mallocx", caller);
  if (found.mallocx != NewBlock) {
    Set(found.rallocx, "rallocx", caller);
    Set(found.dallocx, "dallocx", caller);
    Set(found.sdallocx, "sdallocx", caller);
  }
  Search none = Search::kNone;
  if (search.compare_exchange_strong(none, Search::kStores)) {
    functions = found;
    search.store(Search::kDone, std::memory_order_release);
  }
  while (search.load(std::memory_order_acquire) != Search::kDone) {
  }
}

// The functions behind the hooks. They are chosen at the first call and stay:
// each block must go back to where it came from.
KYMO_INLINE const Functions& Real(const void* caller) {
  if (search.load(std::memory_order_acquire) != Search::kDone) [[unlikely]]
    Find(caller);
  return functions;
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
  return Allocated(Real(KYMO_CALLER).mallocx(bytes, flags), bytes, KYMO_FRAME);
}

KYMO_HOOK void* rallocx(void* block, size_t bytes, int flags) {
  const Functions& behind = Real(KYMO_CALLER);
  const uint32_t bits = HeapBits();
  // Before the real function returns, another thread may get the old block.
  const uint64_t ticks = bits == 0 ? 0 : kymo::record::HeapTicks();
  void* const moved = behind.rallocx(block, bytes, flags);
  if (bits == 0) [[likely]]
    return moved;
  if (moved != nullptr) kymo::record::OnFree(block, bits, ticks);
  return Allocated(moved, bytes, KYMO_FRAME);
}

KYMO_HOOK void dallocx(void* block, int flags) {
  const Functions& behind = Real(KYMO_CALLER);
  ReportFree(block);
  behind.dallocx(block, flags);
}

KYMO_HOOK void sdallocx(void* block, size_t bytes, int flags) {
  const Functions& behind = Real(KYMO_CALLER);
  ReportFree(block);
  behind.sdallocx(block, bytes, flags);
}
