// hooks.cc - definitions of the malloc family and operator new that also
// record.
//
// In a preloaded library, or in a program that links it, these definitions come
// before all others. Each one does what the real function does, with the same
// result and errno. If a recording wants to know, it also tells the recorder
// (profiler/record/heap.h). Pointers that are no blocks reach the allocator
// unchanged, and so do double frees.
//
// A program that links the hooks and is run with them preloaded has them twice.
// The first hooks then leave the work to the second (kymo_heap_hooks_v1).
//
// A block is reported after its allocation and before its free. So the
// histories of blocks at one address do not overlap in time.
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "backends/memory/target/heap_gate.h"
#include "backends/memory/target/real_allocator.h"
#include "profiler/record/heap.h"

// Its presence marks a library or program that has the hooks.
KYMO_HOOK void kymo_heap_hooks_v1() {}

namespace kymo::memory {
constinit record::Gate hooks_gate = {{record::kGateOff}, nullptr};
}  // namespace kymo::memory

namespace {

// MREMAP_DONTUNMAP, which only GNU's headers of Linux 5.7 and later have.
constexpr int kMremapDontUnmap = 4;

using namespace kymo::memory;  // NOLINT

// Whether the function is in the same library or program as this code.
// (Comparing with the address of malloc would not do: that is the malloc that
// comes first.)
bool IsHere(const void* function) {
  Dl_info here, there;
  return dladdr(&hooks_gate, &here) != 0 && dladdr(function, &there) != 0 &&
         here.dli_fbase == there.dli_fbase;
}

// Runs after the loader has put all libraries into their order.
__attribute__((constructor)) void Listen() {
  const bool is_first = IsHere(dlsym(RTLD_DEFAULT, "kymo_heap_hooks_v1"));
  // A program may bring a malloc that comes before this one. A search that
  // finds nothing calls it, although it may not be ready yet.
  const bool has_malloc = ReachesHooks("malloc");
  if (is_first && has_malloc && FindNext("kymo_heap_hooks_v1") != nullptr) {
    return;
  }
  kymo::record::Host().add_gate(&hooks_gate);
  if (is_first && !has_malloc) kymo::record::CountHeapNotWatched();
}

bool MappingsAreWatched() {
  return (GateBits() & kymo::record::kGateMapped) != 0;
}

// The slow part of the hooks that are called most. It is a function of its own,
// which the hook reaches by a jump; so the hook needs no frame.
#define KYMO_REST __attribute__((noinline))

KYMO_REST void* MallocWithFrame(size_t bytes) {
  return Reported(real.malloc(bytes), bytes, KYMO_FRAME);
}

// Where allocations are only counted, this needs no frame of its own.
KYMO_REST void* ReportedMalloc(size_t bytes) {
  if ((GateBits() & kymo::record::kGateHeap) != 0) {
    return MallocWithFrame(bytes);
  }
  void* const block = real.malloc(bytes);
  if (block != nullptr) kymo::record::CountAllocation(bytes);
  return block;
}

// The bytes that calloc is asked for; the largest number if the product
// overflows.
KYMO_INLINE size_t Total(size_t count, size_t bytes) {
  size_t total;
  return __builtin_mul_overflow(count, bytes, &total) ? SIZE_MAX : total;
}

KYMO_REST void* ReportedCalloc(size_t count, size_t bytes) {
  return Reported(real.calloc(count, bytes), Total(count, bytes), KYMO_FRAME);
}

KYMO_REST void ReportedFree(void* block) {
  if (const uint32_t bits = HeapBits(); bits != 0) [[likely]] {
    kymo::record::OnFree(block, bits);
  }
  real.free(block);
}

KYMO_INLINE void Free(void* block) {
  const uint32_t bits = GateBits();
  if ((bits & kymo::record::kHeapBits) == 0) [[likely]]
    return real.free(block);
  if ((bits & kymo::record::kGateHeapSampled) != 0 &&
      !kymo::record::MayBeSampled(block)) {
    return real.free(block);
  }
  return ReportedFree(block);
}

// One of the C++ library's functions. It is searched until it is found, since a
// plug-in may bring the library.
class RealFunction {
 public:
  // Null if there is none yet.
  void* Find(const char* name) {
    void* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) [[unlikely]] {
      found = FindNext(name);
      found_.store(found, std::memory_order_relaxed);
    }
    return found;
  }

 private:
  std::atomic<void*> found_ = nullptr;
};

// Does what the C++ library does when operator new runs out of memory: it calls
// the new handler and throws.
template <typename... Arguments>
__attribute__((noinline)) void* RealNew(RealFunction& real_new,
                                        const char* name,
                                        Arguments... arguments) {
  using Function = void* (*)(Arguments...);
  const auto function = reinterpret_cast<Function>(real_new.Find(name));
  if (function != nullptr) return function(arguments...);
  constexpr char kMessage[] = "kymo: out of memory in operator new\n";
  (void)!write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  abort();
}

// Allocates at least one byte, as operator new must.
KYMO_INLINE void* NewBlock(size_t bytes, size_t alignment) {
  const size_t wanted = bytes + (bytes == 0);
  if (alignment == 0) return real.malloc(wanted);
  void* block = nullptr;
  return real.posix_memalign(&block, alignment, wanted) == 0 ? block : nullptr;
}

}  // namespace

// --- the malloc family ---

KYMO_HOOK void* malloc(size_t bytes) {
  const uint32_t bits = GateBits();
  if ((bits & kymo::record::kHeapBits) == 0) [[likely]]
    return real.malloc(bytes);
  // A test of its own, so that sampling takes the fewest jumps.
  if ((bits & kymo::record::kGateHeapSampled) != 0 &&
      !kymo::record::IsSampleDue(bytes)) {
    return real.malloc(bytes);
  }
  return ReportedMalloc(bytes);
}

KYMO_HOOK void free(void* block) { Free(block); }

KYMO_HOOK void* calloc(size_t count, size_t bytes) {
  if (!IsToReport(Total(count, bytes))) [[likely]]
    return real.calloc(count, bytes);
  return ReportedCalloc(count, bytes);
}

KYMO_HOOK void* realloc(void* block, size_t bytes) {
  const uint32_t bits = HeapBits();
  if (bits == 0) [[likely]]
    return real.realloc(block, bytes);
  // Before the real function returns, another thread may get the old block.
  const uint64_t ticks = block == nullptr ? 0 : kymo::record::HeapTicks();
  void* const moved = real.realloc(block, bytes);
  if (moved != nullptr || (block != nullptr && bytes == 0)) {
    if (block != nullptr) kymo::record::OnFree(block, bits, ticks);
    if (moved == nullptr) return nullptr;
  }
  return Allocated(moved, bytes, KYMO_FRAME);
}

KYMO_HOOK void* reallocarray(void* block, size_t count, size_t bytes) {
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, total);
}

KYMO_HOOK void* memalign(size_t alignment, size_t bytes) {
  return Allocated(real.memalign(alignment, bytes), bytes, KYMO_FRAME);
}

KYMO_HOOK void* aligned_alloc(size_t alignment, size_t bytes) {
  return Allocated(real.aligned_alloc(alignment, bytes), bytes, KYMO_FRAME);
}

KYMO_HOOK int posix_memalign(void** block, size_t alignment, size_t bytes) {
  const int error = real.posix_memalign(block, alignment, bytes);
  if (error == 0) {
    Allocated(*block, bytes, KYMO_FRAME);
  } else if (error == ENOMEM) {
    Allocated(nullptr, bytes, KYMO_FRAME);
  }
  return error;
}

KYMO_HOOK void* valloc(size_t bytes) {
  return Allocated(real.valloc(bytes), bytes, KYMO_FRAME);
}

KYMO_HOOK void* pvalloc(size_t bytes) {
  return Allocated(real.pvalloc(bytes), bytes, KYMO_FRAME);
}

KYMO_HOOK size_t malloc_usable_size(void* block) {
  return real.malloc_usable_size(block);
}

// --- operator new and delete, under the names that compilers give them ---

// Where there is no memory, the real operator tries again before it throws. If
// it calls malloc, the hook of that reports the failure. Of the aligned forms,
// jemalloc's call aligned_alloc, while those of others may report nothing.
#define KYMO_NEW(name, alignment, parameters, ...)  \
  KYMO_HOOK void* name parameters {                 \
    static constinit RealFunction real_new;         \
    if (!NewIsMalloc()) [[unlikely]]                \
      return RealNew(real_new, #name, __VA_ARGS__); \
    void* const block = NewBlock(bytes, alignment); \
    if (block == nullptr) [[unlikely]] {            \
      if (alignment == 0 && !CallsMalloc(#name))    \
        Allocated(nullptr, bytes, KYMO_FRAME);      \
      return RealNew(real_new, #name, __VA_ARGS__); \
    }                                               \
    return Allocated(block, bytes, KYMO_FRAME);     \
  }

#define KYMO_DELETE(name, parameters, ...)         \
  KYMO_HOOK void name parameters {                 \
    static constinit RealFunction real_delete;     \
    if (!NewIsMalloc()) [[unlikely]] {             \
      RealDelete(real_delete, #name, __VA_ARGS__); \
      return;                                      \
    }                                              \
    Free(block);                                   \
  }

namespace {
template <typename... Arguments>
__attribute__((noinline)) void RealDelete(RealFunction& real_delete,
                                          const char* name,
                                          Arguments... arguments) {
  using Function = void (*)(Arguments...);
  const auto function = reinterpret_cast<Function>(real_delete.Find(name));
  if (function != nullptr) function(arguments...);
}
}  // namespace

// The tag std::nothrow is passed by reference, that is as a pointer.
using Tag = const void*;

KYMO_NEW(_Znwm, 0, (size_t bytes), bytes)
KYMO_NEW(_Znam, 0, (size_t bytes), bytes)
KYMO_NEW(_ZnwmRKSt9nothrow_t, 0, (size_t bytes, Tag tag), bytes, tag)
KYMO_NEW(_ZnamRKSt9nothrow_t, 0, (size_t bytes, Tag tag), bytes, tag)
KYMO_NEW(_ZnwmSt11align_val_t, align, (size_t bytes, size_t align), bytes,
         align)
KYMO_NEW(_ZnamSt11align_val_t, align, (size_t bytes, size_t align), bytes,
         align)
KYMO_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, align,
         (size_t bytes, size_t align, Tag tag), bytes, align, tag)
KYMO_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, align,
         (size_t bytes, size_t align, Tag tag), bytes, align, tag)

KYMO_DELETE(_ZdlPv, (void* block), block)
KYMO_DELETE(_ZdaPv, (void* block), block)
KYMO_DELETE(_ZdlPvm, (void* block, size_t bytes), block, bytes)
KYMO_DELETE(_ZdaPvm, (void* block, size_t bytes), block, bytes)
KYMO_DELETE(_ZdlPvRKSt9nothrow_t, (void* block, Tag tag), block, tag)
KYMO_DELETE(_ZdaPvRKSt9nothrow_t, (void* block, Tag tag), block, tag)
KYMO_DELETE(_ZdlPvSt11align_val_t, (void* block, size_t align), block, align)
KYMO_DELETE(_ZdaPvSt11align_val_t, (void* block, size_t align), block, align)
KYMO_DELETE(_ZdlPvmSt11align_val_t, (void* block, size_t bytes, size_t align),
            block, bytes, align)
KYMO_DELETE(_ZdaPvmSt11align_val_t, (void* block, size_t bytes, size_t align),
            block, bytes, align)
KYMO_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t,
            (void* block, size_t align, Tag tag), block, align, tag)
KYMO_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t,
            (void* block, size_t align, Tag tag), block, align, tag)

// --- mappings ---

KYMO_HOOK void* mmap(void* wanted, size_t bytes, int protection, int flags,
                     int fd, off_t offset) {
  void* const mapped = real.mmap(wanted, bytes, protection, flags, fd, offset);
  if (mapped != MAP_FAILED && MappingsAreWatched()) [[unlikely]] {
    kymo::record::OnMap(mapped, bytes, KYMO_FRAME, GateBits());
  }
  return mapped;
}

KYMO_HOOK void* mmap64(void* wanted, size_t bytes, int protection, int flags,
                       int fd, off_t offset) {
  void* const mapped = real.mmap(wanted, bytes, protection, flags, fd, offset);
  if (mapped != MAP_FAILED && MappingsAreWatched()) [[unlikely]] {
    kymo::record::OnMap(mapped, bytes, KYMO_FRAME, GateBits());
  }
  return mapped;
}

KYMO_HOOK int munmap(void* address, size_t bytes) {
  if (!MappingsAreWatched()) [[likely]]
    return real.munmap(address, bytes);
  const uint64_t ticks = kymo::record::HeapTicks();
  const int result = real.munmap(address, bytes);
  if (result == 0) kymo::record::OnUnmap(address, bytes, ticks);
  return result;
}

KYMO_HOOK void* mremap(void* old, size_t old_bytes, size_t bytes, int flags,
                       ...) {
  void* wanted = nullptr;
  if (flags & (MREMAP_FIXED | kMremapDontUnmap)) {
    __builtin_va_list arguments;
    __builtin_va_start(arguments, flags);
    wanted = __builtin_va_arg(arguments, void*);
    __builtin_va_end(arguments);
  }
  const bool watched = MappingsAreWatched();
  const uint64_t ticks = watched ? kymo::record::HeapTicks() : 0;
  void* const mapped = real.mremap(old, old_bytes, bytes, flags, wanted);
  if (mapped != MAP_FAILED && watched) {
    const bool stays = old_bytes == 0 || (flags & kMremapDontUnmap) != 0;
    if (!stays) kymo::record::OnUnmap(old, old_bytes, ticks);
    kymo::record::OnMap(mapped, bytes, KYMO_FRAME, GateBits());
  }
  return mapped;
}
