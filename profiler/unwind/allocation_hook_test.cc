// Captures a stack for every allocation, inside of malloc. This ends only
// because CaptureStack allocates nothing.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "profiler/unwind/capture_stack.h"

extern "C" void* __libc_malloc(size_t bytes) noexcept;

namespace {

constinit std::atomic<uint64_t> captured_frames{0};
constinit std::atomic<uint64_t> deepest_nesting{0};
constinit thread_local uint64_t nesting = 0;

}  // namespace

extern "C" [[gnu::noinline]] void* malloc(size_t bytes) noexcept {
  if (++nesting > deepest_nesting) deepest_nesting = nesting;
  uint64_t pcs[64];
  captured_frames += kymo::unwind::CaptureStack(pcs, 64, 0);
  --nesting;
  return __libc_malloc(bytes);
}

namespace {

TEST(AllocationHookTest, CapturesInsideOfMalloc) {
  const uint64_t before = captured_frames;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 2000; ++n) {
        std::vector<std::string> texts(3, std::string(100, 'x'));
        if (n % 100 == 0) {
          void* const library =
              dlopen("profiler/unwind/libtest_library_small.so", RTLD_NOW);
          ASSERT_NE(library, nullptr) << dlerror();
          dlclose(library);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(captured_frames - before, 4u * 2000u * 3u * 3u);
  EXPECT_EQ(deepest_nesting, 1u);
}

}  // namespace
