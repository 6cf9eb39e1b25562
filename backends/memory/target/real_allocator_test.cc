// The first call of each function, and blocks that are taken during the search
// for the allocator. This program's dlsym() takes them, as a loader may.
#include "backends/memory/target/real_allocator.h"

#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace kymo::memory {
namespace {

// Called once, within the search.
void (*in_search)() = nullptr;

}  // namespace
}  // namespace kymo::memory

// Comes before libc's.
extern "C" void* dlsym(void* handle, const char* name) noexcept {
  using Function = void* (*)(void*, const char*);
  static const auto real =
      reinterpret_cast<Function>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34"));
  if (auto* const call = std::exchange(kymo::memory::in_search, nullptr)) {
    call();
  }
  // RTLD_NEXT means the libraries behind this program, with libc's functions.
  return real(handle, name);
}

namespace kymo::memory {
namespace {

// The functions as they are before the first call.
const RealAllocator first = real;

struct EarlyBlocks {
  char* text;     // 24 bytes
  char* zeros;    // 3 * 8 bytes
  char* moved;    // was `text`, 40 bytes
  char* smaller;  // was `text`, 2 bytes
  char* fresh;    // realloc of null, 5 bytes
  void* aligned;
  void* aligned_too;
  void* aligned_by_posix = nullptr;
  int posix_result;
  void* page;
  void* page_too;
  char* empty;
  char* behind_empty;
  bool too_large_is_null;
  int too_large_errno;
  bool overflow_is_null;
  int overflow_errno;
  int posix_too_large;
  size_t usable;
} early;

void TakeEarlyBlocks() {
  early.text = static_cast<char*>(first.malloc(24));
  std::memcpy(early.text, "abcdefghijklmnopqrstuvw", 24);
  early.zeros = static_cast<char*>(first.calloc(3, 8));
  early.moved = static_cast<char*>(first.realloc(early.text, 40));
  early.smaller = static_cast<char*>(first.realloc(early.text, 2));
  early.fresh = static_cast<char*>(first.realloc(nullptr, 5));
  early.aligned = first.memalign(256, 10);
  early.aligned_too = first.aligned_alloc(512, 10);
  early.posix_result = first.posix_memalign(&early.aligned_by_posix, 128, 10);
  early.page = first.valloc(1);
  early.page_too = first.pvalloc(1);
  early.empty = static_cast<char*>(first.malloc(0));
  early.behind_empty = static_cast<char*>(first.malloc(7));
  errno = 0;
  early.too_large_is_null = first.malloc(64 * 1024) == nullptr;
  early.too_large_errno = errno;
  errno = 0;
  early.overflow_is_null =
      first.calloc(size_t{1} << 33, size_t{1} << 33) == nullptr;
  early.overflow_errno = errno;
  void* none = nullptr;
  early.posix_too_large = first.posix_memalign(&none, 16, 64 * 1024);
  early.usable = first.malloc_usable_size(early.text);
  first.free(early.text);  // it is never given out again
  errno = 5;               // the search keeps its caller's
}

bool IsAligned(const void* block, uintptr_t alignment) {
  return block != nullptr &&
         reinterpret_cast<uintptr_t>(block) % alignment == 0;
}

class RealAllocatorTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (early.text != nullptr) return;
    in_search = TakeEarlyBlocks;
    errno = 77;
    void* const block = first.malloc(100);
    EXPECT_EQ(errno, 77);
    EXPECT_EQ(in_search, nullptr);
    EXPECT_NE(block, nullptr);
    real.free(block);
  }
};

TEST_F(RealAllocatorTest, TheLoadersBlocksComeFromABuffer) {
  EXPECT_STREQ(early.text, "abcdefghijklmnopqrstuvw");
  EXPECT_TRUE(IsAligned(early.text, 16));
  EXPECT_EQ(early.zeros, early.text + 32);  // 24, in steps of 16
  for (int i = 0; i < 24; ++i) EXPECT_EQ(early.zeros[i], 0);
  EXPECT_EQ(early.moved, early.zeros + 32);
  EXPECT_STREQ(early.moved, "abcdefghijklmnopqrstuvw");
  EXPECT_EQ(early.smaller, early.moved + 48);
  EXPECT_EQ(std::memcmp(early.smaller, "ab\0", 3), 0);
  EXPECT_EQ(early.fresh, early.smaller + 16);
  EXPECT_TRUE(IsAligned(early.aligned, 256));
  EXPECT_TRUE(IsAligned(early.aligned_too, 512));
  EXPECT_EQ(early.posix_result, 0);
  EXPECT_TRUE(IsAligned(early.aligned_by_posix, 128));
  EXPECT_TRUE(IsAligned(early.page, 4096));
  EXPECT_TRUE(IsAligned(early.page_too, 4096));
  EXPECT_GT(early.page_too, early.page);
  // Each block has an address of its own.
  EXPECT_GT(early.behind_empty, early.empty);
}

TEST_F(RealAllocatorTest, TheBufferHasAnEnd) {
  EXPECT_TRUE(early.too_large_is_null);
  EXPECT_EQ(early.too_large_errno, ENOMEM);
  EXPECT_TRUE(early.overflow_is_null);
  EXPECT_EQ(early.overflow_errno, ENOMEM);
  EXPECT_EQ(early.posix_too_large, ENOMEM);
  EXPECT_EQ(early.usable, 0u);  // not known within the search
}

TEST_F(RealAllocatorTest, TheLoadersBlocksMayBeFreedAndGrowLater) {
  // At least as large as it is: up to the end of what was given out.
  EXPECT_EQ(real.malloc_usable_size(early.behind_empty), 7u);
  EXPECT_EQ(real.malloc_usable_size(early.empty),
            7u + static_cast<size_t>(early.behind_empty - early.empty));
  real.free(early.zeros);
  EXPECT_EQ(early.zeros[0], 0);
  auto* const grown = static_cast<char*>(real.realloc(early.moved, 1'000));
  EXPECT_STREQ(grown, "abcdefghijklmnopqrstuvw");
  EXPECT_GE(real.malloc_usable_size(grown), 1'000u);
  auto* const more = static_cast<char*>(real.realloc(grown, 5'000));
  EXPECT_STREQ(more, "abcdefghijklmnopqrstuvw");
  EXPECT_LT(real.malloc_usable_size(more), 10'000u);
  real.free(more);
  auto* const cut = static_cast<char*>(real.realloc(early.text, 3));
  EXPECT_EQ(std::memcmp(cut, "abc", 3), 0);
  real.free(cut);
  // More is asked for than the buffer has behind the block.
  auto* const last = static_cast<char*>(real.realloc(early.behind_empty, 64));
  EXPECT_NE(last, nullptr);
  real.free(last);
  real.free(nullptr);
}

// Whether a block is of the buffer of 64 KiB, or no block.
bool IsEarlyOrNone(const void* block) {
  return block == nullptr ||
         (block >= early.text && block < early.text + 64 * 1024);
}

// The search is over, so what is allocated comes from the allocator.
TEST_F(RealAllocatorTest, FirstFunctionsUseTheBufferInTheSearchOnly) {
  void* by_posix = nullptr;
  EXPECT_EQ(first.posix_memalign(&by_posix, 128, 10), 0);
  for (void* const block :
       {first.malloc(10), first.calloc(1, 10), first.realloc(nullptr, 10),
        first.memalign(64, 10), first.aligned_alloc(64, 64), by_posix,
        first.valloc(10), first.pvalloc(10)}) {
    EXPECT_FALSE(IsEarlyOrNone(block));
    real.free(block);
  }
}

// A thread may have the first functions still.
TEST_F(RealAllocatorTest, FirstFunctionsLeadToTheRealOnes) {
  char* block = static_cast<char*>(first.calloc(10, 100));
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(block[i], 0);
  EXPECT_GE(first.malloc_usable_size(block), 1'000u);
  block[999] = 'x';
  block = static_cast<char*>(first.realloc(block, 200'000));
  EXPECT_EQ(block[999], 'x');
  first.free(block);
  void* aligned = first.memalign(256, 10);
  EXPECT_TRUE(IsAligned(aligned, 256));
  first.free(aligned);
  aligned = first.aligned_alloc(512, 512);
  EXPECT_TRUE(IsAligned(aligned, 512));
  first.free(aligned);
  EXPECT_EQ(first.posix_memalign(&aligned, 128, 10), 0);
  EXPECT_TRUE(IsAligned(aligned, 128));
  first.free(aligned);
  EXPECT_EQ(first.posix_memalign(&aligned, 3, 10), EINVAL);
  aligned = first.valloc(10);
  EXPECT_TRUE(IsAligned(aligned, 4096));
  first.free(aligned);
  aligned = first.pvalloc(10);
  EXPECT_GE(first.malloc_usable_size(aligned), 4'096u);
  first.free(aligned);
  first.free(early.fresh);
  for (const RealAllocator& functions : {first, real}) {
    void* const mapped = functions.mmap(nullptr, 8'192, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    static_cast<char*>(mapped)[8'191] = 1;
    void* const larger =
        functions.mremap(mapped, 8'192, 16'384, MREMAP_MAYMOVE, nullptr);
    ASSERT_NE(larger, MAP_FAILED);
    EXPECT_EQ(static_cast<char*>(larger)[8'191], 1);
    // To where the caller wants it.
    void* const place = functions.mmap(nullptr, 16'384, PROT_NONE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_EQ(functions.mremap(larger, 16'384, 16'384,
                               MREMAP_MAYMOVE | MREMAP_FIXED, place),
              place);
    EXPECT_EQ(functions.munmap(place, 16'384), 0);
    EXPECT_EQ(functions.munmap(reinterpret_cast<void*>(1), 1), -1);
  }
}

TEST_F(RealAllocatorTest, NextFunctionsAreThoseBehindTheHooks) {
  EXPECT_EQ(FindNext("malloc"), reinterpret_cast<void*>(real.malloc));
  EXPECT_NE(FindNext("_Znwm"), nullptr);
  EXPECT_EQ(FindNext("_Znobody"), nullptr);
  EXPECT_EQ(FindNext("nobody"), nullptr);
}

// This program has no hooks, so its malloc is not theirs.
TEST_F(RealAllocatorTest, WithoutHooksNewIsNotTheirs) {
  errno = 77;
  EXPECT_FALSE(NewIsMalloc());
  EXPECT_FALSE(NewIsMalloc());
  EXPECT_EQ(errno, 77);
}

}  // namespace
}  // namespace kymo::memory
