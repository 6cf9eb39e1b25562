#include "backends/off_cpu/look/thread_counts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace kymo::off_cpu {
namespace {

using model::ThreadCounts;

// proc(5)
TEST(ThreadCountsTest, AThreadsNameMayLookLikeTheRest) {
  ThreadCounts counts;
  ParseFaults("42 (a) S 9 9 ) R 1 2 3 4 5 6 70 8 90 10 11", counts);
  EXPECT_TRUE(counts.has_faults);
  EXPECT_EQ(counts.minor_faults, 70u);
  EXPECT_EQ(counts.major_faults, 90u);
}

TEST(ThreadCountsTest, WhatIsCutIsNotKnown) {
  ThreadCounts counts;
  ParseFaults("", counts);
  ParseFaults("42 (a) R 1 2 3 4 5 6 70 8", counts);
  ParseIo("rchar: 5\nwchar: 6\n", counts);
  EXPECT_EQ(counts, ThreadCounts());
}

// The kernel tells of a thread's end, and only then takes it apart. On a busy
// machine that may be much later.
TEST(ThreadCountsTest, AThreadThatTheKernelTakesApartIsEnding) {
  EXPECT_TRUE(IsEnding("42 (a) Z 1 2 3 4 5 4194304 70 8 90 10 11"));
  EXPECT_TRUE(IsEnding("42 (a) X 1 2 3 4 5 4194304 70 8 90 10 11"));
  EXPECT_TRUE(IsEnding("42 (a) R 1 2 3 4 5 4194308 70 8 90 10 11"));
  EXPECT_FALSE(IsEnding("42 (a) R 1 2 3 4 5 4194304 70 8 90 10 11"));
  EXPECT_FALSE(IsEnding(""));
  EXPECT_FALSE(IsEnding(getpid(), gettid()));
}

TEST(ThreadCountsTest, IoHasSixNumbers) {
  ThreadCounts counts;
  ParseIo(
      "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\n"
      "write_bytes: 6\ncancelled_write_bytes: 7\n",
      counts);
  EXPECT_EQ(counts, (ThreadCounts{.has_io = true,
                                  .read_calls = 3,
                                  .read_bytes = 1,
                                  .write_calls = 4,
                                  .written_bytes = 2,
                                  .disk_read_bytes = 5,
                                  .disk_written_bytes = 6}));
}

// What this thread does between two readings.
TEST(ThreadCountsTest, FaultsAndCallsAreThoseOfTheThread) {
  constexpr size_t kPages = 100;
  constexpr size_t kPageBytes = 4096;
  const int null = open("/dev/null", O_WRONLY);
  const int zero = open("/dev/zero", O_RDONLY);
  char bytes[1000];
  const ThreadCounts before = ReadThreadCounts(getpid(), gettid());
  auto* const memory = static_cast<volatile char*>(
      mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  // No huge page makes one fault of them.
  madvise(const_cast<char*>(memory), kPages * kPageBytes, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < kPages; ++i) memory[i * kPageBytes] = 1;
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(read(zero, bytes, sizeof(bytes)), ssize_t{sizeof(bytes)});
  }
  for (int i = 0; i < 5; ++i) EXPECT_EQ(write(null, bytes, 10), 10);
  const ThreadCounts since =
      Since(before, ReadThreadCounts(getpid(), gettid()));
  ASSERT_TRUE(since.has_faults);
  EXPECT_GE(since.minor_faults, kPages);
  EXPECT_LE(since.minor_faults, kPages + 50);
  if (since.has_io) {  // the kernel may be without TASK_IO_ACCOUNTING
    // The reading itself reads two files.
    EXPECT_GE(since.read_calls, 7u);
    EXPECT_LE(since.read_calls, 10u);
    EXPECT_GE(since.read_bytes, 7'000u);
    EXPECT_EQ(since.write_calls, 5u);
    EXPECT_EQ(since.written_bytes, 50u);
  }
  munmap(const_cast<char*>(memory), kPages * kPageBytes);
  close(null);
  close(zero);
}

TEST(ThreadCountsTest, AThreadThatIsNotThereHasNone) {
  EXPECT_EQ(ReadThreadCounts(getpid(), 1), ThreadCounts());
  // After an exec by another thread, the main thread has that one's numbers.
  EXPECT_EQ(Since({.minor_faults = 5}, {.has_faults = true, .minor_faults = 3}),
            (ThreadCounts{.has_faults = true, .minor_faults = 3}));
}

}  // namespace
}  // namespace kymo::off_cpu
