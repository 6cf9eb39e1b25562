#include "exporters/builtin/builtin_exporters.h"

#include <utility>

#include <gtest/gtest.h>

#include "exporters/json/test_golden.h"
#include "profiler/analysis/test_trace.h"

namespace kymo {
namespace {

TEST(BuiltinExportersTest, ListsThemByName) {
  ExporterRegistry registry;
  ASSERT_TRUE(RegisterBuiltinExporters(registry).ok());
  EXPECT_EQ(registry.Names(),
            "chrome, memory_timeline, perfetto, stacks, summary, "
            "tensorboard");
  EXPECT_EQ(RegisterBuiltinExporters(registry).code(),
            absl::StatusCode::kAlreadyExists);
}

// What every exporter must do, whatever its format.
class ExporterConformanceTest : public ::testing::TestWithParam<const char*> {
 protected:
  ExporterConformanceTest() {
    EXPECT_TRUE(RegisterBuiltinExporters(registry_).ok());
  }
  const TraceExporter& exporter() const { return *registry_.Find(GetParam()); }

  ExporterRegistry registry_;
};

TEST_P(ExporterConformanceTest, SaysWhatItIs) {
  EXPECT_EQ(exporter().info().name, GetParam());
  EXPECT_FALSE(exporter().info().purpose.empty());
}

TEST_P(ExporterConformanceTest, EmptyTraceGivesFiles) {
  EXPECT_FALSE(Export(exporter(), TestTrace().Build()).empty());
}

TEST_P(ExporterConformanceTest, OddTraceGivesTheSameBytesTwice) {
  TestTrace t;
  t.AddProcess(1, std::string_view("\0\xFF;\n", 4));
  const auto main = t.AddThread(1, 1, "");
  t.AddRange(main, "", 0, 0);
  t.AddRange(main, std::string(100'000, 'x'), 0, 10);
  t.AddInstant(main, "\xC3", 5);
  t.AddSample(main, 5, 1, {"", "\xFF"}, "");
  t.AddSample(main, 5, -1, {});
  t.AddCounter(main, "", 5, 1.0 / 0.0);
  t.data().memory.push_back({.track = main,
                             .device_type = 99,
                             .device_index = 7,
                             .time_ns = -5,
                             .address = ~uint64_t{0},
                             .bytes = -(int64_t{1} << 50),
                             .total_allocated = -1});
  for (int i = 0; i < static_cast<int>(model::Loss::kCount); ++i) {
    t.data().ledger.Add(static_cast<model::Loss>(i), ~uint64_t{0});
  }
  const model::Trace trace = std::move(t).Build();
  const Exported files = Export(exporter(), trace);
  EXPECT_TRUE(Export(exporter(), trace) == files);
  for (const auto& [name, text] : files) {
    if (name.ends_with(".json")) ParseJson(text);
  }
}

TEST_P(ExporterConformanceTest, UnwritableFolderIsAnError) {
  OutputDirectory out("/proc/self/nowhere");
  EXPECT_FALSE(exporter().Export(TestTrace().Build(), {}, out).ok());
}

INSTANTIATE_TEST_SUITE_P(Builtin, ExporterConformanceTest,
                         ::testing::Values("chrome", "memory_timeline",
                                           "perfetto", "stacks", "summary",
                                           "tensorboard"));

}  // namespace
}  // namespace kymo
