// Every counter of the loss ledger is shown everywhere, and forced by a test.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "exporters/builtin/builtin_exporters.h"
#include "gtest/gtest.h"
#include "profiler/base/strings.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/loss_table.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/sink.h"
#include "profiler/report/ledger_text.h"
#include "tests/support/test_trace.h"

namespace kymo::reliability {
namespace {

using model::Loss;

constexpr uint64_t kSome = 314'159;

std::vector<Loss> AllLosses() {
  std::vector<Loss> all;
  for (int i = 0; i < static_cast<int>(Loss::kCount); ++i) {
    all.push_back(static_cast<Loss>(i));
  }
  return all;
}

model::Trace TraceThatLost(Loss loss) {
  TestTrace t;
  t.SetWindow(0, 1'000);
  t.AddProcess(1, "program");
  t.AddRange(t.AddThread(1, 1, "main"), "range", 100, 900);
  t.data().ledger.Add(loss, kSome);
  return std::move(t).Build();
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// All files that an exporter writes of the trace, joined.
std::string Export(const char* exporter, const model::Trace& trace) {
  ExporterRegistry exporters;
  EXPECT_TRUE(RegisterBuiltinExporters(exporters).ok());
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / exporter;
  std::filesystem::remove_all(folder);
  OutputDirectory out(folder.string());
  const auto names = exporters.Find(exporter)->Export(trace, {}, out);
  EXPECT_TRUE(names.ok()) << names.status();
  std::string text;
  for (const std::string& name : *names) text += ReadFile(folder / name);
  return text;
}

class LedgerTest : public testing::TestWithParam<Loss> {};

TEST_P(LedgerTest, IsShownWithItsNumber) {
  const Loss loss = GetParam();
  const std::string name(model::LossName(loss));
  const model::Trace trace = TraceThatLost(loss);
  const auto shows = [&](const std::string& text) {
    return text.find(name) != std::string::npos &&
           text.find("314159") != std::string::npos;
  };
  const std::string footer = report::LedgerText(trace.ledger());
  EXPECT_TRUE(shows(footer)) << footer;
  EXPECT_EQ(footer.starts_with("Lost: "), model::IsLoss(loss)) << footer;
  EXPECT_TRUE(shows(Export("summary", trace)));
  EXPECT_TRUE(shows(Export("chrome", trace)));
  // Perfetto's file has the number in binary.
  EXPECT_NE(Export("perfetto", trace).find(name), std::string::npos);
  // XProf shows warnings. Notes are no warnings.
  if (model::IsLoss(loss)) {
    EXPECT_NE(Export("tensorboard", trace).find("314159"), std::string::npos);
  }
}

// --strict asks this; tests/e2e shows that the command then fails.
TEST_P(LedgerTest, IsALossForStrictUnlessItIsANote) {
  EXPECT_EQ(TraceThatLost(GetParam()).ledger().AnythingLost(),
            model::IsLoss(GetParam()));
}

// The test that forces each loss.
struct ForcingTest {
  const char* file;
  const char* name;
};
constexpr ForcingTest kForcingTests[] = {
#define KYMO_FORCING_TEST(id, name, severity, meaning, file, test) {file, test},
    KYMO_LOSS_TABLE(KYMO_FORCING_TEST)
#undef KYMO_FORCING_TEST
};

TEST_P(LedgerTest, IsForcedByATest) {
  const ForcingTest& test = kForcingTests[static_cast<size_t>(GetParam())];
  // The runfiles are links into the workspace.
  const std::filesystem::path here =
      std::filesystem::canonical(std::getenv("KYMO_TEST_SOURCE"));
  const std::filesystem::path root =
      here.parent_path().parent_path().parent_path();
  const std::regex definition(absl::StrCat(
      "TEST(_[FP])?\\(\\w+,\\s+", test.name, "\\)|def ", test.name, "\\("));
  EXPECT_TRUE(std::regex_search(ReadFile(root / test.file), definition))
      << test.file << " has no test " << test.name;
}

INSTANTIATE_TEST_SUITE_P(Losses, LedgerTest, testing::ValuesIn(AllLosses()),
                         [](const auto& info) {
                           return std::string(model::LossName(info.param));
                         });

}  // namespace
}  // namespace kymo::reliability
