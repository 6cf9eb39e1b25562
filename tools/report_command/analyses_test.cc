#include "tools/report_command/analyses.h"

#include <utility>

#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::tools {
namespace {

model::Trace LaunchingTrace() {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "mm", 1'000, 5'000);
  t.AddRange(main, "launch", 2'000, 3'000, model::ActivityType::kCudaRuntime);
  t.Describe(5);
  const auto stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "gemm", 4'000, 8'000,
             model::ActivityType::kConcurrentKernel);
  t.Describe(5);
  return std::move(t).Build();
}

TEST(AnalysesTest, TextHasATitleForEach) {
  const std::vector<std::string> names = {"device_kernels", "device_copies"};
  const std::string text =
      AnalysesText(LaunchingTrace(), names, TextFormat::kText, {});
  EXPECT_TRUE(text.starts_with("device_kernels: kernels by name\n")) << text;
  EXPECT_NE(text.find("gemm"), std::string::npos);
  EXPECT_NE(text.find("bandwidth\n(nothing)\n"), std::string::npos) << text;
}

TEST(AnalysesTest, JsonAndCsvHaveEveryValue) {
  const std::vector<std::string> names = {"device_kernels"};
  std::string json =
      AnalysesText(LaunchingTrace(), names, TextFormat::kJson, {});
  std::erase_if(json, [](char c) { return c == ' ' || c == '\n'; });
  EXPECT_NE(json.find(R"("total_ns":4000)"), std::string::npos) << json;
  const std::string csv =
      AnalysesText(LaunchingTrace(), names, TextFormat::kCsv, {});
  EXPECT_TRUE(csv.starts_with("name,kind,")) << csv;
  EXPECT_NE(csv.find("\r\ngemm,"), std::string::npos) << csv;
}

TEST(AnalysesTest, RowsAreLimitedInEveryFormat) {
  const std::vector<std::string> names = {"device_kernels"};
  for (const TextFormat format :
       {TextFormat::kText, TextFormat::kCsv, TextFormat::kJson}) {
    EXPECT_EQ(AnalysesText(LaunchingTrace(), names, format, {.row_limit = 0})
                  .find("gemm"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace kymo::tools
