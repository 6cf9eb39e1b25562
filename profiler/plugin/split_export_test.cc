#include "profiler/plugin/split_export.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "profiler/base/status_macros.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using model::Trace;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A line of ten bytes for each event.
class LineExporter : public TraceExporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }
  absl::StatusOr<std::vector<std::string>> Export(
      const Trace& trace, const ExportOptions&,
      OutputDirectory& out) const override {
    EXPECT_TRUE(model::ValidateTrace(trace).ok());
    KYMO_ASSIGN_OR_RETURN(auto sink, out.Open("a/lines.json.gz"));
    for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
      std::string line(trace.EventName(i));
      line.resize(9, ' ');
      KYMO_RETURN_IF_ERROR(sink->Append(line + "\n"));
    }
    KYMO_RETURN_IF_ERROR(sink->Commit());
    return std::vector<std::string>{"a/lines.json.gz"};
  }
  PluginInfo info_ = {.name = "lines", .splits_by_step = true};
};

class MemoryDirectory : public OutputDirectory {
 public:
  MemoryDirectory() : OutputDirectory("memory") {}
  absl::StatusOr<std::unique_ptr<ByteSink>> Open(
      std::string_view name) override {
    return NewStringSink(&files[std::string(name)]);
  }
  void Remove(std::string_view name) noexcept override {
    files.erase(std::string(name));
  }
  std::map<std::string, std::string> files;
};

// Is full at the second file.
class FullDirectory : public MemoryDirectory {
 public:
  absl::StatusOr<std::unique_ptr<ByteSink>> Open(
      std::string_view name) override {
    if (!files.empty()) return absl::ResourceExhaustedError("full");
    return MemoryDirectory::Open(name);
  }
};

// Steps 0..n-1 of `operations` each, all within "run"; "setup" stands before.
Trace Steps(int n, int operations) {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "setup", 0, 5);
  t.AddRange(main, "run", 10, 10 + 1'000 * n);
  for (int i = 0; i < n; ++i) {
    const int start = 10 + 1'000 * i;
    t.AddAnnotation(main, absl::StrCat("ProfilerStep#", i), start, start + 990);
    for (int j = 0; j < operations; ++j) {
      t.AddRange(main, absl::StrCat("op", i, "_", j), start + j, start + j + 1);
    }
  }
  return std::move(t).Build();
}

// Names in all files, each as often as it comes.
std::multiset<std::string> Names(const MemoryDirectory& out) {
  std::multiset<std::string> names;
  for (const auto& [name, text] : out.files) {
    for (const absl::string_view line :
         absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      names.insert(std::string(line.substr(0, line.find(' '))));
    }
  }
  return names;
}

TEST(SplitExportTest, SmallEnoughStaysWhole) {
  MemoryDirectory out;
  const auto files = ExportWithin(1'000, LineExporter(), Steps(4, 10), {}, out);
  ASSERT_TRUE(files.ok());
  EXPECT_THAT(files->names, ElementsAre("a/lines.json.gz"));
  EXPECT_THAT(files->notice, IsEmpty());
}

TEST(SplitExportTest, EveryEventIsInOneFileAndRangesAroundItAreRepeated) {
  MemoryDirectory out;
  const auto files = ExportWithin(250, LineExporter(), Steps(4, 10), {}, out);
  ASSERT_TRUE(files.ok());
  EXPECT_THAT(files->notice, IsEmpty());
  EXPECT_THAT(files->names, ElementsAre("a/lines.steps_0-1.json.gz",
                                        "a/lines.steps_2-3.json.gz"));
  for (const auto& [name, text] : out.files) {
    EXPECT_LE(text.size(), 250) << name;
    EXPECT_THAT(text, HasSubstr("run "));
  }
  std::multiset<std::string> names = Names(out);
  EXPECT_EQ(names.count("run"), 2);
  names.erase(names.find("run"));
  MemoryDirectory whole;
  ASSERT_TRUE(
      ExportWithin(10'000, LineExporter(), Steps(4, 10), {}, whole).ok());
  EXPECT_EQ(names, Names(whole));
}

TEST(SplitExportTest, StepsOfUnevenSizeAreHalvedUntilTheyFit) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 8; ++i) {
    const int start = 1'000 * i;
    t.AddAnnotation(main, absl::StrCat("ProfilerStep#", i), start, start + 990);
    for (int j = 0; j < (i < 2 ? 20 : 1); ++j) {
      t.AddRange(main, "op", start + j, start + j + 1);
    }
  }
  MemoryDirectory out;
  const auto files =
      ExportWithin(300, LineExporter(), std::move(t).Build(), {}, out);
  ASSERT_TRUE(files.ok());
  EXPECT_THAT(files->notice, IsEmpty());
  for (const auto& [name, text] : out.files) EXPECT_LE(text.size(), 300);
  EXPECT_EQ(Names(out).count("op"), 46);
}

TEST(SplitExportTest, AStepThatIsTooLargeIsWrittenWholeAndSaid) {
  MemoryDirectory out;
  const auto files = ExportWithin(60, LineExporter(), Steps(2, 10), {}, out);
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(files->names.size(), 2);
  EXPECT_THAT(files->notice, HasSubstr("step 0 alone"));
  EXPECT_THAT(files->notice, HasSubstr("step 1 alone"));
  EXPECT_EQ(Names(out).count("op1_9"), 1);
}

TEST(SplitExportTest, ATraceWithoutStepsIsWrittenWholeAndSaid) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 10; ++i) t.AddRange(main, "op", 10 * i, 10 * i + 1);
  MemoryDirectory out;
  const auto files =
      ExportWithin(60, LineExporter(), std::move(t).Build(), {}, out);
  ASSERT_TRUE(files.ok());
  EXPECT_THAT(files->names, ElementsAre("a/lines.json.gz"));
  EXPECT_THAT(files->notice, HasSubstr("no steps"));
}

TEST(SplitExportTest, OtherFormatsAreLeftWhole) {
  LineExporter exporter;
  exporter.info_.splits_by_step = false;
  MemoryDirectory out;
  const auto files = ExportWithin(60, exporter, Steps(4, 10), {}, out);
  ASSERT_TRUE(files.ok());
  EXPECT_THAT(files->names, ElementsAre("a/lines.json.gz"));
  EXPECT_THAT(files->notice, HasSubstr("lines: 'a/lines.json.gz' has 460"));
  EXPECT_THAT(files->notice, HasSubstr("cannot be split"));
  MemoryDirectory small;
  EXPECT_THAT(ExportWithin(460, exporter, Steps(4, 10), {}, small)->notice,
              IsEmpty());
}

TEST(SplitExportTest, APartThatCannotBeWrittenTakesTheOthersAway) {
  FullDirectory out;
  EXPECT_EQ(
      ExportWithin(250, LineExporter(), Steps(4, 10), {}, out).status().code(),
      absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(out.files, IsEmpty());
}

TEST(SplitExportTest, PartsSayWhatTheyAre) {
  const Trace trace = Steps(4, 10);
  class MetadataExporter : public LineExporter {
   public:
    absl::StatusOr<std::vector<std::string>> Export(
        const Trace& part, const ExportOptions& options,
        OutputDirectory& out) const override {
      for (const model::Metadata& pair : part.metadata()) {
        seen.insert(std::string(part.Name(pair.json_value)));
      }
      return LineExporter::Export(part, options, out);
    }
    mutable std::set<std::string> seen;
  } exporter;
  MemoryDirectory out;
  ASSERT_TRUE(ExportWithin(250, exporter, trace, {}, out).ok());
  EXPECT_TRUE(exporter.seen.contains(
      R"({"part": 1, "parts": 2, "first_step": 0, "last_step": 1, )"
      R"("repeated_events": 0})"));
  EXPECT_TRUE(exporter.seen.contains(
      R"({"part": 2, "parts": 2, "first_step": 2, "last_step": 3, )"
      R"("repeated_events": 1})"));
  EXPECT_TRUE(exporter.seen.contains("\"" + std::to_string(trace.start_ns()) +
                                     "-" + std::to_string(trace.end_ns()) +
                                     "\""));
}

// An exporter of one file, which first takes away what a name had before.
class NamedExporter : public LineExporter {
 public:
  explicit NamedExporter(std::string name) : name_(std::move(name)) {}
  absl::StatusOr<std::vector<std::string>> Export(
      const Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    EXPECT_EQ(options.progress == nullptr, info_.splits_by_step);
    out.Remove(name_);
    KYMO_ASSIGN_OR_RETURN(auto sink, out.Open(name_));
    KYMO_RETURN_IF_ERROR(
        sink->Append(std::string(10 * trace.event_count(), 'x')));
    KYMO_RETURN_IF_ERROR(sink->Commit());
    return std::vector<std::string>{name_};
  }

 private:
  const std::string name_;
};

TEST(SplitExportTest, PartsAreNamedBeforeTheExtension) {
  const std::pair<const char*, const char*> cases[] = {
      {"a/trace.json", "a/trace.steps_0-0.json"},
      {"trace.json.gz", "trace.steps_0-0.json.gz"},
      {"trace.pftrace.gz", "trace.steps_0-0.pftrace.gz"},
      {"host.x.xplane.pb", "host.x.steps_0-0.xplane.pb"},
      {"host.x.pb", "host.x.steps_0-0.pb"},
      {"plain", "plain.steps_0-0"},
      {"a.d/plain", "a.d/plain.steps_0-0"}};
  for (const auto& [name, part] : cases) {
    MemoryDirectory out;
    // What a part is named stands there from before, and a file that is not.
    out.files[part] = "old";
    out.files["other"] = "old";
    std::vector<double> progress;
    const auto files = ExportWithin(
        150, NamedExporter(name), Steps(2, 10),
        {.progress = [&](double done) { progress.push_back(done); }}, out);
    ASSERT_TRUE(files.ok()) << files.status();
    ASSERT_EQ(files->names.size(), 2u);
    EXPECT_EQ(files->names[0], part);
    EXPECT_EQ(out.files.size(), 3u);
    EXPECT_NE(out.files[part], "old");
    EXPECT_EQ(out.files["other"], "old");
    EXPECT_THAT(progress, ElementsAre(0.5, 1.0));
  }
}

TEST(SplitExportTest, FormatsThatStayWholeTakeTheirOldFilesAway) {
  NamedExporter exporter("whole.txt");
  exporter.info_.splits_by_step = false;
  MemoryDirectory out;
  out.files["whole.txt"] = "old";
  const ExportOptions options = {.progress = [](double) {}};
  // Two steps of ten operations, two ranges around them: 24 events.
  const auto exact = ExportWithin(240, exporter, Steps(2, 10), options, out);
  ASSERT_TRUE(exact.ok());
  EXPECT_EQ(exact->notice, "");
  const auto large = ExportWithin(239, exporter, Steps(2, 10), options, out);
  EXPECT_EQ(large->notice,
            "lines: 'whole.txt' has 240 bytes: this format cannot be split at "
            "steps");
  EXPECT_EQ(out.files["whole.txt"], std::string(240, 'x'));
}

// Takes away what an earlier run may have left.
class TidyExporter : public LineExporter {
 public:
  absl::StatusOr<std::vector<std::string>> Export(
      const Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    auto names = LineExporter::Export(trace, options, out);
    out.Remove("old.json");
    return names;
  }
};

// The size is measured by an export without a folder.
TEST(SplitExportTest, MeasuringTakesNothingFromTheCurrentFolder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(testing::TempDir());
  std::ofstream("old.json") << "the user's";
  MemoryDirectory out;
  const auto files = ExportWithin(250, TidyExporter(), Steps(4, 10), {}, out);
  EXPECT_TRUE(files.ok());
  EXPECT_TRUE(std::filesystem::remove("old.json"));
  std::filesystem::current_path(before);
}

TEST(SplitExportTest, StepsAreThoseOfTheThreadThatHasMostOfThem) {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto few = t.AddThread(1, 1, "few");
  t.AddAnnotation(few, "ProfilerStep#7", 100, 200);
  t.AddAnnotation(few, "ProfilerStep#8", 300, 400);
  const auto most = t.AddThread(1, 2, "most");
  t.AddAnnotation(most, "ProfilerStep#", 50, 60);
  t.AddAnnotation(most, "ProfilerStep#x", 70, 80);
  t.AddAnnotation(most, "ProfilerStep#1", 100, 200);
  t.AddAnnotation(most, "ProfilerStep#2", 100, 150);  // of the same beginning
  t.AddAnnotation(most, "ProfilerStep#3", 300, 400);
  t.AddAnnotation(most, "ProfilerStep#40", 500, 600);
  MemoryDirectory out;
  const auto files =
      ExportWithin(1, LineExporter(), std::move(t).Build(), {}, out);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(files->names, ElementsAre("a/lines.steps_1-1.json.gz",
                                        "a/lines.steps_3-3.json.gz",
                                        "a/lines.steps_40-40.json.gz"));
  EXPECT_THAT(files->notice,
              HasSubstr("step 1 alone makes a file of 50 bytes"));
  EXPECT_THAT(files->notice,
              HasSubstr("split; lines: step 3 alone makes a file of 20 bytes"));
}

}  // namespace
}  // namespace kymo
