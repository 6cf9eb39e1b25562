// real_allocator.h - the allocator behind the hooks.
//
// These are the functions that the next library in the loader's order exports:
// those of glibc, or of a jemalloc, tcmalloc or mimalloc that the program links
// or preloads. They are found at the first call of any of them. While the
// loader itself allocates during that search, blocks come from a small buffer
// and are never given back.
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

// At first these are functions that find the allocator.
extern constinit RealAllocator real;

// Whether operator new and malloc share one heap, so that either can free the
// other's blocks. That is so with glibc, and with allocators that bring both.
// It is not so if somebody replaced operator new alone, or if the program has a
// malloc of its own. Then the hooks leave new and delete to their owner, and
// see the blocks that this owner takes from malloc.
bool NewIsMalloc() noexcept;

// Whether the form of operator new behind the hooks is the C++ library's, which
// calls malloc, and so the hook of that. jemalloc's own forms do not.
bool CallsMalloc(const char* operator_new) noexcept;

// The function `name` behind the hooks; null if there is none.
void* FindNext(const char* name) noexcept;

// The same for a function of jemalloc. A library that was opened with
// RTLD_LOCAL may have a jemalloc of its own, which only calls of that library
// reach. It is looked for from `caller`, an address in the code of the library,
// and then by its usual name, as the library may have jumped to the function.
// The file of what is found there stays loaded.
void* FindOfJemalloc(const char* name, const void* caller) noexcept;

// Whether calls of `name`, which the hooks define, reach them.
//
// A program that is not position-independent and takes a function's address has
// an entry for it, which jumps to the function. dlsym(RTLD_DEFAULT) finds that.
// It leads to the hooks if their library was preloaded. It does not if the
// program has loaded the library later, as Python loads its modules.
bool ReachesHooks(const char* name) noexcept;

}  // namespace kymo::memory

#endif  // KYMO_BACKENDS_MEMORY_TARGET_REAL_ALLOCATOR_H_
