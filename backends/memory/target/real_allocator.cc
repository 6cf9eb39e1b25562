#include "backends/memory/target/real_allocator.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include <initializer_list>

namespace kymo::memory {

// How often the calling thread has entered Find.
__attribute__((visibility("hidden"))) constinit thread_local int finding
    __attribute__((tls_model("initial-exec"))) = 0;

namespace {

// The buffer for blocks that the loader takes during the search.
constexpr size_t kEarlyBytes = 64 * 1024;
alignas(4096) char early_bytes[kEarlyBytes];

constexpr size_t kAlignment = 16;

constinit std::atomic<size_t> early_used = 0;
// 0 = not known, 1 = one heap, 2 = two.
constinit std::atomic<int> new_is_malloc = 0;

void* EarlyBlock(size_t bytes, size_t alignment) noexcept {
  if (alignment < kAlignment) alignment = kAlignment;
  size_t used = early_used.load(std::memory_order_relaxed);
  size_t begin;
  do {
    begin = (used + alignment - 1) / alignment * alignment;
    if (bytes > kEarlyBytes || begin > kEarlyBytes - bytes) {
      errno = ENOMEM;
      return nullptr;
    }
    // A block of 0 bytes takes 1, so that each block has its own address.
  } while (!early_used.compare_exchange_weak(used, begin + bytes + (bytes == 0),
                                             std::memory_order_relaxed));
  return early_bytes + begin;
}

bool IsEarly(const void* block) noexcept {
  return reinterpret_cast<uint64_t>(block) -
             reinterpret_cast<uint64_t>(early_bytes) <
         kEarlyBytes;
}

// At least as many bytes as the block has: those up to the end of the used
// part.
size_t EarlyBytesFrom(const void* block) noexcept {
  return static_cast<size_t>(early_bytes +
                             early_used.load(std::memory_order_relaxed) -
                             static_cast<const char*>(block));
}

// Finds the allocator; false while the calling thread is already searching.
bool Find() noexcept;

void* FirstMalloc(size_t bytes) {
  return Find() ? real.malloc(bytes) : EarlyBlock(bytes, kAlignment);
}
void* FirstCalloc(size_t count, size_t bytes) {
  if (Find()) return real.calloc(count, bytes);
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    errno = ENOMEM;
    return nullptr;
  }
  // The buffer begins as zeros, and each byte is given out once.
  return EarlyBlock(total, kAlignment);
}
void* FirstRealloc(void* block, size_t bytes) {
  if (Find()) return real.realloc(block, bytes);
  void* const moved = EarlyBlock(bytes, kAlignment);
  if (block != nullptr && moved != nullptr) {
    const size_t known = EarlyBytesFrom(block);
    memmove(moved, block, bytes < known ? bytes : known);
  }
  return moved;
}
void FirstFree(void* block) {
  if (!IsEarly(block) && Find()) real.free(block);
}
void* FirstMemalign(size_t alignment, size_t bytes) {
  return Find() ? real.memalign(alignment, bytes)
                : EarlyBlock(bytes, alignment);
}
void* FirstAlignedAlloc(size_t alignment, size_t bytes) {
  return Find() ? real.aligned_alloc(alignment, bytes)
                : EarlyBlock(bytes, alignment);
}
int FirstPosixMemalign(void** block, size_t alignment, size_t bytes) {
  if (Find()) return real.posix_memalign(block, alignment, bytes);
  *block = EarlyBlock(bytes, alignment);
  return *block == nullptr ? ENOMEM : 0;
}
void* FirstValloc(size_t bytes) {
  return Find() ? real.valloc(bytes) : EarlyBlock(bytes, 4096);
}
void* FirstPvalloc(size_t bytes) {
  return Find() ? real.pvalloc(bytes) : EarlyBlock(bytes, 4096);
}
size_t FirstUsableSize(void* block) {
  return Find() ? real.malloc_usable_size(block) : 0;
}
void* FirstMmap(void* address, size_t bytes, int protection, int flags, int fd,
                off_t offset) {
  using Function = void* (*)(void*, size_t, int, int, int, off_t);
  return reinterpret_cast<Function>(FindNext("mmap"))(
      address, bytes, protection, flags, fd, offset);
}
int FirstMunmap(void* address, size_t bytes) {
  return reinterpret_cast<int (*)(void*, size_t)>(FindNext("munmap"))(address,
                                                                      bytes);
}
void* FirstMremap(void* old, size_t old_bytes, size_t bytes, int flags, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, flags);
  void* const wanted = __builtin_va_arg(arguments, void*);
  __builtin_va_end(arguments);
  using Function = void* (*)(void*, size_t, size_t, int, ...);
  return reinterpret_cast<Function>(FindNext("mremap"))(old, old_bytes, bytes,
                                                        flags, wanted);
}

// Where early blocks exist, these functions come before the real ones.
struct {
  void* (*realloc)(void*, size_t);
  void (*free)(void*);
  size_t (*malloc_usable_size)(void*);
} behind_early;

void* ReallocMaybeEarly(void* block, size_t bytes) {
  if (!IsEarly(block)) return behind_early.realloc(block, bytes);
  void* const moved = real.malloc(bytes);
  const size_t known = EarlyBytesFrom(block);
  if (moved != nullptr) memcpy(moved, block, bytes < known ? bytes : known);
  return moved;
}
void FreeMaybeEarly(void* block) {
  if (!IsEarly(block)) behind_early.free(block);
}
size_t UsableSizeMaybeEarly(void* block) {
  return IsEarly(block) ? EarlyBytesFrom(block)
                        : behind_early.malloc_usable_size(block);
}

template <typename Function>
void Set(Function& function, const char* name) noexcept {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) return;
  // Threads that get here at the same time store the same value.
  __atomic_store_n(&function, reinterpret_cast<Function>(found),
                   __ATOMIC_RELAXED);
}

bool Find() noexcept {
  if (finding != 0) return false;
  ++finding;
  const int saved_errno = errno;
  Set(real.calloc, "calloc");
  Set(real.realloc, "realloc");
  Set(real.free, "free");
  Set(real.memalign, "memalign");
  Set(real.aligned_alloc, "aligned_alloc");
  Set(real.posix_memalign, "posix_memalign");
  Set(real.valloc, "valloc");
  Set(real.pvalloc, "pvalloc");
  Set(real.malloc_usable_size, "malloc_usable_size");
  Set(real.mmap, "mmap");
  Set(real.munmap, "munmap");
  Set(real.mremap, "mremap");
  Set(real.malloc, "malloc");
  if (early_used.load(std::memory_order_relaxed) != 0 &&
      real.free != FreeMaybeEarly) {
    behind_early = {real.realloc, real.free, real.malloc_usable_size};
    real.realloc = ReallocMaybeEarly;
    real.free = FreeMaybeEarly;
    real.malloc_usable_size = UsableSizeMaybeEarly;
  }
  errno = saved_errno;
  --finding;
  return true;
}

const char* FileOf(const void* function) noexcept {
  Dl_info info;
  if (function == nullptr || dladdr(function, &info) == 0 ||
      info.dli_fname == nullptr) {
    return "";
  }
  return info.dli_fname;
}

bool BaseNameBegins(const char* path, const char* begin) noexcept {
  const char* const slash = strrchr(path, '/');
  return strncmp(slash == nullptr ? path : slash + 1, begin, strlen(begin)) ==
         0;
}

// Where the file begins in which the loader finds `name` first; null if there
// is none.
const void* FirstFile(const char* name) noexcept {
  Dl_info first;
  return dladdr(dlsym(RTLD_DEFAULT, name), &first) == 0 ? nullptr
                                                        : first.dli_fbase;
}

// Whether a program only jumps from there to a function of another file.
bool IsJump(const void* function) noexcept {
  Dl_info info;
  void* symbol = nullptr;
  return dladdr1(function, &info, &symbol, RTLD_DL_SYMENT) != 0 &&
         symbol != nullptr &&
         static_cast<const ElfW(Sym)*>(symbol)->st_shndx == SHN_UNDEF;
}

bool IsFileOfCppLibrary(const char* file) noexcept {
  return *file == '\0' || BaseNameBegins(file, "libstdc++.so") ||
         BaseNameBegins(file, "libc++.so") ||
         BaseNameBegins(file, "libc++abi.so");
}

// The function `name` of the loaded `file` or of a library that it needs; null
// if there is none but a hook. The file of the function then stays loaded.
void* FindIn(const char* file, const char* name) noexcept {
  void* const library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* const found = dlsym(library, name);
  Dl_info in, hooks;
  if (found == nullptr || dladdr(found, &in) == 0) {
    dlclose(library);
    return nullptr;
  }
  const bool is_hook =
      dladdr(dlsym(library, "kymo_heap_hooks_v1"), &hooks) != 0 &&
      in.dli_fbase == hooks.dli_fbase;
  if (!is_hook) dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  dlclose(library);
  return is_hook ? nullptr : found;
}

bool FindNewIsMalloc() noexcept {
  // A program may define malloc itself. It may also define only those forms of
  // new and delete that the C++ library's other forms call.
  for (const char* name :
       {"malloc", "free", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv"}) {
    if (!ReachesHooks(name)) return false;
  }
  const char* const file = FileOf(FindNext("_Znwm"));
  return IsFileOfCppLibrary(file) ||
         strcmp(file, FileOf(reinterpret_cast<void*>(real.malloc))) == 0;
}

}  // namespace

constinit RealAllocator real = {
    FirstMalloc,   FirstCalloc,       FirstRealloc,       FirstFree,
    FirstMemalign, FirstAlignedAlloc, FirstPosixMemalign, FirstValloc,
    FirstPvalloc,  FirstUsableSize,   FirstMmap,          FirstMunmap,
    FirstMremap,
};

void* FindNext(const char* name) noexcept {
  ++finding;
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr && strncmp(name, "_Zn", 3) == 0) {
    // A plug-in brought C++ into a program without it: not in the global order.
    if (void* const library =
            dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD)) {
      found = dlsym(library, name);
      dlclose(library);
    }
  }
  --finding;
  return found;
}

void* FindOfJemalloc(const char* name, const void* caller) noexcept {
  const int saved_errno = errno;
  void* found = FindNext(name);
  ++finding;
  if (found == nullptr) found = FindIn(FileOf(caller), name);
  if (found == nullptr) found = FindIn("libjemalloc.so.2", name);
  --finding;
  errno = saved_errno;
  return found;
}

bool ReachesHooks(const char* name) noexcept {
  // Nobody takes the address of pvalloc. Where the loader finds the one of the
  // hooks, these come before the C library.
  const bool is_jump = IsJump(dlsym(RTLD_DEFAULT, name));
  return FirstFile(is_jump ? "pvalloc" : name) ==
         FirstFile("kymo_heap_hooks_v1");
}

bool CallsMalloc(const char* operator_new) noexcept {
  return IsFileOfCppLibrary(FileOf(FindNext(operator_new)));
}

bool NewIsMalloc() noexcept {
  int known = new_is_malloc.load(std::memory_order_relaxed);
  if (known == 0) [[unlikely]] {
    if (finding != 0) return true;
    const int saved_errno = errno;
    known = FindNewIsMalloc() ? 1 : 2;
    errno = saved_errno;
    new_is_malloc.store(known, std::memory_order_relaxed);
  }
  return known == 1;
}

}  // namespace kymo::memory
