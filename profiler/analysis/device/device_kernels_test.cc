#include "profiler/analysis/device/device_kernels.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/analysis/device/test_launches.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;

// linear { addmm { launch 1, launch 2 } relu { linear { launch 3 } } },
// an NVTX range { launch 4 }, launch 5, and a kernel without a call.
model::Trace SomeTrace() {
  TestLaunches t;
  const auto main = t.main();
  t.AddRange(main, "linear", 0, 100);
  t.AddRange(main, "addmm", 10, 50);
  t.Call(12, 1);
  t.Call(20, 2);
  t.AddRange(main, "relu", 60, 90);
  t.AddRange(main, "linear", 61, 80);
  t.Call(65, 3);
  t.AddRange(main, "range", 110, 130, ActivityType::kNvtxRange);
  t.Call(112, 4);
  t.Call(140, 5);
  const auto stream = t.AddStream(0, 7, 1);
  t.Kernel(stream, "gemm", 100, 110, 1);
  t.Kernel(stream, "gemm", 110, 130, 2);
  t.Kernel(stream, "fill", 130, 133, 3);
  t.Kernel(stream, "gemm", 140, 170, 4);
  t.Kernel(stream, "fill", 170, 171, 5);
  t.Kernel(stream, "orphan", 180, 187, 99);
  return std::move(t).Build();
}

TEST(DeviceKernelsTest, SumsByKernel) {
  const model::Trace trace = SomeTrace();
  const std::vector<KernelSum> sums = KernelSums(trace);
  ASSERT_EQ(sums.size(), 3u);
  EXPECT_EQ(trace.Name(sums[0].name), "gemm");
  EXPECT_EQ(sums[0].kind, WorkKind::kCompute);
  EXPECT_EQ(sums[0].count, 3);
  EXPECT_EQ(sums[0].total_ns, 60);
  EXPECT_EQ(sums[0].min_ns, 10);
  EXPECT_EQ(sums[0].max_ns, 30);
  EXPECT_DOUBLE_EQ(sums[0].stddev_ns, 10);
  EXPECT_EQ(trace.Name(sums[1].name), "orphan");
  EXPECT_EQ(sums[1].stddev_ns, 0);
  EXPECT_EQ(trace.Name(sums[2].name), "fill");
}

TEST(DeviceKernelsTest, SelfTimeIsOfTheInnermostOperationTotalOfAllAround) {
  const model::Trace trace = SomeTrace();
  std::string text;
  for (const OperationSum& sum : OperationSums(trace, Launches(trace))) {
    text += std::string(trace.Name(sum.name)) + ":" +
            std::to_string(sum.launch_count) + ":" +
            std::to_string(sum.self_ns) + ":" + std::to_string(sum.total_ns) +
            " ";
  }
  // linear is in its own stack, and counts once there. Launch 5 and the kernel
  // without a call belong to nobody.
  EXPECT_EQ(text,
            "addmm:2:30:30 range:1:30:30 :2:8:8 linear:1:3:33 "
            "relu:0:0:3 ");
}

TEST(DeviceKernelsTest, EqualTimesAreOrderedByTotalThenByName) {
  TestLaunches t;
  // Each inner operation has 10 ns of its own. `c` is also around `d`.
  struct Launch {
    const char* outer;
    const char* inner;
  };
  const Launch launched[] = {
      {"outer", "b"}, {"outer", "a"}, {"c", "d"}, {"outer", "c"}};
  for (int i = 0; i < 4; ++i) {
    const TimeNs start = 100 * i;
    t.AddRange(t.main(), launched[i].outer, start, start + 90);
    t.AddRange(t.main(), launched[i].inner, start + 10, start + 80);
    t.Call(start + 20, 1 + i);
  }
  const auto stream = t.AddStream(0, 7, 1);
  for (int i = 0; i < 4; ++i) {
    t.Kernel(stream, std::string("kernel of ") + launched[i].inner,
             100 * i + 30, 100 * i + 40, 1 + i);
  }
  const model::Trace trace = std::move(t).Build();
  const Launches launches(trace);
  std::string operations;
  for (const OperationSum& sum : OperationSums(trace, launches)) {
    operations += std::string(trace.Name(sum.name)) + ":" +
                  std::to_string(sum.self_ns) + ":" +
                  std::to_string(sum.total_ns) + " ";
  }
  EXPECT_EQ(operations, "c:10:20 a:10:10 b:10:10 d:10:10 outer:0:30 ");
  std::string kernels;
  for (const KernelSum& sum : KernelSums(trace)) {
    kernels += std::string(trace.Name(sum.name)) + " ";
  }
  EXPECT_EQ(kernels, "kernel of a kernel of b kernel of c kernel of d ");
}

TEST(DeviceKernelsTest, ListsTheKernelsOfEachOperation) {
  const model::Trace trace = SomeTrace();
  std::string text;
  for (const OperationKernel& sum : OperationKernels(trace, Launches(trace))) {
    text += std::string(trace.Name(sum.operation)) + ">" +
            std::string(trace.Name(sum.kernel)) + ":" +
            std::to_string(sum.count) + ":" + std::to_string(sum.total_ns) +
            " ";
  }
  EXPECT_EQ(text,
            ">orphan:1:7 >fill:1:1 addmm>gemm:2:30 linear>fill:1:3 "
            "range>gemm:1:30 ");
}

TEST(DeviceKernelsTest, KernelsOfAnOperationAreOrderedByTimeThenByName) {
  TestLaunches t;
  t.AddRange(t.main(), "op", 0, 1'000);
  for (int i = 0; i < 4; ++i) t.Call(10 * i + 1, 1 + i);
  const auto stream = t.AddStream(0, 7, 1);
  t.Kernel(stream, "z", 100, 110, 1);
  t.Kernel(stream, "y", 110, 120, 2);
  t.Kernel(stream, "x", 120, 125, 3);
  t.Kernel(stream, "w", 125, 140, 4);
  const model::Trace trace = std::move(t).Build();
  std::string text;
  for (const OperationKernel& sum : OperationKernels(trace, Launches(trace))) {
    text += std::string(trace.Name(sum.kernel)) + ":" +
            std::to_string(sum.total_ns) + " ";
  }
  EXPECT_EQ(text, "w:15 y:10 z:10 x:5 ");
}

// Of 10, 20 and 60: the mean is 30, and (400 + 100 + 900) / 2 = 700.
TEST(DeviceKernelsTest, TheDeviationIsThatOfASample) {
  TestTrace t;
  const auto stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "k", 0, 20, model::ActivityType::kConcurrentKernel);
  t.AddRange(stream, "k", 20, 30, model::ActivityType::kConcurrentKernel);
  t.AddRange(stream, "k", 30, 90, model::ActivityType::kConcurrentKernel);
  t.AddRange(stream, "wait", 90, 99, model::ActivityType::kCudaSync);
  const std::vector<KernelSum> sums = KernelSums(std::move(t).Build());
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].min_ns, 10);
  EXPECT_EQ(sums[0].max_ns, 60);
  EXPECT_DOUBLE_EQ(sums[0].stddev_ns, std::sqrt(700.0));
}

}  // namespace
}  // namespace kymo::analysis
