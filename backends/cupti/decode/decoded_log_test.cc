// Tests what a log says besides events: losses, clocks, devices, streams.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/cupti/decode/test_decoded.h"

namespace kymo::cupti {
namespace {

using model::Loss;

class DecodedFactsTest : public DecodedLogTest {};

TEST_F(DecodedFactsTest, CountsWhatHasNoTimesOrBeginsBeforeItsLaunch) {
  log_.Call("cudaLaunchKernel", 7, 1000, 2000);
  log_.Kernel("early", 7, 400, 9000);
  log_.Kernel("timeless", 8, 0, 0);
  log_.Kernel("open", 8, 400, 0);
  const DecodedLog decoded = Decode();
  EXPECT_EQ(EventsOf(shard_).size(), 1u);
  EXPECT_EQ(shard_.ledger.Get(Loss::kDeviceBeforeLaunch), 1u);
  EXPECT_EQ(shard_.ledger.Get(Loss::kDeviceTimesMissing), 2u);
  EXPECT_EQ(decoded.early_ns, 600);
}

TEST_F(DecodedFactsTest, SaysHowMuchTooLateWorkSeemsToEnd) {
  log_.Call("cudaLaunchKernel", 7, 1000, 2000);
  log_.Kernel("k", 7, 3000, 9050);
  log_.Call("cudaStreamSynchronize", 8, 2500, 9000);
  SyncRecord wait = {};
  wait.start = 2500;
  wait.end = 9000;
  wait.type = 3;
  wait.context = 1;
  wait.stream = 7;
  wait.correlation = 8;
  log_.Add(RecordKind::kSync, wait);
  EXPECT_EQ(Decode().late_ns, 50);
  EXPECT_EQ(Find(shard_, "k")->end_ns, 9050) << "it is shown as it is";
}

TEST_F(DecodedFactsTest, SaysWhatCuptiWouldNotRecord) {
  RefusedRecord refused = {};
  refused.kind = 25;
  refused.status = 28;
  log_.Add(RecordKind::kRefused, refused, "unified memory: no (28)");
  const DecodedLog decoded = Decode();
  EXPECT_EQ(decoded.refused,
            std::vector<std::string>{"unified memory: no (28)"});
}

TEST_F(DecodedFactsTest, SaysWhatCuptiAndAKilledProgramLost) {
  LossRecord loss = {};
  loss.count = 17;
  loss.reason = LossReason::kDropped;
  log_.Add(RecordKind::kLoss, loss);
  facts_.state = LogState::kOpen;
  facts_.buffers_out = 2;
  Decode();
  EXPECT_EQ(shard_.ledger.Get(Loss::kDeviceRecordsDropped), 17u);
  EXPECT_EQ(shard_.ledger.Get(Loss::kDeviceBuffersLost), 2u);
}

TEST_F(DecodedFactsTest,
       ARefusedBufferIsARecordDroppedIfCuptiHasNotToldOfMore) {
  facts_.buffers_refused = 3;
  Decode();
  EXPECT_EQ(shard_.ledger.Get(Loss::kDeviceRecordsDropped), 3u);
}

TEST_F(DecodedFactsTest, DescribesDevices) {
  log_.Device(1, "NVIDIA A100");
  const DecodedLog decoded = Decode();
  ASSERT_EQ(decoded.devices.size(), 1u);
  EXPECT_EQ(decoded.devices.at(1).name, "NVIDIA A100");
  EXPECT_EQ(decoded.devices.at(1).record.multiprocessors, 108u);
}

TEST_F(DecodedFactsTest, DescribesStreamsOnceEach) {
  StreamRecord stream = {};
  stream.id = 13;
  stream.context = 1;
  stream.priority = static_cast<uint32_t>(-5);
  stream.flag = 2;
  log_.Add(RecordKind::kStream, stream);
  log_.Add(RecordKind::kStream, stream);
  log_.Context(1, 3);
  const DecodedLog decoded = Decode();
  ASSERT_EQ(decoded.streams.size(), 1u);
  EXPECT_EQ(decoded.streams.begin()->device, 3u);
  EXPECT_EQ(decoded.streams.begin()->priority, -5);
  EXPECT_EQ(decoded.streams.begin()->pid, 42);
}

TEST_F(DecodedFactsTest, DevicesThatTheProgramCannotUseAreNotListed) {
  DeviceRecord hidden = TestLog::A100();
  hidden.is_hidden = 1;
  log_.Add(RecordKind::kDevice, hidden, "hidden, with the same id");
  log_.Device(0, "used");
  log_.Add(RecordKind::kDevice, hidden, "hidden, with the same id");
  hidden.id = 1;
  log_.Add(RecordKind::kDevice, hidden, "hidden");
  const DecodedLog decoded = Decode();
  ASSERT_EQ(decoded.devices.size(), 1u);
  EXPECT_EQ(decoded.devices.at(0).name, "used");
}

TEST_F(DecodedFactsTest, WhatRanInAContextTellsItsDevice) {
  KernelRecord kernel = TestLog::SomeKernel(7, 3000, 9000);
  kernel.device = 3;
  kernel.context = 12;
  log_.Add(RecordKind::kKernel, kernel, "k");
  SyncRecord wait = {};
  wait.start = 1000;
  wait.end = 2000;
  wait.type = 4;
  wait.context = 12;
  wait.stream = kNoStream;
  log_.Add(RecordKind::kSync, wait);
  Decode();
  EXPECT_EQ(Find(shard_, "Context Sync")->track.device_index, 3);
}

TEST_F(DecodedFactsTest, AnEmptyLogIsAnEmptyShard) {
  Decode();
  EXPECT_TRUE(EventsOf(shard_).empty());
  EXPECT_FALSE(shard_.ledger.AnythingLost());
}

}  // namespace
}  // namespace kymo::cupti
