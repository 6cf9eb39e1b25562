#include "backends/cupti/target/capture.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/cupti/log/log_reader.h"
#include "backends/cupti/log/test_log.h"
#include "backends/cupti/target/test_cupti_api.h"
#include "profiler/base/clock.h"

namespace kymo::cupti {
namespace {

class CaptureTest : public ::testing::Test {
 protected:
  bool Start(const CaptureSettings& settings = {}) {
    return StartCapture(fake_.api(), settings, AppendTo(bytes_), header_.get());
  }

  size_t Count(RecordKind kind) const {
    size_t count = 0;
    for (LogReader reader(bytes_); reader.Next();) {
      count += reader.kind() == kind;
    }
    return count;
  }

  FakeCupti fake_;
  std::unique_ptr<LogHeader> header_ = std::make_unique<LogHeader>();
  std::vector<std::byte> bytes_;
};

TEST_F(CaptureTest, WritesWhatWasRecorded) {
  ASSERT_TRUE(Start()) << header_->problem;
  EXPECT_TRUE(fake_.is_subscribed);
  EXPECT_TRUE(fake_.enabled.contains(ActivityKind::kKernel));
  KernelRecord kernel = {};
  kernel.start = 5;
  fake_.Emit(RecordKind::kKernel, kernel, "sgemm");
  EXPECT_EQ(header_->buffers_out, 1u);
  StopCapture();
  EXPECT_EQ(Count(RecordKind::kKernel), 1u);
  EXPECT_EQ(Count(RecordKind::kText), 1u);
  EXPECT_EQ(header_->buffers_out, 0u);
  EXPECT_EQ(header_->state, LogState::kClosed);
  EXPECT_TRUE(fake_.enabled.empty());
  EXPECT_FALSE(fake_.is_subscribed);
  EXPECT_GE(fake_.forced_flushes, 1);
}

TEST_F(CaptureTest, AFlushBringsWhatHasFinishedWithoutForcingTheRest) {
  ASSERT_TRUE(Start());
  fake_.Emit(RecordKind::kCall, CallRecord{});
  FlushCapture(FlushMode::kFinished);
  EXPECT_EQ(Count(RecordKind::kCall), 1u);
  EXPECT_EQ(fake_.flushes, 1);
  EXPECT_EQ(fake_.forced_flushes, 0);
  EXPECT_EQ(header_->state, LogState::kOpen);
  StopCapture();
}

TEST_F(CaptureTest, SaysWhoHasCupti) {
  fake_.subscribe_status = ApiStatus::kOtherSubscriber;
  fake_.other_subscriber = "Nsight Systems";
  fake_.next_dropped = 5;
  EXPECT_FALSE(Start());
  EXPECT_NE(std::string(header_->problem).find("Nsight Systems"),
            std::string::npos)
      << header_->problem;
  EXPECT_EQ(header_->state, LogState::kFailed);
  EXPECT_TRUE(fake_.enabled.empty()) << "touches nothing of the other's";
  EXPECT_EQ(fake_.next_dropped, 5u) << "not even what would be reset";
}

TEST_F(CaptureTest, UndoesEverythingWhereAKindIsRefused) {
  fake_.enable_status[ActivityKind::kKernel] = ApiStatus::kNoPrivileges;
  EXPECT_FALSE(Start());
  EXPECT_TRUE(fake_.enabled.empty());
  EXPECT_FALSE(fake_.is_subscribed);
  EXPECT_NE(std::string(header_->problem).find("permission"),
            std::string::npos);
}

TEST_F(CaptureTest, GoesWithoutKindsThatAreNoMust) {
  fake_.enable_status[ActivityKind::kOverhead] = ApiStatus::kNotSupported;
  EXPECT_TRUE(Start());
  EXPECT_FALSE(fake_.enabled.contains(ActivityKind::kOverhead));
  EXPECT_TRUE(fake_.enabled.contains(ActivityKind::kCopy));
  StopCapture();
}

TEST_F(CaptureTest, RecordsOnlyWhatWasAskedFor) {
  ASSERT_TRUE(Start({.flags = 0}));
  EXPECT_FALSE(fake_.enabled.contains(ActivityKind::kSync));
  EXPECT_FALSE(fake_.enabled.contains(ActivityKind::kMemory));
  StopCapture();
  ASSERT_TRUE(
      Start({.flags = kCaptureMemory | kCaptureUnified, .is_late = true}));
  EXPECT_TRUE(fake_.enabled.contains(ActivityKind::kMemory));
  EXPECT_TRUE(fake_.enabled.contains(ActivityKind::kUnified));
  StopCapture();
}

TEST_F(CaptureTest, CountsWhatCuptiDropped) {
  ASSERT_TRUE(Start());
  fake_.Emit(RecordKind::kCall, CallRecord{});
  fake_.next_dropped = 123;
  StopCapture();
  uint64_t dropped = 0;
  for (LogReader reader(bytes_); reader.Next();) {
    if (reader.kind() != RecordKind::kLoss) continue;
    EXPECT_EQ(reader.Get<LossRecord>().reason, LossReason::kDropped);
    dropped += reader.Get<LossRecord>().count;
  }
  EXPECT_EQ(dropped, 123u);
}

TEST_F(CaptureTest, UsesBuffersAgain) {
  ASSERT_TRUE(Start());
  for (int i = 0; i < 200'000; ++i) {
    fake_.Emit(RecordKind::kCall, CallRecord{}, "cudaMalloc");
  }
  EXPECT_EQ(header_->buffers_out, 1u);
  EXPECT_EQ(fake_.lost, 0u);
  StopCapture();
  EXPECT_EQ(Count(RecordKind::kCall), 200'000u);
  EXPECT_EQ(header_->records,
            Count(RecordKind::kCall) + Count(RecordKind::kAnchor));
}

TEST_F(CaptureTest, RefusesBuffersBeyondItsLimit) {
  ASSERT_TRUE(Start({.max_bytes = 0}));
  // Other tests may have left buffers in the process's pool.
  const uint64_t had = header_->buffers_refused;
  fake_.Emit(RecordKind::kCall, CallRecord{});
  EXPECT_EQ(fake_.lost, header_->buffers_refused - had);
  StopCapture();
}

TEST_F(CaptureTest, KeepsWhatAnOlderCuptiHasToSay) {
  ASSERT_TRUE(Start());
  KernelRecord kernel = {};
  kernel.start = 5;
  kernel.graph = 7;
  fake_.Emit(RecordKind::kKernel, kernel, "old", 96);
  StopCapture();
  for (LogReader reader(bytes_); reader.Next();) {
    if (reader.kind() != RecordKind::kKernel) continue;
    EXPECT_EQ(reader.Get<KernelRecord>().start, 5u);
    EXPECT_EQ(reader.Get<KernelRecord>().graph, 0u);
  }
}

TEST_F(CaptureTest, PairsCuptisClockWithOurs) {
  fake_.takes_our_clock = false;
  ASSERT_TRUE(Start());
  StopCapture();
  size_t anchors = 0;
  for (LogReader reader(bytes_); reader.Next();) {
    if (reader.kind() != RecordKind::kAnchor) continue;
    ++anchors;
    const AnchorRecord anchor = reader.Get<AnchorRecord>();
    EXPECT_EQ(anchor.clock, LogClock::kCupti);
    const int64_t offset = static_cast<int64_t>(anchor.log_ns) -
                           static_cast<int64_t>(anchor.monotonic_ns);
    EXPECT_NEAR(offset, fake_.clock_offset_ns,
                static_cast<double>(anchor.uncertainty_ns + 1));
  }
  EXPECT_GE(anchors, 2u);
}

TEST_F(CaptureTest, NothingIsRecordedWhileItIsSwitchedOff) {
  ASSERT_TRUE(Start());
  PauseCapture();
  EXPECT_TRUE(fake_.enabled.empty());
  EXPECT_EQ(ResumeCapture(), ApiStatus::kOk);
  EXPECT_TRUE(fake_.enabled.contains(ActivityKind::kKernel));
  StopCapture();
}

TEST_F(CaptureTest, ThreadsEmitWhileItIsFlushed) {
  ASSERT_TRUE(Start());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5'000; ++i) {
        fake_.Emit(RecordKind::kCall, CallRecord{}, "cudaMalloc");
      }
    });
  }
  for (int i = 0; i < 20; ++i) FlushCapture(FlushMode::kFinished);
  for (std::thread& thread : threads) thread.join();
  StopCapture();
  EXPECT_EQ(Count(RecordKind::kCall), 20'000u);
}

TEST_F(CaptureTest, AtExitItTakesWhatThereIsAndTouchesNothing) {
  ASSERT_TRUE(Start());
  fake_.Emit(RecordKind::kCall, CallRecord{});
  StopCapture(StopMode::kExit);
  EXPECT_EQ(Count(RecordKind::kCall), 1u);
  EXPECT_EQ(header_->state, LogState::kClosed);
  EXPECT_TRUE(fake_.is_subscribed);
  EXPECT_FALSE(fake_.enabled.empty());
  // The program's last exit handlers may still make calls.
  fake_.Emit(RecordKind::kCall, CallRecord{});
  EXPECT_EQ(header_->buffers_out, 1u);
  fake_.FillBuffer();
  EXPECT_EQ(Count(RecordKind::kCall), 2u);
  EXPECT_EQ(header_->buffers_out, 0u);
  StopCapture();
}

TEST_F(CaptureTest, AtExitItGivesTheDeviceAnInstantToEnd) {
  ASSERT_TRUE(Start());
  fake_.is_busy = true;
  fake_.Emit(RecordKind::kCall, CallRecord{});
  std::thread device([&] {
    while (fake_.flushes == 0) std::this_thread::yield();
    fake_.is_busy = false;
  });
  StopCapture(StopMode::kExit);
  device.join();
  EXPECT_GE(fake_.flushes, 2);
  EXPECT_EQ(Count(RecordKind::kCall), 1u);
  StopCapture();
}

TEST_F(CaptureTest, WhatItStoppedIsWaitedForBeforeKindsGoOff) {
  ASSERT_TRUE(Start());
  static FakeCupti* fake = nullptr;
  fake = &fake_;
  StopCapture(StopMode::kDetach, []() noexcept {
    EXPECT_FALSE(fake->enabled.contains(ActivityKind::kRuntime));
    EXPECT_TRUE(fake->enabled.contains(ActivityKind::kKernel));
    EXPECT_EQ(fake->forced_flushes, 0);
  });
  EXPECT_GE(fake_.forced_flushes, 1);
}

TEST_F(CaptureTest, BuffersOfAClientBeforeItAreNeitherReadNorKept) {
  ASSERT_TRUE(Start());
  std::vector<uint8_t> others(4096, 0xee);
  fake_.HandBackForeign(others.data(), others.size());
  EXPECT_EQ(others, std::vector<uint8_t>(4096, 0xee));
  for (int i = 0; i < 10'000; ++i) {
    fake_.Emit(RecordKind::kCall, CallRecord{}, "cudaMalloc");
  }
  StopCapture();
  EXPECT_EQ(others, std::vector<uint8_t>(4096, 0xee));
  EXPECT_EQ(Count(RecordKind::kCall), 10'000u);
  ASSERT_EQ(Count(RecordKind::kLoss), 1u);
  for (LogReader reader(bytes_); reader.Next();) {
    if (reader.kind() != RecordKind::kLoss) continue;
    EXPECT_EQ(reader.Get<LossRecord>().reason, LossReason::kForeign);
  }
}

TEST_F(CaptureTest, AnOldCuptiIsNeverRefusedABuffer) {
  fake_.SetVersion(26);
  ASSERT_TRUE(Start({.max_bytes = 0}));
  fake_.Emit(RecordKind::kCall, CallRecord{});
  EXPECT_EQ(fake_.lost, 0u);
  StopCapture();
  EXPECT_EQ(Count(RecordKind::kCall), 1u);
}

TEST_F(CaptureTest, AsksForUnifiedMemoryWhenCudaIsUp) {
  ASSERT_TRUE(Start({.flags = kCaptureUnified}));
  EXPECT_FALSE(fake_.configured.contains(ApiSetting::kUnified));
  EXPECT_FALSE(fake_.enabled.contains(ActivityKind::kUnified));
  fake_.InitializeCuda();
  EXPECT_TRUE(fake_.enabled.contains(ActivityKind::kUnified));
  StopCapture();
  EXPECT_EQ(Count(RecordKind::kRefused), 0u);
  EXPECT_TRUE(fake_.enabled.empty());
}

TEST_F(CaptureTest, TellsThatThereWasNoChanceToAskForUnifiedMemory) {
  ASSERT_TRUE(Start({.flags = kCaptureUnified}));
  StopCapture();
  EXPECT_EQ(Count(RecordKind::kRefused), 1u);
}

TEST_F(CaptureTest, TellsWhatWasRefused) {
  fake_.setting_status[ApiSetting::kLatency] = ApiStatus::kNotSupported;
  fake_.enable_status[ActivityKind::kGraph] = ApiStatus::kInvalidKind;
  ASSERT_TRUE(Start({.flags = kCaptureLatency | kCaptureGraphs}));
  StopCapture();
  EXPECT_EQ(Count(RecordKind::kRefused), 2u);
}

TEST_F(CaptureTest, TakesBackWhatItSet) {
  ASSERT_TRUE(Start({.flags = kCaptureSync | kCaptureLatency}));
  EXPECT_TRUE(fake_.configured.contains(ApiSetting::kSystemThreads));
  EXPECT_TRUE(fake_.configured.contains(ApiSetting::kEventTimes));
  EXPECT_TRUE(fake_.configured.contains(ApiSetting::kLatency));
  StopCapture();
  EXPECT_TRUE(fake_.configured.empty());
}

TEST_F(CaptureTest, AsksForWhatIsThereAlreadyWhereItComesLate) {
  ASSERT_TRUE(Start({.is_late = true}));
  EXPECT_TRUE(fake_.described.contains(ActivityKind::kDevice));
  EXPECT_TRUE(fake_.described.contains(ActivityKind::kContext));
  EXPECT_TRUE(fake_.described.contains(ActivityKind::kStream));
  EXPECT_FALSE(fake_.described.contains(ActivityKind::kKernel));
  StopCapture();
}

TEST_F(CaptureTest, SaysThatItCouldNotGoOn) {
  ASSERT_TRUE(Start());
  PauseCapture();
  fake_.enable_status[ActivityKind::kKernel] = ApiStatus::kNotInitialized;
  EXPECT_EQ(ResumeCapture(), ApiStatus::kNotInitialized);
  EXPECT_TRUE(fake_.enabled.empty());
  StopCapture();
}

TEST_F(CaptureTest, AForkedChildHasNoCapture) {
  ASSERT_TRUE(Start());
  fake_.Emit(RecordKind::kCall, CallRecord{});
  const pid_t pid = fork();
  if (pid == 0) {
    fake_.FillBuffer();
    FlushCapture(FlushMode::kEverything);
    StopCapture(StopMode::kExit);
    _exit(Count(RecordKind::kCall) == 0 && header_->buffers_out == 1 ? 0 : 1);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  StopCapture();
  EXPECT_EQ(Count(RecordKind::kCall), 1u);
}

TEST_F(CaptureTest, ThereIsOneAtATime) {
  ASSERT_TRUE(Start());
  LogHeader second;
  EXPECT_FALSE(StartCapture(fake_.api(), {}, {}, &second));
  EXPECT_NE(std::string(second.problem).find("Kymo"), std::string::npos);
  StopCapture();
  EXPECT_EQ(header_->state, LogState::kClosed);
}

TEST_F(CaptureTest, StoppingTwiceIsStoppingOnce) {
  ASSERT_TRUE(Start());
  StopCapture();
  StopCapture();
  FlushCapture(FlushMode::kFinished);
}

}  // namespace
}  // namespace kymo::cupti
