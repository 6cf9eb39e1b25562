#include "tools/report_command/options.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exporters/builtin/builtin_exporters.h"
#include "profiler/report/analyses.h"
#include "tests/support/test_flag_fuzzer.h"
#include "tests/support/test_importer.h"
#include "tools/report_command/report_flags.h"
#include "tools/report_command/report_manual.h"

namespace kymo::tools {
namespace {

class OptionsTest : public ::testing::Test {
 protected:
  OptionsTest() {
    EXPECT_TRUE(importers_.Register(std::make_unique<FakeImporter>()).ok());
  }
  ReportCommand Parse(const std::vector<std::string>& words) {
    auto command = ParseReport(words, importers_, exporters_);
    EXPECT_TRUE(command.ok()) << command.status();
    return command.ok() ? *command : ReportCommand();
  }
  std::string Error(const std::vector<std::string>& words) {
    const auto command = ParseReport(words, importers_, exporters_);
    EXPECT_EQ(command.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(command.status().message());
  }

  ImporterRegistry importers_;
  ExporterRegistry exporters_;
};

TEST_F(OptionsTest, FilesStandAnywhere) {
  const ReportCommand command =
      Parse({"a.json", "--row_limit=3", "b.json", "--fake_option", "2"});
  EXPECT_EQ(command.files, (std::vector<std::string>{"a.json", "b.json"}));
  EXPECT_EQ(command.table.row_limit, 3);
  EXPECT_EQ(command.settings.at("fake_option"), "2");
}

TEST_F(OptionsTest, DefaultsArePyTorchsTable) {
  const ReportCommand command = Parse({"a"});
  const report::TableOptions defaults;
  EXPECT_EQ(command.table.row_limit, defaults.row_limit);
  EXPECT_EQ(command.table.max_name_column_width,
            defaults.max_name_column_width);
  EXPECT_EQ(command.table.max_src_column_width, defaults.max_src_column_width);
  EXPECT_EQ(command.table.max_shapes_column_width,
            defaults.max_shapes_column_width);
  EXPECT_EQ(command.table.header, defaults.header);
  EXPECT_EQ(command.table.sort_by, "auto");
  EXPECT_TRUE(command.filter.empty());
}

// The switches of a command that are on.
std::vector<std::string> SwitchesOf(const ReportCommand& command) {
  std::vector<std::string> on;
  const auto add = [&](const char* name, bool is_on) {
    if (is_on) on.emplace_back(name);
  };
  add("check", command.check);
  add("diff", command.diff);
  add("quiet", command.quiet);
  add("list", command.list);
  add("version", command.version);
  add("gzip", command.gzip);
  add("view", command.view);
  add("with_flops", command.rows.with_flops);
  add("event", command.rows.single_events);
  add("overload_name", command.rows.grouping.group_by_overload_name);
  add("input_shape", command.rows.grouping.group_by_input_shape);
  add("include_python_functions",
      command.rows.grouping.include_python_functions);
  add("top_level_events_only", command.table.top_level_events_only);
  return on;
}

TEST_F(OptionsTest, ASwitchTurnsOnWhatItSaysAlone) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(SwitchesOf(Parse({"a"})), Names{});
  for (const std::string flag :
       {"check", "quiet", "list", "version", "gzip", "view", "with_flops",
        "include_python_functions", "top_level_events_only"}) {
    EXPECT_EQ(SwitchesOf(Parse({"a", "--" + flag})), Names{flag});
    EXPECT_EQ(SwitchesOf(Parse({"a", "--" + flag + "=0"})), Names{});
  }
  EXPECT_EQ(SwitchesOf(Parse({"a", "b", "--diff"})), Names{"diff"});
  for (const std::string key : {"event", "overload_name", "input_shape"}) {
    EXPECT_EQ(SwitchesOf(Parse({"a", "--group_by=" + key})), Names{key});
  }
  EXPECT_EQ(SwitchesOf(Parse({"a", "--group_by=name,stack"})), Names{});
}

TEST_F(OptionsTest, FlagsWithValuesHaveDefaultsAndBounds) {
  const ReportCommand none = Parse({"a"});
  EXPECT_EQ(none.format, TextFormat::kText);
  EXPECT_EQ(none.rows.grouping.group_by_stack_n, 0u);
  EXPECT_EQ(none.importer, "");
  EXPECT_EQ(none.max_unpacked_bytes, 68'719'476'736);  // 64 GiB
  EXPECT_EQ(none.max_size, 104'857'600u);
  EXPECT_EQ(none.max_file_bytes, 0);
  EXPECT_EQ(none.output_dir, "");
  EXPECT_EQ(none.table.time_unit, "");
  EXPECT_TRUE(none.exporters.empty());
  EXPECT_EQ(Parse({"a", "--group_by=stack"}).rows.grouping.group_by_stack_n,
            5u);
  const ReportCommand all =
      Parse({"a", "--format=json", "--importer=fake", "--max_unpacked_mib=2",
             "--max_size=1KiB", "--max_file_mib=3", "--output_dir=o",
             "--time_unit=ms", "--header=top", "--sort_by=count",
             "--max_name_column_width=0", "--max_src_column_width=-1",
             "--max_shapes_column_width=9"});
  EXPECT_EQ(all.format, TextFormat::kJson);
  EXPECT_EQ(all.importer, "fake");
  EXPECT_EQ(all.max_unpacked_bytes, 2 * 1024 * 1024);
  EXPECT_EQ(all.max_size, 1024u);
  EXPECT_EQ(all.max_file_bytes, 3 * 1024 * 1024);
  EXPECT_EQ(all.output_dir, "o");
  EXPECT_EQ(all.table.time_unit, "ms");
  EXPECT_EQ(all.table.header, "top");
  EXPECT_EQ(all.table.sort_by, "count");
  EXPECT_EQ(all.table.max_name_column_width, 0);
  EXPECT_EQ(all.table.max_src_column_width, std::nullopt);
  EXPECT_EQ(all.table.max_shapes_column_width, 9);
  EXPECT_EQ(Error({"a", "--stack_depth=0"}),
            "--stack_depth is '0'; it takes a whole number from 1 to 64");
  EXPECT_EQ(Error({"a", "--max_unpacked_mib=0"}),
            "--max_unpacked_mib is '0'; it takes a whole number of MiB from 1 "
            "to 1048576");
  Parse({"a", "--stack_depth=64", "--max_unpacked_mib=1048576"});
}

TEST_F(OptionsTest, SqlIsAQueryOrTheNameOfOne) {
  EXPECT_EQ(Parse({"a"}).sql, "");
  EXPECT_EQ(Parse({"a", "--sql", "select 1"}).sql, "select 1");
  EXPECT_EQ(Parse({"a", "--sql", "-"}).sql, "-");
  EXPECT_TRUE(Parse({"a", "--query=slowest_steps"}).sql.starts_with("SELECT"));
  EXPECT_TRUE(Parse({"--query=list"}).lists_queries);
  const QueryLimits limits =
      Parse({"a", "--sql_max_seconds=2", "--sql_max_mib=3"}).sql_limits;
  EXPECT_EQ(limits.max_time_ns, 2'000'000'000);
  EXPECT_EQ(limits.max_memory_bytes, 3 << 20);
  EXPECT_EQ(Parse({"a"}).sql_limits.max_time_ns, 300'000'000'000);
  EXPECT_EQ(Parse({"a", "--sql=x", "--format=markdown"}).format,
            TextFormat::kMarkdown);
}

TEST_F(OptionsTest, SqlIsInsteadOfTables) {
  EXPECT_EQ(Error({"a", "--query=slow"}),
            "there is no query 'slow'; --query=list lists them");
  EXPECT_EQ(Error({"a", "--sql=x", "--query=losses"}),
            "--sql and --query exclude each other");
  EXPECT_EQ(Error({"a", "--sql=x", "--check"}),
            "--sql and --query do not go with --check, --diff or --analysis");
  EXPECT_EQ(Error({"a", "--format=markdown"}),
            "--format=markdown is for --sql, --query, --history and --diff");
}

TEST_F(OptionsTest, FiltersKeepAllTheirParts) {
  using Names = std::vector<std::string>;
  const EventFilter filter =
      Parse({"a", "--name=x+", "--category=cpu_op,kernel", "--thread=7,main",
             "--time=1us..2us"})
          .filter;
  EXPECT_EQ(filter.name, "x+");
  EXPECT_EQ(filter.categories, (Names{"cpu_op", "kernel"}));
  EXPECT_EQ(filter.threads, (Names{"7", "main"}));
  EXPECT_EQ(filter.steps, std::nullopt);
  EXPECT_EQ(filter.begin_ns, 1'000);
  EXPECT_EQ(filter.end_ns, 2'000);
  EXPECT_EQ(Parse({"a", "--time=3us.."}).filter.end_ns, std::nullopt);
  EXPECT_EQ(Parse({"a", "--step=0-0"}).filter.steps, (StepRange{0, 0}));
}

TEST_F(OptionsTest, SidesOfADiff) {
  const auto base = [&](const std::vector<std::string>& words) {
    const ReportCommand command = Parse(words);
    EXPECT_TRUE(command.compares_runs());
    return command.base_files;
  };
  EXPECT_EQ(base({"--diff", "b/1", "b/2", "h/1", "h/2", "h/3"}), 2u);
  EXPECT_EQ(base({"--diff", "1", "2", "3", "--", "4"}), 3u);
  EXPECT_EQ(base({"--diff", "a", "b", "--fail_if=calls>0"}), 1u);
  EXPECT_FALSE(Parse({"--diff", "a", "b"}).compares_runs());
  EXPECT_TRUE(Error({"--diff", "a", "b", "--"}).starts_with("--diff has no"));
  EXPECT_TRUE(Error({"--diff", "a/1", "b/", "c/"}).starts_with("--diff comp"));
  EXPECT_THAT(Error({"--diff", "a", "b", "--fail_if=x>1"}),
              testing::HasSubstr("it takes a list"));
  EXPECT_EQ(Error({"a", "--fail_if=calls>0"}), "--fail_if goes with --diff");
  EXPECT_TRUE(Parse({"--diff", "a", "b", "--format=markdown"}).compares_runs());
  EXPECT_THAT(Error({"--diff", "a", "b", "--fail_if=calls>0", "--format=csv"}),
              testing::HasSubstr("several runs"));
}

TEST_F(OptionsTest, Histories) {
  EXPECT_EQ(Parse({"--history=h.db"}).history, "h.db");
  EXPECT_EQ(Parse({"--append=h.db", "--run_name=8f3", "a"}).run_name, "8f3");
  EXPECT_THAT(Error({"--history=h.db", "a"}),
              testing::HasSubstr("to add one to it: --append"));
  EXPECT_THAT(Error({"--append=h.db", "--check", "a"}),
              testing::HasSubstr("go without --check"));
  EXPECT_EQ(Error({"a", "--run_name=x"}), "--run_name goes with --append");
}

TEST_F(OptionsTest, WhatDoesNotGoTogetherIsSaid) {
  EXPECT_EQ(Error({"--quiet"}),
            "no file; usage: kymo report [flags] FILE ... (see --help)");
  EXPECT_EQ(Error({"a", "b", "--diff", "--check"}),
            "--check and --diff exclude each other");
  EXPECT_EQ(Error({"a", "b", "c", "--diff"}),
            "--diff compares two files, not 3; for several runs of two "
            "programs: --diff base/* head/*, or --diff BASE ... -- HEAD ...");
  EXPECT_EQ(Error({"a", "b", "--diff", "--group_by=event"}),
            "--diff compares groups, not --group_by=event");
  ASSERT_TRUE(RegisterBuiltinExporters(exporters_).ok());
  for (const char* const mode : {"--check", "--diff"}) {
    EXPECT_EQ(Error({"a", "b", mode, "--analysis=device_times"}),
              "--analysis does not go with --check or --diff");
  }
  for (const char* const more : {"--export=html", "--view"}) {
    EXPECT_EQ(Error({"a", "--check", more}),
              "--export and --view do not go with --check");
    EXPECT_EQ(Parse({"a", "b", "--diff", more}).exporters,
              std::vector<std::string>{"html"});
  }
  EXPECT_EQ(Error({"a", "b", "--diff", "--export=chrome"}),
            "--export=chrome compares nothing; with --diff, try "
            "--export=html");
  EXPECT_EQ(
      Parse({"a", "--export=chrome", "--analysis=device_times"}).exporters,
      std::vector<std::string>{"chrome"});
  EXPECT_EQ(Parse({"a", "--export=chrome", "--view"}).exporters,
            (std::vector<std::string>{"chrome", "html"}));
  EXPECT_TRUE(Parse({"--version"}).version);
  EXPECT_EQ(Error({"a", "--analysis=device_times,device_idle", "--format=csv"}),
            "--format=csv takes one --analysis at a time");
  EXPECT_EQ(Parse({"a", "--analysis=device_times", "--format=csv"}).format,
            TextFormat::kCsv);
  Parse({"a", "--analysis=device_times,device_idle", "--format=json"});
}

TEST_F(OptionsTest, GroupsAreLists) {
  const ReportCommand command =
      Parse({"a", "--group_by=name,input_shape,stack", "--stack_depth=3"});
  EXPECT_TRUE(command.rows.grouping.group_by_input_shape);
  EXPECT_EQ(command.rows.grouping.group_by_stack_n, 3);
  EXPECT_FALSE(command.rows.single_events);
  EXPECT_TRUE(Parse({"a", "--group_by=event"}).rows.single_events);
  EXPECT_EQ(Error({"a", "--group_by=colour"}),
            "--group_by is 'colour'; it takes a list, separated by commas, of: "
            "event, input_shape, name, overload_name, stack");
}

TEST_F(OptionsTest, FiltersAreRead) {
  EXPECT_EQ(Parse({"a", "--step=3"}).filter.steps, (StepRange{3, 3}));
  EXPECT_EQ(Parse({"a", "--step=3-5"}).filter.steps, (StepRange{3, 5}));
  EXPECT_EQ(Parse({"a", "--time=1.5ms..2s"}).filter.begin_ns, 1'500'000);
  EXPECT_EQ(Parse({"a", "--time=..2s"}).filter.end_ns, 2'000'000'000);
  EXPECT_FALSE(Parse({"a", "--time=..2s"}).filter.begin_ns.has_value());
  for (const char* const wrong :
       {"--step=x", "--step=5-3", "--step=3-", "--step=-1", "--time=5",
        "--time=1..2", "--time=2s..1s", "--time=1s..1s", "--category=green"}) {
    Error({"a", wrong});
  }
}

TEST_F(OptionsTest, AnalysesAreNamesOrAll) {
  EXPECT_EQ(Parse({"a", "--analysis=device_idle"}).analyses,
            (std::vector<std::string>{"device_idle"}));
  EXPECT_GT(Parse({"a", "--analysis=all"}).analyses.size(), 5);
  EXPECT_TRUE(Parse({"a"}).analyses.empty());
  Error({"a", "--analysis=weather"});
  Error({"a", "--analysis=all", "--format=csv"});
  Error({"a", "--analysis=all", "--check"});
}

TEST_F(OptionsTest, ModesExcludeEachOther) {
  Error({});
  Error({"a", "--diff"});
  Error({"a", "b", "--diff", "--check"});
  EXPECT_TRUE(Parse({"a", "b", "--diff"}).diff);
  EXPECT_TRUE(Parse({"--list"}).list);
  EXPECT_TRUE(Parse({"--help", "--wrong"}).help);
}

TEST_F(OptionsTest, NamesThatNothingHasAreErrors) {
  EXPECT_EQ(Error({"a", "--importer=csv"}),
            "there is no importer 'csv'; it is one of: fake");
  Error({"a", "--export=gif"});
  EXPECT_TRUE(Error({"a", "--sort_by=beauty"}).ends_with(", or nothing"));
  Error({"a", "--format=xml"});
  Error({"a", "--time_unit=h"});
}

TEST_F(OptionsTest, OldSpellingsSayTheNewUnlessTheyAreTheReportsOwn) {
  EXPECT_EQ(Parse({"a"}).rows.device, "");
  // The fake importer's setting was --device, too.
  const ReportCommand command = Parse({"a", "--device=xpu"});
  EXPECT_EQ(command.rows.device, "xpu");
  EXPECT_TRUE(command.settings.empty());
  EXPECT_TRUE(command.notices.empty());
  ASSERT_TRUE(RegisterBuiltinExporters(exporters_).ok());
  EXPECT_EQ(Parse({"a", "--device=xpu"}).rows.device, "xpu");
  EXPECT_EQ(Parse({"a", "--memory_timeline_device=cuda:1"}).settings,
            (SettingMap{{"memory_timeline_device", "cuda:1"}}));
  const ReportCommand old = Parse({"a", "--timeline_form=raw"});
  EXPECT_EQ(old.settings, (SettingMap{{"memory_timeline_form", "raw"}}));
  EXPECT_EQ(old.notices, (std::vector<std::string>{
                             "--timeline_form is now --memory_timeline_form"}));
}

TEST_F(OptionsTest, TheListHasEveryAnalysisAndPlugin) {
  ASSERT_TRUE(RegisterBuiltinExporters(exporters_).ok());
  const std::string list = ReportList(importers_, exporters_);
  std::vector<std::string> names = {"fake", "summary"};
  for (const report::Analysis& analysis : report::Analyses()) {
    names.emplace_back(analysis.name);
  }
  for (const std::string& name : names) {
    EXPECT_NE(list.find("\n    " + name + "\n"), std::string::npos) << name;
  }
}

TEST_F(OptionsTest, EmptyValuesAreErrors) {
  EXPECT_EQ(Error({"a", "--step="}), "--step is ''; it takes N or N-M");
  EXPECT_EQ(Error({"a", "--step", ""}), "--step is ''; it takes N or N-M");
  EXPECT_EQ(Error({"a", "--time_unit="}),
            "--time_unit is ''; it takes one of: s, ms, us");
  EXPECT_EQ(Error({"a", "--thread="}),
            "--thread is ''; it takes a list, separated by commas, of ids, "
            "PID/ID and names");
  EXPECT_EQ(Error({"a", "--name="}),
            "--name is ''; it takes a regular expression");
  EXPECT_EQ(Error({"a", "--header="}),
            "--header is ''; it takes a line of text");
  EXPECT_EQ(Error({"a", "--importer="}),
            "--importer is ''; it takes the name of a format");
  for (const std::string flag : {"analysis", "category", "group_by", "time"}) {
    const std::string error = Error({"a", "--" + flag + "="});
    EXPECT_TRUE(error.starts_with("--" + flag + " is ''; it takes ")) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
}

TEST_F(OptionsTest, EmptySortKeyKeepsTheOrderOfEvents) {
  EXPECT_EQ(Parse({"a", "--sort_by="}).table.sort_by, "");
}

TEST_F(OptionsTest, TheManualHasEveryFlag) {
  const std::string manual = *ReportManual("all", importers_, exporters_);
  for (const SettingInfo& flag : ReportFlagTable().infos()) {
    EXPECT_NE(manual.find("    --" + flag.name), std::string::npos)
        << flag.name;
  }
  EXPECT_NE(manual.find("--fake_option"), std::string::npos);
  EXPECT_NE(manual.find("device_idle"), std::string::npos);
  const std::string page = *ReportManual("", importers_, exporters_);
  int flags = 0;
  for (size_t at = page.find("\n    --"); at != page.npos;
       at = page.find("\n    --", at + 1)) {
    ++flags;
  }
  EXPECT_EQ(flags, 18 + 1) << "18 flags and --help=all";
  for (const std::string& text : {manual, page}) {
    for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
      end = text.find('\n', begin);
      EXPECT_LE(end - begin, 80) << text.substr(begin, end - begin);
    }
  }
}

TEST_F(OptionsTest, AnyWordsAreACommandOrAnErrorInALine) {
  // --view takes the exporter of pages to be there.
  ASSERT_TRUE(RegisterBuiltinExporters(exporters_).ok());
  FuzzWords words = {.names = {"fake_option"},
                     .values = {"name", "name,", "event", "3-5", "1s..2s", "..",
                                "(a|b)*", "[", "json", "512MiB", "always"}};
  for (const SettingInfo& flag : ReportFlagTable().infos()) {
    words.names.push_back(flag.name);
  }
  FuzzFlags(
      words,
      [&](const auto& line) {
        return ParseReport(line, importers_, exporters_);
      },
      [](const ReportCommand& command) {
        return command.help || command.list || command.version ||
               !command.files.empty() || !command.history.empty();
      });
}

}  // namespace
}  // namespace kymo::tools
