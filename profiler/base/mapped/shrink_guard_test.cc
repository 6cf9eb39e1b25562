#include "profiler/base/mapped/shrink_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

#include "gtest/gtest.h"

namespace kymo {
namespace {

const auto kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));
const size_t kBytes = 4 * kPage;

class ShrinkGuardTest : public testing::Test {
 protected:
  ShrinkGuardTest() : fd_(memfd_create("shrinks", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(fd_, kBytes), 0);
    void* const mapped =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    memory_ = static_cast<volatile char*>(mapped);
    for (size_t i = 0; i < kBytes; ++i) memory_[i] = 'x';
  }
  ~ShrinkGuardTest() override {
    munmap(const_cast<char*>(memory_), kBytes);
    close(fd_);
  }
  ShrinkGuard Guard() const {
    return ShrinkGuard(const_cast<const char*>(memory_), kBytes);
  }

  const int fd_;
  volatile char* memory_;
};

TEST_F(ShrinkGuardTest, BehindTheEndAreZerosThatCanBeWritten) {
  const ShrinkGuard guard = Guard();
  ASSERT_EQ(ftruncate(fd_, kPage), 0);
  EXPECT_EQ(memory_[2 * kPage], 0);
  memory_[3 * kPage] = 'y';
  EXPECT_EQ(memory_[3 * kPage], 'y');
  EXPECT_EQ(memory_[kPage - 1], 'x');
  // The file's own bytes still count before the first missing address.
  EXPECT_EQ(memory_[kPage], 0);
}

TEST_F(ShrinkGuardTest, MovesWithItsOwner) {
  ShrinkGuard first = Guard();
  ShrinkGuard second;
  second = std::move(first);
  ASSERT_EQ(ftruncate(fd_, 0), 0);
  EXPECT_EQ(memory_[0], 0);
}

using ShrinkGuardDeathTest = ShrinkGuardTest;

TEST_F(ShrinkGuardDeathTest, WhatIsNotGuardedIsASignalAsBefore) {
  { const ShrinkGuard over = Guard(); }
  ASSERT_EQ(ftruncate(fd_, 0), 0);
  EXPECT_EXIT(static_cast<void>(memory_[0]), testing::KilledBySignal(SIGBUS),
              "");
}

}  // namespace
}  // namespace kymo
