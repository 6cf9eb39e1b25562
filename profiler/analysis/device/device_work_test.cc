#include "profiler/analysis/device/device_work.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;

TEST(DeviceWorkTest, FindsTheWorkOfEachDeviceByStream) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "aten::mm", 0, 100);
  const auto late = t.AddStream(0, 7, 1);
  t.AddRange(late, "gemm", 10, 20, ActivityType::kConcurrentKernel);
  t.AddRange(late, "Stream Sync", 12, 40, ActivityType::kCudaSync);
  t.AddRange(late, "step", 12, 40, ActivityType::kGpuUserAnnotation);
  // A second track of the same stream, as for work that overlaps.
  const auto lane = t.AddStream(0, 7, 1);
  const auto early =
      t.AddRange(lane, "fill", 5, 15, ActivityType::kConcurrentKernel);
  const auto other = t.AddStream(1, 7, 1);
  t.AddRange(other, "Memset (Device)", 5, 15, ActivityType::kGpuMemset);
  const model::Trace trace = std::move(t).Build();

  const std::vector<Device> devices = FindDevices(trace);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].index, 0);
  ASSERT_EQ(devices[0].streams.size(), 1u);
  ASSERT_EQ(devices[0].streams[0].work.size(), 2u);
  EXPECT_EQ(devices[0].streams[0].work[0], early);
  EXPECT_EQ(devices[1].index, 1);
}

TEST(DeviceWorkTest, DividesWorkByTypeAndName) {
  TestTrace t;
  const auto stream = t.AddStream(0, 7, 1);
  const auto kernel = [&](const char* name) {
    return t.AddRange(stream, name, 0, 1, ActivityType::kConcurrentKernel);
  };
  const auto nccl = kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)");
  const auto inside = kernel("void ncclKernel<3>()");
  const auto plain = kernel("gemm");
  const auto copy =
      t.AddRange(stream, "ncclCopy", 0, 1, ActivityType::kGpuMemcpy);
  const auto sync =
      t.AddRange(stream, "Event Sync", 0, 1, ActivityType::kCudaSync);
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(WorkKindOf(trace, nccl), WorkKind::kCommunication);
  EXPECT_EQ(WorkKindOf(trace, inside), WorkKind::kCommunication);
  EXPECT_EQ(WorkKindOf(trace, plain), WorkKind::kCompute);
  EXPECT_EQ(WorkKindOf(trace, copy), WorkKind::kMemory);
  EXPECT_EQ(WorkKindOf(trace, sync), WorkKind::kNone);
  EXPECT_EQ(WorkKindName(WorkKind::kMemory), "memory");
}

TEST(DeviceWorkTest, MergesWhatTouchesOrOverlaps) {
  EXPECT_EQ(Merged({{30, 40}, {0, 10}, {10, 20}, {12, 15}, {35, 50}}),
            (std::vector<Interval>{{0, 20}, {30, 50}}));
  EXPECT_TRUE(Merged({}).empty());
  EXPECT_EQ(TotalNs({{0, 20}, {30, 50}}), 40);
}

TEST(DeviceWorkTest, OverlapsAreWhatBothCover) {
  const std::vector<Interval> a = {{0, 10}, {20, 30}, {40, 50}};
  const std::vector<Interval> b = {{5, 25}, {45, 46}, {48, 60}};
  EXPECT_EQ(OverlapNs(a, b), 5 + 5 + 1 + 2);
  EXPECT_EQ(OverlapNs(b, a), 13);
  EXPECT_EQ(OverlapNs(a, {}), 0);
}

TEST(DeviceWorkTest, LibrariesForCommunicationAreKnownByTheirNames) {
  TestTrace t;
  const auto stream = t.AddStream(0, 7, 1);
  const std::vector<std::pair<const char*, WorkKind>> kinds = {
      {"ncclKernel_x", WorkKind::kCommunication},
      {"rccl_main_kernel", WorkKind::kCommunication},
      {"hcclAllReduce", WorkKind::kCommunication},
      {"x ncclDevKernel", WorkKind::kCommunication},
      {"x nccl", WorkKind::kCompute},
      {"ncc", WorkKind::kCompute},
      {"", WorkKind::kCompute}};
  for (const auto& [name, kind] : kinds) {
    t.AddRange(stream, name, 0, 1, ActivityType::kConcurrentKernel);
  }
  t.AddRange(stream, "fill", 0, 1, ActivityType::kGpuMemset);
  const model::Trace trace = std::move(t).Build();
  for (model::EventIndex i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(WorkKindOf(trace, i), kinds[i].second) << kinds[i].first;
  }
  EXPECT_EQ(WorkKindOf(trace, static_cast<model::EventIndex>(kinds.size())),
            WorkKind::kMemory);
  EXPECT_EQ(WorkKindName(WorkKind::kNone), "");
  EXPECT_EQ(WorkKindName(WorkKind::kCompute), "compute");
  EXPECT_EQ(WorkKindName(WorkKind::kCommunication), "communication");
}

TEST(DeviceWorkTest, DevicesStandByProcessAndIndexAndStreamsById) {
  TestTrace t;
  for (const auto& [pid, device, stream] :
       {std::tuple(1, 0, 7), std::tuple(1, 0, 9), std::tuple(1, 1, 9),
        std::tuple(1, 1, 10), std::tuple(2, 1, 10)}) {
    const auto track = t.AddStream(device, stream, pid);
    if (stream != 10 || pid == 2) {
      t.AddRange(track, "k", 0, 1, ActivityType::kConcurrentKernel);
    }
  }
  std::string text;
  for (const Device& device : FindDevices(std::move(t).Build())) {
    text += std::to_string(device.pid) + "/" + std::to_string(device.index);
    for (const DeviceStream& stream : device.streams) {
      text += " " + std::to_string(stream.id) + "x" +
              std::to_string(stream.work.size());
    }
    text += "; ";
  }
  EXPECT_EQ(text, "1/0 7x1 9x1; 1/1 9x1; 2/1 10x1; ");
}

}  // namespace
}  // namespace kymo::analysis
