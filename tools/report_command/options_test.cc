#include "tools/report_command/options.h"

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exporters/summary/summary_exporter.h"
#include "profiler/report/analyses.h"
#include "tests/support/test_importer.h"
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

TEST_F(OptionsTest, GroupsAreLists) {
  const ReportCommand command =
      Parse({"a", "--group_by=name,input_shape,stack", "--stack_depth=3"});
  EXPECT_TRUE(command.rows.grouping.group_by_input_shape);
  EXPECT_EQ(command.rows.grouping.group_by_stack_n, 3);
  EXPECT_FALSE(command.rows.single_events);
  EXPECT_TRUE(Parse({"a", "--group_by=event"}).rows.single_events);
  EXPECT_EQ(Error({"a", "--group_by=colour"}),
            "--group_by has no key 'colour'; it is one of: event, "
            "input_shape, name, overload_name, stack");
}

TEST_F(OptionsTest, FiltersAreRead) {
  EXPECT_EQ(Parse({"a", "--step=3"}).filter.steps, (StepRange{3, 3}));
  EXPECT_EQ(Parse({"a", "--step=3-5"}).filter.steps, (StepRange{3, 5}));
  EXPECT_EQ(Parse({"a", "--time=1.5ms..2s"}).filter.begin_ns, 1'500'000);
  EXPECT_EQ(Parse({"a", "--time=..2s"}).filter.end_ns, 2'000'000'000);
  EXPECT_FALSE(Parse({"a", "--time=..2s"}).filter.begin_ns.has_value());
  for (const char* const wrong :
       {"--step=x", "--step=5-3", "--step=3-", "--step=-1", "--time=5",
        "--time=1..2", "--category=green"}) {
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
  Error({"a", "--sort_by=beauty"});
  Error({"a", "--format=xml"});
  Error({"a", "--time_unit=h"});
}

TEST_F(OptionsTest, TheManualHasEveryFlag) {
  const std::string manual = ReportManual(importers_, exporters_);
  for (const OwnFlag& flag : ReportFlags()) {
    EXPECT_NE(manual.find(std::string("    --") + flag.name), std::string::npos)
        << flag.name;
  }
  EXPECT_NE(manual.find("fake_option"), std::string::npos);
  for (size_t begin = 0, end; begin < manual.size(); begin = end + 1) {
    end = manual.find('\n', begin);
    EXPECT_LE(end - begin, 80) << manual.substr(begin, end - begin);
  }
}

TEST_F(OptionsTest, TheListHasEveryAnalysisAndPlugin) {
  ASSERT_TRUE(exporters_.Register(NewSummaryExporter()).ok());
  const std::string list = ReportList(importers_, exporters_);
  std::vector<std::string> names = {"fake", "summary"};
  for (const report::Analysis& analysis : report::Analyses()) {
    names.emplace_back(analysis.name);
  }
  for (const std::string& name : names) {
    EXPECT_NE(list.find("\n    " + name + "\n"), std::string::npos) << name;
  }
}

// A word as people and broken scripts write them.
std::string RandomWord(std::minstd_rand& random) {
  static const std::vector<std::string> kValues = {
      "",     "0",      "1",      "-1",   "99999999999999999999",
      "name", ",,",     "name,",  "true", "NaN",
      "0x10", "1e9",    "event",  "3-5",  "1s..2s",
      "\xff", "..",     "=",      "--",   "-",
      " ",    "'\"`$",  "(a|b)*", "[",    "json",
      "all",  "512MiB", "always"};
  const auto value = [&] { return kValues[random() % kValues.size()]; };
  const auto name = [&]() -> std::string {
    const std::span<const OwnFlag> flags = ReportFlags();
    const size_t i = random() % (flags.size() + 4);
    constexpr const char* kOthers[] = {"help", "fake_option", "unknown", ""};
    return i < flags.size() ? flags[i].name : kOthers[i - flags.size()];
  };
  std::string bytes(random() % 12, ' ');
  for (char& byte : bytes) {
    do {
      byte = static_cast<char>(random());
    } while (byte == '\0' || byte == '\n' || byte == '/');
  }
  switch (random() % 8) {
    case 0:
      return value();
    case 1:
      return bytes;
    case 2:
      return std::string(1 + random() % 70'000, '-');
    case 3:
      return "--no" + name();
    case 4:
      return "-" + name();
    case 5:
      return "--" + name() + "=" + bytes;
    default:
      return "--" + name() + (random() % 4 == 0 ? "" : "=" + value());
  }
}

TEST_F(OptionsTest, AnyWordsAreACommandOrAnErrorInALine) {
  const char* const given = std::getenv("KYMO_SEED");
  const auto seed = given != nullptr ? static_cast<uint32_t>(std::atol(given))
                                     : std::random_device()();
  std::cout << "KYMO_SEED=" << seed << std::endl;
  std::minstd_rand random(seed);
  int commands = 0;
  for (int i = 0; i < 4'000; ++i) {
    std::vector<std::string> words(random() % 7);
    for (std::string& word : words) word = RandomWord(random);
    const auto command = ParseReport(words, importers_, exporters_);
    if (command.ok()) {
      ++commands;
      EXPECT_TRUE(command->help || command->list || !command->files.empty());
    } else {
      EXPECT_EQ(command.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_FALSE(command.status().message().empty());
      EXPECT_EQ(std::string(command.status().message()).find('\n'),
                std::string::npos)
          << command.status();
    }
  }
  EXPECT_GT(commands, 0);
}

}  // namespace
}  // namespace kymo::tools
