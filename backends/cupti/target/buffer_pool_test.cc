#include "backends/cupti/target/buffer_pool.h"

#include <gtest/gtest.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kymo::cupti {
namespace {

TEST(BufferPoolTest, GivesABufferThatCameBackAgain) {
  BufferPool pool;
  pool.SetLimits(65'000, 1 << 20);
  uint8_t* const buffer = pool.Take();
  ASSERT_NE(buffer, nullptr);
  memset(buffer, 1, 65'000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer) % 8, 0u);
  EXPECT_EQ(pool.taken(), 1u);
  ASSERT_TRUE(pool.Owns(buffer));
  pool.Return(buffer);
  EXPECT_EQ(pool.taken(), 0u);
  EXPECT_EQ(pool.Take(), buffer);
}

TEST(BufferPoolTest, GivesNoMoreThanItMay) {
  BufferPool pool;
  pool.SetLimits(64 * 1024, 128 * 1024);
  uint8_t* const first = pool.Take();
  uint8_t* const second = pool.Take();
  ASSERT_NE(second, nullptr);
  EXPECT_NE(first, second);
  EXPECT_EQ(pool.Take(), nullptr);
  pool.SetLimits(64 * 1024, 192 * 1024);
  EXPECT_NE(pool.Take(), nullptr);
}

TEST(BufferPoolTest, KnowsWhatIsNotItsOwn) {
  BufferPool pool;
  uint8_t others[64] = {};
  EXPECT_FALSE(pool.Owns(others));
  EXPECT_FALSE(pool.Owns(nullptr));
  pool.SetLimits(64 * 1024, 1 << 20);
  uint8_t* const buffer = pool.Take();
  EXPECT_TRUE(pool.Owns(buffer));
  EXPECT_FALSE(pool.Owns(others));
  EXPECT_FALSE(pool.Owns(buffer + 64 * 1024)) << "was never given out";
}

TEST(BufferPoolTest, ManagesWithTheAddressSpaceThatAProcessHas) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs more than a limit could allow";
#endif
  const pid_t pid = fork();
  if (pid == 0) {
    // Like `ulimit -v`: half a GiB more than the process has already.
    size_t pages = 0;
    FILE* const statm = fopen("/proc/self/statm", "r");
    if (statm == nullptr || fscanf(statm, "%zu", &pages) != 1) _exit(2);
    const rlim_t bytes = pages * sysconf(_SC_PAGESIZE) + (size_t{512} << 20);
    const rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
    BufferPool pool;
    pool.SetLimits(256 * 1024, 1 << 20);
    _exit(pool.Take() == nullptr ? 1 : 0);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace kymo::cupti
