#include "backends/off_cpu/common_stop.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <unistd.h>

namespace kymo::off_cpu {
namespace {

// The test says what time it is.
constexpr uint64_t kMs = kNsPerMs;

class CommonStopTest : public testing::Test {
 protected:
  CommonStopTest() : child_(fork()) {
    while (child_ == 0) pause();
  }
  ~CommonStopTest() override {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  bool SeesStopAt(uint64_t now_ns) {
    return stop_.Look(child_, now_ns).has_value();
  }
  // When it returns, the kernel has told of both.
  void StopAndContinueChild() const {
    siginfo_t info = {};
    kill(child_, SIGSTOP);
    waitid(P_PID, static_cast<id_t>(child_), &info, WSTOPPED);
    kill(child_, SIGCONT);
    waitid(P_PID, static_cast<id_t>(child_), &info, WCONTINUED | WNOWAIT);
  }

  const pid_t child_;
  CommonStop stop_;
};

TEST_F(CommonStopTest, IsBetweenTheLooksThatAreFarApart) {
  EXPECT_FALSE(SeesStopAt(1'000 * kMs));
  StopAndContinueChild();
  const auto gap = stop_.Look(child_, 1'100 * kMs);
  ASSERT_TRUE(gap.has_value());
  EXPECT_EQ(gap->begin_ns, 1'000 * kMs);
  EXPECT_EQ(gap->middle_ns, 1'050 * kMs);
  EXPECT_FALSE(SeesStopAt(1'105 * kMs));
}

TEST_F(CommonStopTest, TheChildMayGoOnAMomentLater) {
  EXPECT_FALSE(SeesStopAt(1'000 * kMs));
  EXPECT_FALSE(SeesStopAt(1'200 * kMs));
  StopAndContinueChild();
  const auto gap = stop_.Look(child_, 1'250 * kMs);
  ASSERT_TRUE(gap.has_value());
  EXPECT_EQ(gap->begin_ns, 1'000 * kMs);
  EXPECT_EQ(gap->middle_ns, 1'100 * kMs);
}

TEST_F(CommonStopTest, AChildThatGoesOnLaterWasStoppedAlone) {
  EXPECT_FALSE(SeesStopAt(1'000 * kMs));
  EXPECT_FALSE(SeesStopAt(1'200 * kMs));
  StopAndContinueChild();
  EXPECT_FALSE(SeesStopAt(1'251 * kMs));
}

TEST_F(CommonStopTest, AChildThatStopsWhileThisProcessRunsIsStoppedAlone) {
  EXPECT_FALSE(SeesStopAt(1'000 * kMs));
  StopAndContinueChild();
  EXPECT_FALSE(SeesStopAt(1'099 * kMs));
  // It has been told once.
  EXPECT_FALSE(SeesStopAt(1'300 * kMs));
}

TEST_F(CommonStopTest, NothingIsKnownOfTheTimeBeforeTheFirstLook) {
  StopAndContinueChild();
  EXPECT_FALSE(SeesStopAt(1'000 * kMs));
  EXPECT_FALSE(SeesStopAt(1'005 * kMs));
}

TEST(CommonStopOfTracedTest, LeavesTheStopToWhoWaitsForTheChild) {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGUSR1);
    _exit(0);
  }
  siginfo_t info = {};
  const auto wait = [&](int options) {
    info = {};
    return waitid(P_PID, static_cast<id_t>(child), &info,
                  WEXITED | WNOWAIT | options);
  };
  ASSERT_EQ(wait(0), 0);
  ASSERT_EQ(info.si_code, CLD_TRAPPED);
  CommonStop stop;
  EXPECT_FALSE(stop.Look(child, 1'000 * kMs).has_value());
  EXPECT_FALSE(stop.Look(child, 1'200 * kMs).has_value());
  ASSERT_EQ(wait(WNOHANG), 0);
  EXPECT_EQ(info.si_code, CLD_TRAPPED);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace kymo::off_cpu
