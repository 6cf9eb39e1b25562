// real_allocator.h - the allocator that hooks stand in front of.
//
// What the next library in the loader's order exports: glibc, or a jemalloc,
// tcmalloc or mimalloc that the program links or preloads. Found on the first
// call of anything; while the loader itself allocates during that search,
// blocks come from a small buffer and are never given back.
//
// Threads: any. Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_MEMORY_TARGET_REAL_ALLOCATOR_H_
#define KYMO_BACKENDS_MEMORY_TARGET_REAL_ALLOCATOR_H_

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <atomic>

namespace kymo::memory {

struct RealAllocator {
  void* (*malloc)(size_t);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void (*free)(void*);
  void* (*memalign)(size_t, size_t);
  void* (*aligned_alloc)(size_t, size_t);
  int (*posix_memalign)(void**, size_t, size_t);
  void* (*valloc)(size_t);
  void* (*pvalloc)(size_t);
  size_t (*malloc_usable_size)(void*);
  void* (*mmap)(void*, size_t, int, int, int, off_t);
  int (*munmap)(void*, size_t);
  void* (*mremap)(void*, size_t, size_t, int, ...);
};

// Before the allocator is found: functions that find it.
extern constinit RealAllocator real;

// Whether operator new and malloc are one heap, so that a block of either may
// be freed by either: so it is with glibc, and with allocators that bring both.
// Else (somebody replaced operator new alone, or the program has a malloc of
// its own) the hooks leave new and delete to their owner, and see the blocks
// that it takes from malloc.
bool NewIsMalloc() noexcept;

// The function `name` behind the hooks; null where there is none.
void* FindNext(const char* name) noexcept;

}  // namespace kymo::memory

#endif  // KYMO_BACKENDS_MEMORY_TARGET_REAL_ALLOCATOR_H_
