#include "tools/report_command/large_recording.h"

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/statusor.h"
#include "exporters/builtin/builtin_exporters.h"
#include "profiler/plugin/trace_importer.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_importer.h"
#include "tools/report_command/command.h"

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr char kRanges[] =
    "range outer 7 1 100 200\n"
    "range inner 7 1 150 180\n";

// Files that are larger than memory.
class LargeRecordingTest : public testing::Test {
 protected:
  LargeRecordingTest() {
    EXPECT_TRUE(importers_.Register(std::make_unique<FakeImporter>()).ok());
    EXPECT_TRUE(RegisterBuiltinExporters(exporters_).ok());
    command_.files = {WriteFake(
        "large", std::string("large 41943040 104857600 31457280\n") + kRanges)};
    command_.table.sort_by = "auto";
  }

  absl::StatusOr<std::optional<LargeTrace>> Open() const {
    return OpenInWindows(command_, {}, importers_);
  }

  absl::StatusOr<WindowReport> Report() const {
    absl::StatusOr<std::optional<LargeTrace>> large = Open();
    EXPECT_TRUE(large.ok()) << large.status();
    return ReportInWindows(command_, exporters_, large->value());
  }

  std::string Refusal() const {
    const absl::Status status = Report().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    return std::string(status.message());
  }

  ImporterRegistry importers_;
  ExporterRegistry exporters_;
  ReportCommand command_;
};

TEST_F(LargeRecordingTest, HasTheTableAndTheStacks) {
  command_.exporters = {"stacks", "summary"};
  const auto report = Report();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->table, HasSubstr("outer"));
  EXPECT_THAT(report->table, HasSubstr("Self CPU time total: 0.100us"));
  EXPECT_THAT(report->notes,
              ElementsAre(HasSubstr("read in 1 windows: 2 events"), "a fake"));
  MemoryDirectory out;
  ASSERT_TRUE(
      exporters_.Find("stacks")->ExportSums(report->sums, {}, out).ok());
  EXPECT_THAT(out.files(), ElementsAre(Pair("stacks.folded",
                                            "process 7;outer 70\n"
                                            "process 7;outer;inner 30\n")));
}

TEST_F(LargeRecordingTest, WhatNeedsTheWholeTraceSaysWhatToDo) {
  command_.exporters = {"stacks", "chrome"};
  EXPECT_EQ(Refusal(),
            "--export=chrome needs the whole trace, which takes 100 MiB of "
            "memory (40 MiB of records); 30 MiB may be used. Part by part "
            "this command can make the table by name, as text or CSV, and "
            "--export=html,stacks,summary. Try a machine with more memory, a "
            "shorter recording, or --fake_option=0");
}

TEST_F(LargeRecordingTest, SettingsMayNeedTheWholeTrace) {
  command_.exporters = {"stacks"};
  command_.settings["stacks_metric"] = "count";
  EXPECT_THAT(Refusal(),
              HasSubstr("--stacks_metric=count needs the whole trace"));
  command_.exporters = {};
  EXPECT_TRUE(Report().ok());
}

TEST_F(LargeRecordingTest, WhatFitsIntoMemoryIsReadAtOnce) {
  command_.files = {WriteFake("small", kRanges)};
  EXPECT_FALSE(Open()->has_value());
}

TEST_F(LargeRecordingTest, SeveralFilesAreReadAtOnce) {
  command_.files.push_back(WriteFake("small", kRanges));
  EXPECT_FALSE(Open()->has_value());
  command_.files.pop_back();
  EXPECT_TRUE(Open()->has_value());
  command_.diff = true;
  EXPECT_FALSE(Open()->has_value());
}

TEST_F(LargeRecordingTest, AFileThatIsNotThereIsAnError) {
  command_.files = {"/no/such/file"};
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kNotFound);
}

// --- command.h ---

// Notes what it is asked to fold.
class FoldingImporter : public FakeImporter {
 public:
  explicit FoldingImporter(std::string* fold_above)
      : fold_above_(*fold_above) {}
  absl::StatusOr<ImportedTrace> Import(
      const std::string& path, const ImportOptions& options) const override {
    const auto asked = options.settings.find("raw_fold_above");
    fold_above_ = asked == options.settings.end() ? "" : asked->second;
    return FakeImporter::Import(path, options);
  }

 private:
  std::string& fold_above_;
};

TEST(SumsOfTheHeapTest, AreEnoughUnlessSomethingShowsMore) {
  std::string fold_above;
  ImporterRegistry importers;
  ASSERT_TRUE(
      importers.Register(std::make_unique<FoldingImporter>(&fold_above)).ok());
  ExporterRegistry exporters;
  ASSERT_TRUE(RegisterBuiltinExporters(exporters).ok());
  const std::string file = testing::TempDir() + "/sums_of";
  std::ofstream(file) << "fake\nrange work 7 8 1000 3000\n";
  const auto asked = [&](std::vector<std::string> words) {
    words.insert(
        words.end(),
        {"--quiet", "--output_dir=" + testing::TempDir() + "/sums_out", file});
    testing::internal::CaptureStdout();
    EXPECT_EQ(RunReport(words, importers, exporters), 0);
    testing::internal::GetCapturedStdout();
    return fold_above;
  };
  EXPECT_EQ(asked({}), "0");
  EXPECT_EQ(asked({"--export=stacks,summary"}), "0");
  EXPECT_EQ(asked({"--export=stacks,chrome"}), "");
  EXPECT_EQ(asked({"--export=perfetto"}), "");
  EXPECT_EQ(asked({"--export=memory_timeline"}), "");
  EXPECT_EQ(asked({"--analysis=threads"}), "");
  EXPECT_EQ(asked({"--sql=SELECT 1"}), "");
}

}  // namespace
}  // namespace kymo::tools
