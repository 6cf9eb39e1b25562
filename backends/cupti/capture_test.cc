#include "backends/cupti/capture.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/cupti/fake_cupti.h"
#include "backends/cupti/log_reader.h"
#include "profiler/base/clock.h"

namespace kymo::cupti {
namespace {

class CaptureTest : public ::testing::Test {
 protected:
  bool Start(const CaptureSettings& settings = {}) {
    return StartCapture(
        fake_.api(), settings,
        {.append =
             [](void* to, const void* data, size_t size) noexcept {
               auto& bytes = *static_cast<std::vector<std::byte>*>(to);
               const auto* from = static_cast<const std::byte*>(data);
               bytes.insert(bytes.end(), from, from + size);
             },
         .to = &bytes_},
        header_.get());
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
  EXPECT_FALSE(Start());
  EXPECT_NE(std::string(header_->problem).find("Nsight Systems"),
            std::string::npos)
      << header_->problem;
  EXPECT_EQ(header_->state, LogState::kFailed);
  EXPECT_TRUE(fake_.enabled.empty()) << "touches nothing of the other's";
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
  ASSERT_TRUE(Start({.flags = kCaptureMemory | kCaptureUnified}));
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
            Count(RecordKind::kCall) + Count(RecordKind::kAnchor) - 1)
      << "as of the last buffer";
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
  SetCapturing(false);
  EXPECT_TRUE(fake_.enabled.empty());
  SetCapturing(true);
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
