#include "tools/command_line/flag_words.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

struct Own {
  int number = 7;
  bool on = true;
  std::string device = "cuda";
};

const SettingTable<Own>& OwnTable() {
  static const auto& table = *new SettingTable<Own>(
      "", {{.name = "number", .value = setting::Integer(&Own::number)},
           {.name = "switch", .value = setting::Switch(&Own::on)},
           {.name = "device", .value = setting::Text(&Own::device)}});
  return table;
}

struct Plugin {
  int metric = 0;
  bool raw = false;
  int hidden = 0;
};

std::vector<SettingInfo> PluginSettings() {
  using S = Plugin;
  static const auto& one =
      *new SettingTable<S>("one", {{.name = "metric",
                                    .value = setting::Integer(&S::metric, 0, 9),
                                    .old_name = "metric"},
                                   {.name = "raw",
                                    .value = setting::Switch(&S::raw),
                                    .old_name = "keep_raw"},
                                   {.name = "device",
                                    .value = setting::Integer(&S::metric),
                                    .old_name = "device"},
                                   {.name = "hidden",
                                    .value = setting::Integer(&S::hidden),
                                    .old_name = "hidden",
                                    .has_flag = false}});
  static const auto& two =
      *new SettingTable<S>("two", {{.name = "metric",
                                    .value = setting::Integer(&S::metric, 0, 5),
                                    .old_name = "metric"}});
  return JoinSettings({one.infos(), two.infos()});
}

FlagRules Rules(FlagPlace place = FlagPlace::kFirst) {
  FlagRules rules;
  rules.own = OwnTable().infos();
  rules.place = place;
  rules.plugin_settings = PluginSettings;
  return rules;
}

FlagWords Read(const std::vector<std::string>& arguments,
               FlagPlace place = FlagPlace::kFirst) {
  const auto words = ReadFlagWords(arguments, Rules(place));
  EXPECT_TRUE(words.ok()) << words.status();
  return words.ok() ? *words : FlagWords();
}

std::string Error(const std::vector<std::string>& arguments) {
  const absl::Status status = ReadFlagWords(arguments, Rules()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(FlagWordsTest, ReadsFlagsSettingsAndOthers) {
  const FlagWords words =
      Read({"--number=3", "--one_metric", "4", "--noswitch", "a", "--b"});
  const auto own = OwnTable().Read(words.own);
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->number, 3);
  EXPECT_FALSE(own->on);
  EXPECT_THAT(words.settings, ElementsAre(Pair("one_metric", "4")));
  EXPECT_THAT(words.notices, IsEmpty());
  EXPECT_THAT(words.others, ElementsAre("a", "--b"));
}

TEST(FlagWordsTest, WhatIsNotNamedHasItsDefault) {
  const FlagWords words = Read({});
  EXPECT_THAT(words.own, IsEmpty());
  EXPECT_EQ(OwnTable().Read(words.own)->number, 7);
}

TEST(FlagWordsTest, TheLastValueCounts) {
  EXPECT_THAT(Read({"--number=3", "--number=4"}).own,
              ElementsAre(Pair("number", "4")));
  // Also of an old and a new spelling.
  EXPECT_THAT(Read({"--one_raw=1", "--keep_raw=0"}).settings,
              ElementsAre(Pair("one_raw", "0")));
  EXPECT_THAT(Read({"--keep_raw=0", "--one_raw=1"}).settings,
              ElementsAre(Pair("one_raw", "1")));
}

TEST(FlagWordsTest, FlagsMayStandAmongOthers) {
  const FlagWords words =
      Read({"a", "--number", "4", "b", "--", "--c"}, FlagPlace::kAnywhere);
  EXPECT_THAT(words.own, ElementsAre(Pair("number", "4")));
  EXPECT_THAT(words.others, ElementsAre("a", "b", "--c"));
}

TEST(FlagWordsTest, SettingsThatAreSwitchesNeedNoValue) {
  EXPECT_THAT(Read({"--one_raw", "a"}).settings,
              ElementsAre(Pair("one_raw", "1")));
  EXPECT_THAT(Read({"--noone_raw"}).settings,
              ElementsAre(Pair("one_raw", "0")));
  // These flags needed a value before they were switches.
  const FlagWords words = Read({"--one_raw", "0", "a"});
  EXPECT_THAT(words.settings, ElementsAre(Pair("one_raw", "0")));
  EXPECT_THAT(words.others, ElementsAre("a"));
  EXPECT_THAT(Read({"--switch", "0"}).others, ElementsAre("0"));
}

TEST(FlagWordsTest, OldSpellingsCountAndSayTheNew) {
  const FlagWords words = Read({"--keep_raw=1", "--keep_raw", "0"});
  EXPECT_THAT(words.settings, ElementsAre(Pair("one_raw", "0")));
  EXPECT_THAT(words.notices, ElementsAre("--keep_raw is now --one_raw"));
  const FlagWords two = Read({"--metric=5"});
  EXPECT_THAT(two.settings,
              ElementsAre(Pair("one_metric", "5"), Pair("two_metric", "5")));
  EXPECT_THAT(two.notices,
              ElementsAre("--metric is now --one_metric and --two_metric"));
  EXPECT_EQ(Error({"--metric=6"}),
            "--metric is '6'; it takes a whole number from 0 to 5");
}

TEST(FlagWordsTest, TheCommandsFlagGoesBeforeAnOldSpelling) {
  const FlagWords words = Read({"--device=xpu"});
  EXPECT_THAT(words.own, ElementsAre(Pair("device", "xpu")));
  EXPECT_THAT(words.settings, IsEmpty());
  EXPECT_THAT(words.notices, IsEmpty());
  EXPECT_THAT(Read({"--one_device=2"}).settings,
              ElementsAre(Pair("one_device", "2")));
}

TEST(FlagWordsTest, ErrorsSayWhatWouldDo) {
  EXPECT_EQ(Error({"--wrong"}),
            "there is no flag --wrong; --help=all lists all flags");
  EXPECT_EQ(Error({"--nubmer=3"}),
            "there is no flag --nubmer; the nearest is --number; --help=all "
            "lists all flags");
  EXPECT_EQ(Error({"--raw"}),
            "there is no flag --raw; the nearest is --one_raw; --help=all "
            "lists all flags");
  EXPECT_EQ(Error({"--two=1"}),
            "there is no flag --two; the nearest is --two_metric; --help=all "
            "lists all flags");
  EXPECT_EQ(Error({"--number"}), "--number needs a value");
  EXPECT_EQ(Error({"--number=x"}), "--number is 'x'; it takes a whole number");
  EXPECT_EQ(Error({"--one_metric=10"}),
            "--one_metric is '10'; it takes a whole number from 0 to 9");
  EXPECT_EQ(Error({"--noswitch=1"}),
            "--noswitch takes no value; write --switch=0 or --switch=1");
  // No switch, so there is no "no" form.
  Error({"--nonumber"});
  // The user cannot set this one.
  Error({"--one_hidden=1"});
  Error({"--hidden=1"});
}

TEST(FlagWordsTest, AFlagIsNoValueOfTheFlagBeforeIt) {
  EXPECT_EQ(Error({"--device", "--", "a"}),
            "--device needs a value, but -- follows; a value that begins with "
            "-- is written --device=--VALUE");
  EXPECT_EQ(Error({"--device", "--switch", "a"}),
            "--device needs a value, but --switch follows; a value that begins "
            "with -- is written --device=--switch");
  EXPECT_EQ(Error({"--one_metric", "--one_raw"}),
            "--one_metric needs a value, but --one_raw follows; a value that "
            "begins with -- is written --one_metric=--one_raw");
  EXPECT_THAT(Read({"--device=--", "a"}).own,
              ElementsAre(Pair("device", "--")));
  EXPECT_THAT(Read({"--device", "-x"}).own, ElementsAre(Pair("device", "-x")));
  EXPECT_THAT(Read({"--number", "-3"}).own, ElementsAre(Pair("number", "-3")));
}

TEST(FlagWordsTest, HelpEndsReading) {
  EXPECT_EQ(Read({"--help", "--wrong"}).help, "");
  EXPECT_EQ(Read({"-h"}).help, "");
  EXPECT_EQ(Read({"--help=cuda", "--wrong"}).help, "cuda");
  EXPECT_EQ(Read({"-help=all"}).help, "all");
  EXPECT_EQ(Read({"a", "--help"}).help, std::nullopt);
}

TEST(FlagWordsTest, ListenersSeeOwnFlagsAndMayRefuse) {
  FlagRules rules = Rules();
  rules.on_flag = [](std::string_view name, std::string_view value) {
    return absl::InvalidArgumentError(std::string(name) + "=" +
                                      std::string(value) + " refused");
  };
  EXPECT_EQ(ReadFlagWords({"--number=1"}, rules).status().message(),
            "number=1 refused");
  EXPECT_TRUE(ReadFlagWords({"--one_metric=1"}, rules).ok());
}

// A flag of this command may load a plugin, which brings settings.
TEST(FlagWordsTest, APluginMustNotBringANameThatIsTaken) {
  const auto error = [](const char* plugin, const char* setting) {
    bool is_loaded = false;
    FlagRules rules = Rules();
    const SettingTable<Plugin> loaded(
        plugin, {{.name = setting, .value = setting::Switch(&Plugin::raw)}});
    rules.plugin_settings = [&] {
      return is_loaded ? JoinSettings({PluginSettings(), loaded.infos()})
                       : PluginSettings();
    };
    rules.on_flag = [&](std::string_view, std::string_view) {
      is_loaded = true;
      return absl::OkStatus();
    };
    const absl::Status status =
        ReadFlagWords({"--device=./lib.so"}, rules).status();
    return status.ok() ? "" : std::string(status.message());
  };
  struct Flags {
    bool row_limit = false;
  };
  EXPECT_EQ(error("own", "thing"), "");
  EXPECT_EQ(error("two", "metric"),
            "the setting two_metric of two has the name of a setting of two; "
            "give the plugin or its setting another name");
  FlagRules rules = Rules();
  const SettingTable<Flags> own(
      "", {{.name = "row_limit", .value = setting::Switch(&Flags::row_limit)}});
  const SettingTable<Plugin> row(
      "row", {{.name = "limit", .value = setting::Switch(&Plugin::raw)}});
  const SettingTable<Plugin> no_row(
      "norow", {{.name = "limit", .value = setting::Switch(&Plugin::raw)}});
  rules.own = own.infos();
  rules.on_flag = [](std::string_view, std::string_view) {
    return absl::OkStatus();
  };
  rules.plugin_settings = [&] { return row.infos(); };
  const absl::Status same = ReadFlagWords({"--row_limit"}, rules).status();
  EXPECT_EQ(same.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(same.message(),
            "the setting row_limit of row has the name of a flag of this "
            "command; give the plugin or its setting another name");
  rules.plugin_settings = [&] { return no_row.infos(); };
  EXPECT_EQ(ReadFlagWords({"--row_limit"}, rules).status().message(),
            "the setting norow_limit of norow has the name of a flag of this "
            "command; give the plugin or its setting another name");
}

}  // namespace
}  // namespace kymo::tools
