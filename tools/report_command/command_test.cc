#include "tools/report_command/command.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/builtin/builtin_exporters.h"
#include "importers/builtin/builtin_importers.h"
#include "tests/support/test_importer.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

// PyTorch's table of kTrace.
constexpr char kTable[] =
    R"(---------  ------------  ------------  ------------  ------------  ------------  ------------  
     Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  
---------  ------------  ------------  ------------  ------------  ------------  ------------  
    outer        62.50%       5.000us       100.00%       8.000us       8.000us             1  
    inner        37.50%       3.000us        37.50%       3.000us       3.000us             1  
---------  ------------  ------------  ------------  ------------  ------------  ------------  
Self CPU time total: 8.000us
)";

constexpr char kEvents[] =
    R"({"ph":"X","cat":"cpu_op","name":"outer","pid":7,"tid":7,"ts":1,"dur":8},
       {"ph":"X","cat":"cpu_op","name":"inner","pid":7,"tid":7,"ts":2,"dur":3})";
const std::string kTrace = std::string(R"({"traceEvents":[)") + kEvents + "]}";

class CommandTest : public testing::Test {
 protected:
  struct Ended {
    int status;
    std::string out;
    std::string err;
  };

  void SetUp() override {
    std::string pattern = testing::TempDir() + "/report_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = fs::canonical(pattern);
    setenv("BUILD_WORKING_DIRECTORY", folder_.c_str(), 1);
    ASSERT_TRUE(RegisterBuiltinImporters(importers_).ok());
    ASSERT_TRUE(importers_.Register(std::make_unique<FakeImporter>()).ok());
    ASSERT_TRUE(RegisterBuiltinExporters(exporters_).ok());
  }
  void TearDown() override {
    unsetenv("BUILD_WORKING_DIRECTORY");
    fs::remove_all(folder_);
  }

  Ended Run(const Words& words) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = RunReport(words, importers_, exporters_);
    Ended ended = {status, testing::internal::GetCapturedStdout(),
                   testing::internal::GetCapturedStderr()};
    return ended;
  }

  // Makes a file of the folder, and returns its path.
  std::string File(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ + "/" + name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  std::string Content(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  std::string folder_;
  ImporterRegistry importers_;
  ExporterRegistry exporters_;
};

TEST_F(CommandTest, PrintsWhatItIsAskedFor) {
  const Ended version = Run({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out, "kymo 0.1.0\n");
  const Ended help = Run({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, StartsWith("NAME\n    kymo report - "));
  const Ended list = Run({"--list"});
  EXPECT_EQ(list.status, 0);
  EXPECT_THAT(list.out, StartsWith("ANALYSES\n"));
  EXPECT_EQ(version.err + help.err + list.err, "");
}

TEST_F(CommandTest, TheBuiltinPluginsAreThere) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(RunReport({"--list"}), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              AllOf(HasSubstr("\n    nvprof\n"), HasSubstr("\n    chrome\n"),
                    HasSubstr("\n    perfetto\n")));
}

TEST_F(CommandTest, WrongWordsAreUsageErrors) {
  const Ended nothing = Run({});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_EQ(
      nothing.err,
      "kymo: no file; usage: kymo report [flags] FILE ... (see --help)\n");
  const Ended topic = Run({"--help=weather"});
  EXPECT_EQ(topic.status, 2);
  EXPECT_EQ(topic.out, "");
  EXPECT_THAT(topic.err, StartsWith("kymo: --help has no topic 'weather'; "));
}

TEST_F(CommandTest, PrintsTheTableAndNothingElse) {
  const Ended ended = Run({File("t.json", kTrace)});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, kTable);
  EXPECT_EQ(ended.err, "");
  EXPECT_FALSE(fs::exists(folder_ + "/kymo-out"));
}

TEST_F(CommandTest, OldSpellingsAreSaidUnlessItIsQuiet) {
  const std::string file = File("t.json", kTrace);
  EXPECT_EQ(Run({"--timeline_form=raw", file}).err,
            "kymo: --timeline_form is now --memory_timeline_form\n");
  EXPECT_EQ(Run({"--timeline_form=raw", "--quiet", file}).err, "");
}

TEST_F(CommandTest, TextCannotDriveTheTerminal) {
  const std::string file = File(
      "t.json",
      R"({"traceEvents":[{"ph":"X","name":"a\u001b[2J","pid":7,"tid":7,"ts":1,
          "dur":8}]})");
  EXPECT_THAT(Run({file, "--header=b\x1b[2J"}).out,
              AllOf(HasSubstr("b\\x1b[2J\n"), HasSubstr(" a\\x1b[2J ")));
  EXPECT_THAT(Run({file, "--format=json"}).out,
              HasSubstr("\"name\": \"a\\u001b[2J\""));
}

TEST_F(CommandTest, FindingsAndLossesAreOnStandardError) {
  const std::string file =
      File("t.json", std::string(R"({"traceEvents":[{"ph":"?"},{"ph":"?"},
           {"ph":"X","name":"a","pid":1,"tid":1,"ts":9},
           {"ph":"X","name":"x","pid":1,"tid":1,"ts":5,"dur":1,"odd":1},)") +
                         kEvents + "]}");
  const Ended ended = Run({file});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(
      ended.err,
      MatchesRegex("kymo: " + file +
                   ": an event is of a kind that traces do not keep; it was "
                   "left out \\(2 times\\); --check says more\n"
                   "kymo: " +
                   file +
                   ": a complete event has no duration; it was taken as 0; "
                   "--check says more\n"
                   "Lost: 2 events_not_imported \\(.*\\)\n"));
  EXPECT_EQ(Run({file, "--quiet"}).err, "");
}

TEST_F(CommandTest, ChecksFiles) {
  const std::string file = File("t.json", kTrace);
  const Ended clean = Run({"--check", file});
  EXPECT_EQ(clean.status, 0);
  EXPECT_EQ(clean.out, "nothing found in " + file + " (2 events)\n");
  const Ended broken =
      Run({"--check", "--format=csv",
           File("broken.json", kTrace.substr(0, kTrace.size() - 2))});
  EXPECT_EQ(broken.status, 3);
  EXPECT_THAT(broken.out, HasSubstr("\r\nerror,truncated,1,byte "));
}

TEST_F(CommandTest, SaysThatItAddsUpSeparateRuns) {
  const std::string first =
      File("first", "fake\nwindow 100 200\nrange a 7 1 100 110\n");
  const std::string later =
      File("later", "fake\nwindow 300 400\nrange a 7 1 300 310\n");
  EXPECT_EQ(Run({first, later}).err,
            "kymo: " + first + " and " + later +
                " were not recorded at the same time: rows of the same name "
                "are added up; --diff compares two runs\n");
  EXPECT_EQ(Run({first, first}).err, "");
}

TEST_F(CommandTest, SaysWhereColumnsAre) {
  const Ended ended =
      Run({File("t.json", kTrace), "--sql=select dur from events"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, HasSubstr("no such column: dur\n"));
  EXPECT_THAT(ended.err, HasSubstr("\n  .tables and .schema TABLE in the shell "
                                   "(--sql=-) show what there is"));
}

TEST_F(CommandTest, AnAnswerIsFollowedByOneLineOfLosses) {
  const std::string file =
      File("t.json", std::string(R"({"traceEvents":[{"ph":"?"},{"ph":"?"},
           {"ph":"X","name":"a","pid":1,"tid":1,"ts":9},)") +
                         kEvents + "]}");
  const Ended answer = Run({file, "--sql=select 1 as one"});
  EXPECT_EQ(answer.status, 0);
  EXPECT_EQ(answer.err, "kymo: 3 losses or notes: see --check\n");
  EXPECT_EQ(Run({file, "--sql=select 1 as one", "--quiet"}).err, "");
  EXPECT_THAT(Run({file, "--sql=select"}).err,
              AllOf(StartsWith("kymo: "), Not(HasSubstr("--check"))));
  EXPECT_EQ(Run({File("w.json", kTrace), "--sql=select 1 as one"}).err, "");
}

TEST_F(CommandTest, ComparesTwoFiles) {
  const std::string file = File("t.json", kTrace);
  const Ended ended = Run({"--diff", file, file});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("0 slower, 0 faster, 0 new, 0 gone, 2 same"
                                   "\n"));
  File("two/rank0.pt.trace.json", kTrace);
  EXPECT_EQ(Run({"--diff", file, folder_ + "/two"}).status, 0);
  File("two/rank1.pt.trace.json", kTrace);
  const Ended three = Run({"--diff", file, folder_ + "/two"});
  EXPECT_EQ(three.status, 2);
  EXPECT_EQ(three.err, "kymo: --diff compares files, and '" + folder_ +
                           "/two' has several traces: name one\n");
  const Ended missing = Run({"--diff", file, "/none"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("/none"));
}

TEST_F(CommandTest, ComparesSeveralRuns) {
  const std::string base = File("base/1.json", kTrace);
  const std::string head = File("head/1.json", kTrace);
  const Ended same =
      Run({"--diff", base, base, head, head, "--fail_if=calls>0"});
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("2 runs of base, 2 of head\n"));
  const Ended few = Run({"--diff", base, base, head, "--fail_if=self_cpu>0"});
  EXPECT_EQ(few.status, 1);
  EXPECT_THAT(few.err, HasSubstr("2 and 1 runs are too few"));
  File("head/2.json", kTrace);
  std::string more = kTrace;
  more.insert(more.find("{\"ph\""),
              R"({"ph": "X", "cat": "cpu_op", "name": "extra", "pid": 1,
                  "tid": 1, "ts": 1, "dur": 1},)");
  const std::string changed = File("head/3.json", more);
  const Ended over =
      Run({"--diff", base, base, "--fail_if=calls>0", changed, changed});
  EXPECT_EQ(over.status, 4) << over.err;
  EXPECT_THAT(over.err, HasSubstr("calls>0: calls of extra went from 0 to 1"));
}

TEST_F(CommandTest, KeepsAHistory) {
  const std::string db = "--append=" + folder_ + "/h.db";
  std::string trace = kTrace;
  for (int i = 0; i < 4; ++i) {
    if (i == 2) {
      trace.insert(trace.find("{\"ph\""),
                   R"({"ph": "X", "cat": "cpu_op", "name": "extra", "pid": 1,
                       "tid": 1, "ts": 1, "dur": 1},)");
    }
    const Ended added =
        Run({File("t.json", trace), db, "--run_name=r" + std::to_string(i)});
    EXPECT_EQ(added.status, 0) << added.err;
    EXPECT_THAT(added.err, HasSubstr("appended run r" + std::to_string(i)));
  }
  const std::string other = File("u.json", trace);
  EXPECT_THAT(Run({other, other, "--append=" + folder_ + "/two.db"}).err,
              testing::ContainsRegex("appended run.*\n.*appended run"));
  const std::string page = folder_ + "/h.html";
  const Ended shown =
      Run({"--history=" + folder_ + "/h.db", "--history_page=" + page});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, testing::ContainsRegex("r2 +calls +extra +0 +1 +new"));
  EXPECT_TRUE(std::filesystem::exists(page));
  EXPECT_EQ(Run({"--history=" + folder_ + "/none.db"}).status, 1);
}

TEST_F(CommandTest, WritesWhatItIsAskedToExport) {
  const std::string file = File("t.json", kTrace);
  const Ended ended = Run({file, "--export=stacks", "--output_dir=out"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, kTable);
  EXPECT_EQ(ended.err, "kymo: wrote out\n");
  EXPECT_EQ(Content("out/stacks.folded"),
            "process 7;outer 5000\nprocess 7;outer;inner 3000\n");
  EXPECT_THAT(Content("out/.kymo-files"), HasSubstr("stacks.folded\t"));
  EXPECT_EQ(Run({file, "--export=stacks", "--output_dir=out", "--quiet"}).err,
            "");
  EXPECT_THAT(
      Run({file, "--export=chrome", "--output_dir=large", "--max_file_mib=1"})
          .err,
      EndsWith("kymo: wrote large\n"));
}

TEST_F(CommandTest, QuietHidesWhatFilesLack) {
  const Words small = {File("t.json", kTrace), "--export=html",
                       "--max_size=10KiB", "--output_dir=out"};
  EXPECT_THAT(Run(small).err, HasSubstr("kymo: report.html is left out: "));
  Words quiet = small;
  quiet.push_back("--quiet");
  EXPECT_EQ(Run(quiet).err, "");
}

TEST_F(CommandTest, FoldersAreNamedAfterTheFile) {
  for (const auto& [name, stem] : {std::pair("runs/step.trace.json", "step"),
                                   {"plain", "plain"},
                                   {"runs/.json", "trace"}}) {
    EXPECT_THAT(Run({File(name, kTrace), "--export=stacks"}).err,
                MatchesRegex("kymo: wrote kymo-out/" + std::string(stem) +
                             "-[0-9]{8}-[0-9]{6}(-[0-9]+)?\n"));
  }
}

TEST_F(CommandTest, WhatCannotBeReadOrWrittenIsSaid) {
  const Ended missing = Run({"/no/such/file"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, AllOf(StartsWith("kymo: "),
                                 HasSubstr("/no/such/file"), EndsWith("\n")));
  const Ended empty = Run({folder_});
  EXPECT_EQ(empty.status, 1);
  EXPECT_THAT(empty.err, HasSubstr(" has no trace.json, "));
  const std::string file = File("t.json", kTrace);
  EXPECT_EQ(Run({file, "--export=stacks", "--output_dir=t.json"}).status, 1);
  EXPECT_EQ(Run({file, "--importer=nvprof"}).status, 1);
  File("small/trace.json", kTrace);
  EXPECT_EQ(Run({folder_ + "/small"}).out, kTable);
}

TEST_F(CommandTest, APipeHasItsName) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto run_with = [&](const std::string& text, Words words) {
    std::jthread writer([&] { std::ofstream(pipe) << text; });
    words.push_back(pipe);
    return Run(words);
  };
  EXPECT_EQ(run_with(kTrace, {"--check"}).out,
            "nothing found in " + pipe + " (2 events)\n");
  const Ended broken = run_with("hello", {});
  EXPECT_EQ(broken.status, 1);
  EXPECT_THAT(broken.err, HasSubstr(pipe));
  EXPECT_THAT(broken.err, Not(HasSubstr("/proc/self")));
}

TEST_F(CommandTest, SettingsReachTheImporter) {
  // More than the megabyte that a packed file may unpack to.
  const std::string file =
      File("t.json", "{\"pad\":\"" + std::string(1 << 21, ' ') + "\"," +
                         kTrace.substr(1));
  ASSERT_EQ(system(("gzip -k " + file).c_str()), 0);
  EXPECT_EQ(Run({file + ".gz"}).out, kTable);
  EXPECT_NE(Run({file + ".gz", "--max_unpacked_mib=1"}).out, kTable);
}

// Files that are larger than memory, as the fake importer says.
TEST_F(CommandTest, LargeFilesHaveTheTableAndSums) {
  const std::string file = File("large",
                                "fake\nlarge 41943040 104857600 31457280\n"
                                "range outer 7 1 1000 9000\n"
                                "range inner 7 1 2000 5000\n");
  const Ended plain = Run({file});
  EXPECT_EQ(plain.status, 0);
  EXPECT_EQ(plain.out, kTable);
  EXPECT_EQ(plain.err, "kymo: read in 1 windows: 2 events\nkymo: a fake\n");
  EXPECT_FALSE(fs::exists(folder_ + "/kymo-out"));
  const Ended written =
      Run({file, "--export=stacks,summary", "--output_dir=out"});
  EXPECT_EQ(written.err, plain.err + "kymo: wrote out\n");
  EXPECT_EQ(Content("out/stacks.folded"),
            "process 7;outer 5000\nprocess 7;outer;inner 3000\n");
  EXPECT_TRUE(fs::exists(folder_ + "/out/summary.json"));
  const Ended quiet =
      Run({file, "--quiet", "--export=stacks", "--output_dir=out"});
  EXPECT_EQ(quiet.out, kTable);
  EXPECT_EQ(quiet.err, "");
  EXPECT_THAT(Run({file, "--export=stacks"}).err,
              ContainsRegex("\nkymo: wrote kymo-out/large-"));
  EXPECT_EQ(Run({file, "--export=stacks", "--output_dir=large"}).status, 1);
  const Ended refused = Run({file, "--check"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, StartsWith("kymo: --check needs the whole trace"));
}

}  // namespace
}  // namespace kymo::tools
