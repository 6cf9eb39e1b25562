#include "backends/cupti/target/flush_thread.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/cupti/target/capture.h"
#include "backends/cupti/target/test_cupti_api.h"

namespace kymo::cupti {
namespace {

void Sleep(int ms) {
  const timespec pause = {0, ms * 1'000'000L};
  nanosleep(&pause, nullptr);
}

class FlushThreadTest : public ::testing::Test {
 protected:
  FlushThreadTest() {
    EXPECT_TRUE(StartCapture(
        fake_.api(), {},
        {.append = [](void*, const void*, size_t) noexcept {}, .to = nullptr},
        &header_));
  }
  ~FlushThreadTest() override { StopCapture(); }

  FakeCupti fake_;
  LogHeader header_;
  FlushThread thread_;
};

TEST_F(FlushThreadTest, FlushesNowAndThenWithoutForce) {
  thread_.Start(5);
  for (int i = 0; i < 2000 && fake_.flushes < 3; ++i) Sleep(1);
  EXPECT_GE(fake_.flushes, 3);
  EXPECT_EQ(fake_.forced_flushes, 0);
  thread_.Stop();
}

TEST_F(FlushThreadTest, NothingIsFlushedAfterItHasStopped) {
  thread_.Start(1);
  Sleep(10);
  thread_.Stop();
  const int flushes = fake_.flushes;
  Sleep(20);
  EXPECT_EQ(fake_.flushes, flushes);
}

TEST_F(FlushThreadTest, StopsAtOnceHoweverLongItSleeps) {
  thread_.Start(60'000);
  thread_.Stop();
  thread_.Stop();
  thread_.Start(60'000);
  thread_.Stop();
}

TEST_F(FlushThreadTest, InAForkedChildThereIsNone) {
  thread_.Start(60'000);
  const pid_t pid = fork();
  if (pid == 0) {
    thread_.Stop();
    _exit(0);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  thread_.Stop();
}

}  // namespace
}  // namespace kymo::cupti
