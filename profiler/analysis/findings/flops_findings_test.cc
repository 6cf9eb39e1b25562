#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/findings/test_findings.h"
#include "profiler/base/op_inputs.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

constexpr int64_t kMs = kNsPerMs;

// Products of square matrices, in a run of 1 s.
class Products : public TestTrace {
 public:
  Products() {
    SetWindow(0, 1000 * kMs);
    main_ = AddThread(1, 1, "main");
  }

  void Add(int64_t size, TimeNs begin_ns, DurationNs ns) {
    const std::vector<int64_t> sizes = {size, size};
    const Input inputs[] = {TensorMeta{.sizes = sizes},
                            TensorMeta{.sizes = sizes}};
    std::string encoded(EncodedInputBytes(inputs, 2), '\0');
    EncodeInputs(inputs, 2, encoded.data());
    AddRange(main_, "aten::mm", begin_ns, begin_ns + ns);
    Describe(0);
    data().details.back().inputs = Intern(encoded);
  }
  model::TrackIndex main() const { return main_; }

 private:
  model::TrackIndex main_ = 0;
};

// A large product in `fast_ns`, and a small one in `slow_ns` after a first one.
Products Slow(DurationNs fast_ns, DurationNs slow_ns) {
  Products t;
  t.Add(1000, 0, fast_ns);     // 2e9 operations
  t.Add(100, 400 * kMs, kMs);  // 2e6
  t.Add(100, 500 * kMs, slow_ns);
  return t;
}

TEST(FlopsFindingsTest, AnOperationThatIsFasterElsewhere) {
  const auto found = Found(Slow(100 * kMs, 80 * kMs), FindingKind::kLowFlops);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "aten::mm with inputs [[100, 100], [100, 100]] reached 25.00 "
            "MFLOP/s in 1 call of 80.0 ms, and 20.00 GFLOP/s with [[1000, "
            "1000], [1000, 1000]]");
  EXPECT_EQ(found[0].time_ns, 80 * kMs - 100'000);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kEvent);
  EXPECT_EQ(found[0].evidence.begin_ns, 500 * kMs);
  EXPECT_EQ(found[0].evidence.duration_ns, 80 * kMs);
}

TEST(FlopsFindingsTest, ATwentiethOfTheRunMatters) {
  EXPECT_EQ(
      Found(Slow(100 * kMs, 50 * kMs + 100'000), FindingKind::kLowFlops).size(),
      1u);
  EXPECT_TRUE(Found(Slow(100 * kMs, 50 * kMs + 99'999), FindingKind::kLowFlops)
                  .empty());
}

TEST(FlopsFindingsTest, AFifthOfTheRateIsFarBelow) {
  const auto with = [](DurationNs slow_ns) {
    Products t;
    t.Add(1000, 0, 100 * kMs);
    t.Add(500, 400 * kMs, kMs);  // an eighth of the operations
    t.Add(500, 500 * kMs, slow_ns);
    return Found(std::move(t), FindingKind::kLowFlops).size();
  };
  EXPECT_EQ(with(125 * kMs / 2), 1u);  // 62.5 ms: a fifth of the rate
  EXPECT_EQ(with(125 * kMs / 2 - 1), 0u);
}

TEST(FlopsFindingsTest, AFirstCallIsCold) {
  const auto with = [](const std::vector<DurationNs>& slow_ns) {
    Products t;
    t.Add(1000, 0, 100 * kMs);
    for (size_t i = 0; i < slow_ns.size(); ++i) {
      t.Add(100, static_cast<TimeNs>(200 + 200 * i) * kMs, slow_ns[i]);
    }
    return Found(std::move(t), FindingKind::kLowFlops);
  };
  EXPECT_TRUE(with({80 * kMs}).empty());
  EXPECT_TRUE(with({80 * kMs, 100'000, 100'000}).empty());
  const auto found = with({150 * kMs, 80 * kMs, 70 * kMs});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].time_ns, 150 * kMs - 200'000);
  EXPECT_EQ(found[0].evidence.begin_ns, 400 * kMs);
}

TEST(FlopsFindingsTest, AColdFirstCallOfTheFasterOneIsNone) {
  Products t;
  t.Add(1000, 0, 500 * kMs);
  t.Add(1000, 500 * kMs, 2 * kMs);
  t.Add(100, 600 * kMs, kMs);
  t.Add(100, 700 * kMs, 80 * kMs);
  const auto found = Found(std::move(t), FindingKind::kLowFlops);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].time_ns, 80 * kMs - 2'000);
}

TEST(FlopsFindingsTest, TheRateOfAMomentIsChance) {
  EXPECT_EQ(Found(Slow(kMs, 80 * kMs), FindingKind::kLowFlops).size(), 1u);
  EXPECT_TRUE(Found(Slow(kMs - 1, 80 * kMs), FindingKind::kLowFlops).empty());
}

// The host's time is that of launching.
TEST(FlopsFindingsTest, OfADeviceItsTimeCounts) {
  Products t;
  for (int i = 0; i < 3; ++i) {
    t.Add(i == 0 ? 1000 : 100, i * 300 * kMs, kMs);
    t.AddRange(t.main(), "cudaLaunchKernel", i * 300 * kMs,
               i * 300 * kMs + 5'000, model::ActivityType::kCudaRuntime);
    t.Describe(static_cast<uint64_t>(i + 1));
  }
  const auto stream = t.AddStream(0, 7, 1);
  for (int i = 0; i < 3; ++i) {
    t.AddRange(stream, "gemm", i * 300 * kMs, i * 300 * kMs + 80 * kMs,
               model::ActivityType::kConcurrentKernel);
    t.Describe(static_cast<uint64_t>(i + 1));
  }
  const auto found = Found(std::move(t), FindingKind::kLowFlops);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find("[[100, 100], [100, 100]] reached 25.00 MFLOP"),
            std::string::npos)
      << found[0].title;
}

TEST(FlopsFindingsTest, WithoutInputsThereIsNone) {
  TestTrace t;
  t.AddRange(t.AddThread(1, 1, "main"), "aten::mm", 0, 1000 * kMs);
  EXPECT_TRUE(Found(std::move(t), FindingKind::kLowFlops).empty());
}

}  // namespace
}  // namespace kymo::analysis
