#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/findings/test_findings.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;

constexpr int64_t kMs = kNsPerMs;
constexpr int64_t kUs = kNsPerUs;

// A run of 1 s, with a thread that launches and a device. Add everything of the
// thread before the stream.
class DeviceRun : public TestTrace {
 public:
  explicit DeviceRun(int64_t window_ms = 1000) {
    SetWindow(0, window_ms * kMs);
    AddProcess(1, "app");
    main_ = AddThread(1, 1, "main");
  }

  void Operation(std::string_view name, TimeNs begin_ns, TimeNs end_ns) {
    AddRange(main_, name, begin_ns, end_ns);
  }
  // A call that launches the work `id`.
  void Launch(TimeNs begin_ns, DurationNs ns, uint64_t id) {
    Call("cudaLaunchKernel", begin_ns, ns);
    Describe(id);
  }
  void Call(std::string_view name, TimeNs begin_ns, DurationNs ns) {
    AddRange(main_, name, begin_ns, begin_ns + ns, ActivityType::kCudaRuntime);
  }
  void Stream(int64_t id) { stream_ = AddStream(0, id, 1); }
  void Work(std::string_view name, TimeNs begin_ns, DurationNs ns,
            uint64_t id = 0,
            ActivityType type = ActivityType::kConcurrentKernel) {
    AddRange(stream_, name, begin_ns, begin_ns + ns, type);
    if (id != 0) Describe(id);
  }
  model::TrackIndex stream() const { return stream_; }

 private:
  model::TrackIndex main_ = 0;
  model::TrackIndex stream_ = 0;
};

// Kernels of 100 ms; the second one is launched late, inside of aten::relu.
DeviceRun Late(DurationNs gap_ns) {
  DeviceRun t;
  t.Launch(0, kUs, 1);
  t.Operation("aten::relu", 110 * kMs, 300 * kMs);
  t.Launch(110 * kMs, kUs, 2);
  t.Stream(7);
  t.Work("gemm", 0, 100 * kMs, 1);
  t.Work("relu", 100 * kMs + gap_ns, 100 * kMs, 2);
  return t;
}

TEST(DeviceFindingsTest, ADeviceThatWaitsForTheHost) {
  const auto found = Found(Late(200 * kMs), FindingKind::kDeviceIdle);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Device 0 was idle for 200 ms between its first and its last work: "
            "200 ms because the host launched late; the longest gap, 200 ms, "
            "was before aten::relu");
  EXPECT_EQ(found[0].time_ns, 200 * kMs);
  EXPECT_TRUE(found[0].next_step.starts_with("Look at what the host did"));
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kInterval);
  EXPECT_EQ(found[0].evidence.track, 1u);
  EXPECT_EQ(found[0].evidence.begin_ns, 100 * kMs);
  EXPECT_EQ(found[0].evidence.duration_ns, 200 * kMs);
}

TEST(DeviceFindingsTest, IdleTimeOfATwentiethOfTheRunMatters) {
  EXPECT_EQ(Found(Late(50 * kMs), FindingKind::kDeviceIdle).size(), 1u);
  EXPECT_TRUE(Found(Late(50 * kMs - 1), FindingKind::kDeviceIdle).empty());
}

TEST(DeviceFindingsTest, TheNextStepFollowsFromTheMainCause) {
  DeviceRun t;
  t.Launch(0, kUs, 1);
  t.Launch(10, kUs, 2);
  t.Launch(300 * kMs, kUs, 3);
  t.Stream(7);
  t.Work("a", 0, 100 * kMs, 1);
  t.Work("b", 200 * kMs, 80 * kMs, 2);  // launched early: it waited 100 ms
  t.Work("c", 310 * kMs, 10 * kMs, 3);  // launched late: 30 ms
  const auto found = Found(std::move(t), FindingKind::kDeviceIdle);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].title.ends_with(
      ": 100 ms because work waited for other work or a copy, 30.0 ms because "
      "the host launched late"))
      << found[0].title;
  EXPECT_TRUE(found[0].next_step.starts_with("Look at what the work waited"));
  EXPECT_EQ(found[0].evidence.begin_ns, 100 * kMs);
}

// `count` kernels of 2 us, each launched by a call of `launch_ns`.
std::vector<Finding> Small(int count, DurationNs launch_ns,
                           int64_t window_ms = 100) {
  DeviceRun t(window_ms);
  for (int i = 0; i < count; ++i) {
    t.Launch(i * 10 * kUs, launch_ns, static_cast<uint64_t>(i + 1));
  }
  t.Stream(7);
  for (int i = 0; i < count; ++i) {
    t.Work("add", i * 10 * kUs + launch_ns, 2 * kUs,
           static_cast<uint64_t>(i + 1));
  }
  return Found(std::move(t), FindingKind::kSmallKernels);
}

TEST(DeviceFindingsTest, KernelsThatAreShorterThanTheirLaunches) {
  const auto found = Small(2000, 7 * kUs);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "2,000 of 2,000 kernels are of names that are shorter on average "
            "than the calls that launch them (7.00 us), so the device waits "
            "for the host; most often add, 2,000 times");
  EXPECT_EQ(found[0].time_ns, 2000 * 5 * kUs);
  EXPECT_EQ(found[0].evidence.table, "device_kernels");
  EXPECT_EQ(found[0].evidence.name, "add");
}

TEST(DeviceFindingsTest, KernelsAsLongAsTheirLaunchesAreNotSmall) {
  EXPECT_TRUE(Small(2000, 2 * kUs).empty());
  EXPECT_EQ(Small(2000, 7 * kUs, 200).size(), 1u);  // 10 ms: a twentieth
  EXPECT_TRUE(Small(1999, 7 * kUs, 200).empty());
}

// A copy of `copy_ms`, of which `hidden_ms` are while a kernel of 500 ms works.
DeviceRun Copy(int64_t copy_ms, int64_t hidden_ms, const char* name,
               ActivityType type, int64_t kernel_ms = 500) {
  DeviceRun t;
  t.Stream(7);
  t.Work("gemm", 100 * kMs, kernel_ms * kMs);
  t.Stream(8);
  t.Work(name, (100 + kernel_ms - hidden_ms) * kMs, copy_ms * kMs, 0, type);
  return t;
}
DeviceRun Copy(int64_t copy_ms, int64_t hidden_ms, int64_t kernel_ms = 500) {
  return Copy(copy_ms, hidden_ms, "Memcpy HtoD (Pageable -> Device)",
              ActivityType::kGpuMemcpy, kernel_ms);
}

TEST(DeviceFindingsTest, CopiesWhileNothingComputes) {
  const auto found = Found(Copy(200, 50), FindingKind::kCopiesNotHidden);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Copies on device 0 took 200 ms, 150 ms of it while no kernel "
            "computed; the longest was Memcpy HtoD (Pageable -> Device) with "
            "200 ms");
  EXPECT_EQ(found[0].time_ns, 150 * kMs);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kEvent);
  EXPECT_EQ(found[0].evidence.duration_ns, 200 * kMs);
}

TEST(DeviceFindingsTest, HiddenCopiesAreNoFinding) {
  EXPECT_EQ(Found(Copy(200, 150), FindingKind::kCopiesNotHidden).size(), 1u);
  EXPECT_TRUE(Found(Copy(200, 151), FindingKind::kCopiesNotHidden).empty());
  // There is nothing to hide them behind.
  EXPECT_TRUE(Found(Copy(200, 0, 49), FindingKind::kCopiesNotHidden).empty());
}

TEST(DeviceFindingsTest, CommunicationWhileNothingComputes) {
  const auto of = [](int64_t hidden_ms) {
    return Found(Copy(200, hidden_ms, "ncclDevKernel_AllReduce",
                      ActivityType::kConcurrentKernel),
                 FindingKind::kCommunicationNotHidden);
  };
  ASSERT_EQ(of(50).size(), 1u);
  EXPECT_EQ(of(50)[0].time_ns, 150 * kMs);
  EXPECT_TRUE(of(50)[0].title.starts_with("Communication on device 0 took"));
  EXPECT_EQ(of(150).size(), 1u);
  EXPECT_TRUE(of(151).empty());
}

// gemm takes `ms` of 500 ms of the device's time, launched by aten::mm.
std::vector<Finding> Hot(int64_t ms, int64_t window_ms = 1000,
                         const char* name = "gemm") {
  DeviceRun t(window_ms);
  t.Operation("aten::mm", 0, kMs);
  t.Launch(0, kUs, 1);
  t.Stream(7);
  t.Work(name, 0, ms * kMs, 1);
  for (int i = 0; i < 10; ++i) {
    t.Work("k" + std::to_string(i), (ms + i * (500 - ms) / 10) * kMs,
           (500 - ms) * kMs / 10);
  }
  return Found(std::move(t), FindingKind::kHotKernel);
}

TEST(DeviceFindingsTest, AHotKernelAndWhoLaunchesIt) {
  const auto found = Hot(250);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "The kernel gemm took 50 % of the devices' time (250 ms, 1 call); "
            "100 % of that was launched by aten::mm");
  EXPECT_EQ(found[0].evidence.table, "device_kernels");
}

TEST(DeviceFindingsTest, AFifthOfTheDevicesTimeIsHot) {
  EXPECT_EQ(Hot(100).size(), 1u);
  EXPECT_TRUE(Hot(99).empty());
  EXPECT_EQ(Hot(100, 2000).size(), 1u);
  EXPECT_TRUE(Hot(100, 2020).empty());
  // Communication has a finding of its own.
  EXPECT_TRUE(Hot(250, 1000, "ncclDevKernel_AllReduce").empty());
}

// A synchronisation of `sync_ms`, after which the device is idle for `idle_ms`.
std::vector<Finding> Sync(int64_t sync_ms, int64_t idle_ms,
                          const char* name = "cudaStreamSynchronize") {
  DeviceRun t;
  t.Launch(0, kUs, 1);
  t.Operation("aten::item", kMs, (1 + sync_ms) * kMs);
  t.Call(name, kMs, sync_ms * kMs);
  t.Launch((1 + sync_ms) * kMs + kUs, kUs, 2);
  t.Stream(7);
  t.Work("gemm", 0, (1 + sync_ms) * kMs, 1);
  t.Work("gemm", (1 + sync_ms + idle_ms) * kMs, kMs, 2);
  return Found(std::move(t), FindingKind::kSynchronisation);
}

TEST(DeviceFindingsTest, SynchronisationsThatLeaveTheDeviceIdle) {
  const auto found = Sync(300, 100);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "The host waited 300 ms for devices in 1 call, and devices were "
            "idle for 100 ms because it then launched late; 100 % of the "
            "waiting was inside of aten::item");
  EXPECT_EQ(found[0].time_ns, 100 * kMs);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kEvent);
  EXPECT_EQ(found[0].evidence.name, "cudaStreamSynchronize");
}

TEST(DeviceFindingsTest, ASynchronisationThatCostsNothingIsNone) {
  EXPECT_EQ(Sync(300, 50).size(), 1u);
  EXPECT_TRUE(Sync(300, 49).empty());
  EXPECT_TRUE(Sync(49, 300).empty());
  EXPECT_TRUE(Sync(300, 100, "cudaMalloc").empty());
  EXPECT_EQ(Sync(300, 100, "cudaMemcpy").size(), 1u);
}

}  // namespace
}  // namespace kymo::analysis
