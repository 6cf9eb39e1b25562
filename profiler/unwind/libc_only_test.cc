#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/unwind/capture_stack.h"

namespace kymo::unwind {
namespace {

// As long as the copy's: one frame of its own above CaptureStack.
size_t CaptureHere(uint64_t* pcs, size_t max) {
  const size_t count = CaptureStack(pcs, max, 0);
  asm volatile("" : : : "memory");
  return count;
}

// Loads at run time a copy that is built without any library but libc, like the
// one in the preloaded runtime.
TEST(LibcOnlyTest, CapturesInALibraryLoadedAtRunTime) {
  void* const library =
      dlopen("profiler/unwind/libtest_libc_only.so", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  using Capture = size_t (*)(uint64_t*, size_t);
  const auto capture =
      reinterpret_cast<Capture>(dlsym(library, "test_libc_only_capture"));
  uint64_t pcs[2][64];
  size_t counts[2];
  volatile int rounds = 2;  // one call site: both return to one address
  for (int i = 0; i < rounds; ++i) {
    const Capture take = i == 0 ? capture : CaptureHere;
    counts[i] = take(pcs[i], 64);
  }
  ASSERT_EQ(counts[0], counts[1]);
  EXPECT_EQ(std::vector(pcs[0] + 1, pcs[0] + counts[0]),
            std::vector(pcs[1] + 1, pcs[1] + counts[1]));
}

}  // namespace
}  // namespace kymo::unwind
