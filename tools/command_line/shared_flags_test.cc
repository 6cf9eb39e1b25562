#include "tools/command_line/shared_flags.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Flags : SharedFlags {};

const SettingTable<Flags>& Table() {
  static const auto& table = *new SettingTable<Flags>(
      "", Joined<Flags>({}, SharedSettings<Flags>({.sort_words = {"auto"},
                                                   .output_name = "<file>"})));
  return table;
}

TEST(SharedFlagsTest, DefaultsAreThoseOfPyTorchsTableAndPrintEverything) {
  const Flags flags = *Table().Read({});
  EXPECT_TRUE(flags.exporters.empty());
  EXPECT_EQ(flags.output_dir, "");
  EXPECT_EQ(flags.sort_by, std::nullopt);
  EXPECT_EQ(flags.row_limit, 100);
  EXPECT_EQ(flags.max_size, 104'857'600u);
  EXPECT_EQ(flags.max_file_mib, 0);
  EXPECT_FALSE(flags.gzip || flags.view || flags.with_flops || flags.quiet ||
               flags.list || flags.version);
}

TEST(SharedFlagsTest, EachFlagHasItsTopicAndManyAreCommon) {
  std::string flags;
  for (const SettingInfo& flag : Table().infos()) {
    flags += flag.name + " " + flag.topic + (flag.is_common ? " *" : "") + "\n";
  }
  EXPECT_EQ(flags,
            "export files *\n"
            "output_dir files *\n"
            "view files *\n"
            "gzip files *\n"
            "max_size files\n"
            "max_file_mib files\n"
            "sort_by table *\n"
            "row_limit table *\n"
            "with_flops table\n"
            "quiet run *\n"
            "list run *\n"
            "version run\n");
  EXPECT_THAT(Table().infos()[1].purpose,
              HasSubstr("kymo-out/<file>-<date>-<time>."));
}

TEST(SharedFlagsTest, TheManualNamesDefaultsAsTheyAreWritten) {
  struct Unlimited : SharedFlags {
    Unlimited() { max_size = 0; }
  };
  const auto default_of = [](const auto& infos, const std::string& name) {
    for (const SettingInfo& flag : infos) {
      if (flag.name == name) return flag.default_value;
    }
    return std::string("no such flag");
  };
  EXPECT_EQ(default_of(Table().infos(), "max_size"), "100MiB");
  const SettingTable<Unlimited> unlimited("", SharedSettings<Unlimited>({}));
  EXPECT_EQ(default_of(unlimited.infos(), "max_size"), "0");
}

TEST(SharedFlagsTest, EachFlagSetsItsMember) {
  const Flags flags = *Table().Read({{"export", "a,b"},
                                     {"output_dir", "out"},
                                     {"gzip", "1"},
                                     {"view", "1"},
                                     {"max_size", "3KiB"},
                                     {"max_file_mib", "1048576"},
                                     {"sort_by", "auto"},
                                     {"row_limit", "-1"},
                                     {"with_flops", "1"},
                                     {"quiet", "1"},
                                     {"list", "1"},
                                     {"version", "1"}});
  EXPECT_THAT(flags.exporters, ElementsAre("a", "b"));
  EXPECT_EQ(flags.output_dir, "out");
  EXPECT_EQ(flags.max_size, 3072u);
  EXPECT_EQ(flags.max_file_mib, 1048576);
  EXPECT_EQ(flags.sort_by, "auto");
  EXPECT_EQ(flags.row_limit, -1);
  EXPECT_TRUE(flags.gzip && flags.view && flags.with_flops && flags.quiet &&
              flags.list && flags.version);
}

TEST(SharedFlagsTest, ValuesOutOfBoundsAreRefused) {
  const auto accepts = [](const std::string& name, const std::string& value) {
    for (const SettingInfo& flag : Table().infos()) {
      if (flag.name == name) return flag.accepts(value);
    }
    return false;
  };
  EXPECT_TRUE(accepts("max_size", "0"));
  EXPECT_TRUE(accepts("max_size", "1KiB"));
  EXPECT_FALSE(accepts("max_size", "1"));
  EXPECT_FALSE(accepts("max_size", "-1KiB"));
  EXPECT_TRUE(accepts("max_file_mib", "0"));
  EXPECT_TRUE(accepts("max_file_mib", "1048576"));
  EXPECT_FALSE(accepts("max_file_mib", "1048577"));
  EXPECT_FALSE(accepts("max_file_mib", "-1"));
  EXPECT_TRUE(accepts("sort_by", ""));
  EXPECT_TRUE(accepts("sort_by", "self_cpu_time_total"));
  EXPECT_FALSE(accepts("sort_by", "beauty"));
  EXPECT_THAT(SortWords({"first"})[0], "first");
}

}  // namespace
}  // namespace kymo::tools
