#include "profiler/base/mapped/shrink_guard.h"

#include <setjmp.h>
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

// Which access raises the signal.
enum : int { kNotGuarded = 1, kGuarded = 2 };
volatile sig_atomic_t next_access = kNotGuarded;
sigjmp_buf back;

TEST_F(ShrinkGuardDeathTest, ThePreviousHandlerMaySurvive) {
  // The child starts anew, so its first guard comes after the handler.
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto survive = [this] {
    signal(SIGBUS, [](int) { siglongjmp(back, next_access); });
    const ShrinkGuard guard = Guard();
    const volatile char* const not_guarded = static_cast<const char*>(
        mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, fd_, 0));
    if (ftruncate(fd_, 0) != 0) _exit(1);
    switch (sigsetjmp(back, 1)) {
      case 0:
        static_cast<void>(not_guarded[0]);
        _exit(2);
      case kNotGuarded:
        next_access = kGuarded;
        _exit(memory_[0] == 0 ? 0 : 3);
      default:
        _exit(4);
    }
  };
  EXPECT_EXIT(survive(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kymo
