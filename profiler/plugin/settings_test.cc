#include "profiler/plugin/settings.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kymo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

enum class Colour { kRed, kGreen };

struct GardenBase {
  bool fence = true;
};

struct Garden : GardenBase {
  int hz = 1000;
  uint32_t beds = 3;
  double slope = 0.5;
  uint64_t water = uint64_t{3} << 20;
  DurationNs rest = 30 * kNsPerSecond;
  Colour colour = Colour::kGreen;
  std::vector<Colour> colours = {Colour::kRed, Colour::kGreen};
  std::string owner = "ada";
  std::vector<std::string> plants = {"oak", "elm"};
  std::optional<bool> lit;
  std::optional<Colour> gate;
  std::optional<std::vector<Colour>> flowers = {{Colour::kRed}};
};

const SettingTable<Garden>& GardenTable() {
  using S = Garden;
  static const auto& table = *new SettingTable<S>(
      "garden",
      {{.name = "fence", .value = setting::Switch(&S::fence)},
       {.name = "hz", .value = setting::Integer(&S::hz, 1, 20'000)},
       {.name = "beds", .value = setting::Integer(&S::beds)},
       {.name = "slope", .value = setting::Real(&S::slope, 0, 1, "metres")},
       {.name = "water",
        .value = setting::Bytes(&S::water, 1 << 10, uint64_t{1} << 40)},
       {.name = "rest",
        .value = setting::Duration(&S::rest, kNsPerMs, 60 * kNsPerSecond)},
       {.name = "colour",
        .value = setting::Word(
            &S::colour, {{"red", Colour::kRed}, {"green", Colour::kGreen}}),
        .old_name = "color"},
       {.name = "colours",
        .value = setting::Words(
            &S::colours, {{"red", Colour::kRed}, {"green", Colour::kGreen}})},
       {.name = "owner",
        .value = setting::Text(&S::owner),
        .purpose = "Whose it is.",
        .hint = "PERSON",
        .is_common = true},
       {.name = "plants", .value = setting::Texts(&S::plants)},
       {.name = "lit", .value = setting::Switch(&S::lit), .topic = "light"},
       {.name = "flowers",
        .value = setting::Words(&S::flowers, {{"red", Colour::kRed}})},
       {.name = "gate",
        .value = setting::Word(&S::gate, {{"red", Colour::kRed}})}});
  return table;
}

struct Shed {
  int hz = 5;
};

const SettingTable<Shed>& ShedTable() {
  static const auto& table =
      *new SettingTable<Shed>("shed", {{.name = "colour",
                                        .value = setting::Integer(&Shed::hz, 0),
                                        .old_name = "color"}});
  return table;
}

SettingInfo Info(const std::string& name) {
  for (const SettingInfo& info : GardenTable().infos()) {
    if (info.name == name) return info;
  }
  ADD_FAILURE() << "no setting " << name;
  return {};
}

Garden Read(const SettingMap& given) {
  const auto garden = GardenTable().Read(given);
  EXPECT_TRUE(garden.ok()) << garden.status();
  return garden.ok() ? *garden : Garden();
}

// Expects that the setting takes none of the values.
void ExpectRefused(const std::string& name,
                   const std::vector<std::string>& values) {
  for (const std::string& value : values) {
    EXPECT_FALSE(Info(name).accepts(value)) << name << "=" << value;
    EXPECT_EQ(GardenTable().Read({{name, value}}).status().code(),
              absl::StatusCode::kInvalidArgument)
        << name << "=" << value;
  }
}

TEST(SettingTableTest, NothingGivenIsTheStructsDefaults) {
  const Garden garden = Read({{"shed_colour", "not looked at"}});
  EXPECT_EQ(garden.hz, 1000);
  EXPECT_EQ(garden.colour, Colour::kGreen);
  EXPECT_EQ(garden.lit, std::nullopt);
}

TEST(SettingTableTest, DefaultsMayDependOnTheCaller) {
  Garden start;
  start.hz = 7;
  const auto garden = GardenTable().Read({{"garden_beds", "4"}}, start);
  ASSERT_TRUE(garden.ok());
  EXPECT_EQ(garden->hz, 7);
  EXPECT_EQ(garden->beds, 4);
}

TEST(SettingTableTest, EveryTypeIsRead) {
  const Garden garden = Read({{"garden_fence", "0"},
                              {"garden_hz", "20000"},
                              {"garden_beds", "4294967295"},
                              {"garden_slope", "1e-1"},
                              {"garden_water", "2GiB"},
                              {"garden_rest", "250ms"},
                              {"garden_colour", "red"},
                              {"garden_colours", "green"},
                              {"garden_owner", ""},
                              {"garden_plants", "a,,b"},
                              {"garden_lit", "true"},
                              {"garden_gate", "red"}});
  EXPECT_FALSE(garden.fence);
  EXPECT_EQ(garden.hz, 20'000);
  EXPECT_EQ(garden.beds, 4294967295u);
  EXPECT_EQ(garden.slope, 0.1);
  EXPECT_EQ(garden.water, uint64_t{2} << 30);
  EXPECT_EQ(garden.rest, 250 * kNsPerMs);
  EXPECT_EQ(garden.colour, Colour::kRed);
  EXPECT_THAT(garden.colours, ElementsAre(Colour::kGreen));
  EXPECT_EQ(garden.owner, "");
  EXPECT_THAT(garden.plants, ElementsAre("a", "", "b"));
  EXPECT_EQ(garden.lit, true);
  EXPECT_EQ(garden.gate, Colour::kRed);
}

TEST(SettingTableTest, AnEmptyTextUnsetsWhatMayBeUnset) {
  EXPECT_EQ(Read({{"garden_lit", ""}}).lit, std::nullopt);
  EXPECT_EQ(Read({{"garden_gate", ""}}).gate, std::nullopt);
  EXPECT_EQ(Read({{"garden_flowers", ""}}).flowers, std::nullopt);
  EXPECT_THAT(Read({{"garden_plants", ""}}).plants, IsEmpty());
}

TEST(SettingTableTest, WrongValuesAreRefused) {
  ExpectRefused("garden_fence", {"", "2", "maybe"});
  ExpectRefused("garden_hz", {"", "0", "20001", "1 ", "0x10", "1.5", "many"});
  ExpectRefused("garden_beds", {"-1", "4294967296", "99999999999999999999"});
  ExpectRefused("garden_slope", {"", "nan", "-0.1", "1.1", "x"});
  ExpectRefused(
      "garden_water",
      {"", "0MiB", "5", "MiB", "-1MiB", "1 MiB", "1mib", "1MiBs", "1025GiB",
       "99999999999999999999MiB", "18446744073709551615GiB"});
  ExpectRefused("garden_rest", {"", "5", "0s", "61s", "1us", "1h", "9e9s"});
  ExpectRefused("garden_colour", {"", "blue", "Red"});
  ExpectRefused("garden_colours", {"", "blue", "red,", "red,blue"});
  ExpectRefused("garden_flowers", {"blue", ",", "red,"});
}

TEST(SettingTableTest, ErrorsSayWhatTheSettingTakes) {
  const auto error = [](const std::string& name, const std::string& value) {
    return std::string(GardenTable().Read({{name, value}}).status().message());
  };
  EXPECT_EQ(error("garden_hz", "0"),
            "garden_hz is '0'; it takes a whole number from 1 to 20000");
  EXPECT_EQ(error("garden_beds", "x"),
            "garden_beds is 'x'; it takes a whole number");
  EXPECT_EQ(error("garden_slope", "2"),
            "garden_slope is '2'; it takes a number of metres from 0 to 1");
  EXPECT_EQ(error("garden_water", "5"),
            "garden_water is '5'; it takes an amount of memory from 1KiB to "
            "1024GiB");
  EXPECT_EQ(error("garden_rest", "5"),
            "garden_rest is '5'; it takes a time from 1ms to 60s");
  EXPECT_EQ(error("garden_colour", "blue"),
            "garden_colour is 'blue'; it takes one of: red, green");
  EXPECT_EQ(error("garden_colours", "blue"),
            "garden_colours is 'blue'; it takes a list, separated by commas, "
            "of: red, green");
  EXPECT_EQ(error("garden_fence", "x"), "garden_fence is 'x'; it takes 0 or 1");
}

TEST(SettingTableTest, HelpIsMadeOfTheDeclaration) {
  EXPECT_EQ(Info("garden_fence").default_value, "1");
  EXPECT_TRUE(Info("garden_fence").is_switch());
  EXPECT_EQ(Info("garden_hz").default_value, "1000");
  EXPECT_FALSE(Info("garden_hz").is_switch());
  EXPECT_EQ(Info("garden_slope").default_value, "0.5");
  EXPECT_EQ(Info("garden_water").default_value, "3MiB");
  EXPECT_EQ(Info("garden_rest").default_value, "30s");
  EXPECT_EQ(Info("garden_colour").default_value, "green");
  EXPECT_EQ(Info("garden_colours").default_value, "red,green");
  EXPECT_EQ(Info("garden_plants").default_value, "oak,elm");
  EXPECT_EQ(Info("garden_lit").default_value, "");
  EXPECT_EQ(Info("garden_owner").hint, "PERSON");
  EXPECT_EQ(Info("garden_owner").purpose, "Whose it is.");
  EXPECT_TRUE(Info("garden_owner").is_common);
  EXPECT_EQ(Info("garden_owner").topic, "garden");
  EXPECT_EQ(Info("garden_lit").topic, "light");
  // A default's text is read back as the same value.
  for (const SettingInfo& info : GardenTable().infos()) {
    EXPECT_TRUE(info.accepts(info.default_value)) << info.name;
  }
}

std::vector<SettingInfo> Known() {
  return JoinSettings({GardenTable().infos(), ShedTable().infos()});
}

TEST(ResolveSettingsTest, NamesOfTodayPassInSilence) {
  const auto resolved =
      ResolveSettings({{"garden_hz", "5"}, {"shed_colour", "2"}}, Known());
  ASSERT_TRUE(resolved.ok());
  EXPECT_THAT(resolved->settings,
              ElementsAre(Pair("garden_hz", "5"), Pair("shed_colour", "2")));
  EXPECT_THAT(resolved->notices, IsEmpty());
}

TEST(ResolveSettingsTest, OldSpellingsCountAndSayTheNew) {
  const auto resolved =
      ResolveSettings({{"color", "red"}}, GardenTable().infos());
  ASSERT_TRUE(resolved.ok());
  EXPECT_THAT(resolved->settings, ElementsAre(Pair("garden_colour", "red")));
  EXPECT_THAT(resolved->notices, ElementsAre("color is now garden_colour"));
  const auto both = ResolveSettings(
      {{"color", "red"}, {"garden_colour", "green"}}, GardenTable().infos());
  ASSERT_TRUE(both.ok());
  EXPECT_THAT(both->settings, ElementsAre(Pair("garden_colour", "green")));
  // It does not matter which of the names comes first in the map.
  std::vector<SettingInfo> hue = {Info("garden_colour")};
  hue[0].old_name = "hue";
  const auto late =
      ResolveSettings({{"hue", "red"}, {"garden_colour", "green"}}, hue);
  ASSERT_TRUE(late.ok());
  EXPECT_THAT(late->settings, ElementsAre(Pair("garden_colour", "green")));
}

TEST(ResolveSettingsTest, AnOldSpellingMayHaveBelongedToSeveral) {
  const std::vector<SettingInfo> two = {ShedTable().infos()[0],
                                        GardenTable().infos()[1]};
  std::vector<SettingInfo> known = two;
  known[1].old_name = "color";
  const auto resolved = ResolveSettings({{"color", "3"}}, known);
  ASSERT_TRUE(resolved.ok());
  EXPECT_THAT(resolved->settings,
              ElementsAre(Pair("garden_hz", "3"), Pair("shed_colour", "3")));
  EXPECT_THAT(resolved->notices,
              ElementsAre("color is now shed_colour and garden_hz"));
}

TEST(ResolveSettingsTest, UnknownNamesAreAnsweredWithTheKnownOnes) {
  const auto error = [](const SettingMap& given,
                        const std::vector<SettingInfo>& known) {
    const absl::Status status = ResolveSettings(given, known).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(error({{"shed_color", "1"}}, ShedTable().infos()),
            "there is no setting 'shed_color'; the nearest is 'shed_colour'; "
            "it is one of: shed_colour");
  EXPECT_EQ(error({{"weather", "1"}}, ShedTable().infos()),
            "there is no setting 'weather'; it is one of: shed_colour");
  EXPECT_THAT(error({{"", "1"}}, Known()), HasSubstr("it is one of: "));
  std::vector<SettingInfo> hidden = JoinSettings(
      {ShedTable().infos(), std::span(GardenTable().infos()).first(1)});
  hidden[1].has_flag = false;
  EXPECT_EQ(error({{"weather", "1"}}, hidden),
            "there is no setting 'weather'; it is one of: shed_colour");
  EXPECT_TRUE(ResolveSettings({{"garden_fence", "0"}}, hidden).ok());
  EXPECT_EQ(error({{"hz", "1"}}, {}),
            "there is no setting 'hz', nor any other; leave it out");
  EXPECT_EQ(error({{"garden_hz", "0"}}, Known()),
            "garden_hz is '0'; it takes a whole number from 1 to 20000");
  EXPECT_EQ(error({{"color", "blue"}}, GardenTable().infos()),
            "color is 'blue'; it takes one of: red, green");
}

TEST(NearestNameTest, FindsSlipsAndBothEnds) {
  const std::vector<std::string> names = {"row_limit", "list", "cuda_sync",
                                          "itt_capture", "gzip"};
  EXPECT_EQ(NearestName("row_limt", names), "row_limit");
  EXPECT_EQ(NearestName("rowlimits", names), "row_limit");
  EXPECT_EQ(NearestName("sync", names), "cuda_sync");
  EXPECT_EQ(NearestName("cuda", names), "cuda_sync");
  EXPECT_EQ(NearestName("itt", names), "itt_capture");
  EXPECT_EQ(NearestName("flavour", names), "");
  EXPECT_EQ(NearestName("", names), "");
  EXPECT_EQ(NearestName(std::string(70'000, 'r'), names), "");
}

TEST(NearestNameTest, ANameOfThreeLettersMayLackTwo) {
  // What is exchanged, added and left out counts one each.
  const auto is_near = [](const std::string& name, const std::string& known) {
    return NearestName(name, std::vector<std::string>{known}) == known;
  };
  EXPECT_TRUE(is_near("abc", "axy"));
  EXPECT_FALSE(is_near("abc", "xyz"));
  EXPECT_TRUE(is_near("abc", "abcde"));
  EXPECT_FALSE(is_near("abc", "abcdef"));
  EXPECT_TRUE(is_near("abc", "c"));
  EXPECT_TRUE(is_near("abcde", "xabcdx"));
  // A third of a longer one.
  EXPECT_TRUE(is_near("abcdefghijkl", "abcdefgh"));
  EXPECT_FALSE(is_near("abcdefghijkl", "abcdefg"));
  EXPECT_TRUE(is_near("abcdefghijkl", "wxyzefghijkl"));
  EXPECT_FALSE(is_near("abcdefghijkl", "vwxyzfghijkl"));
  // The nearest one, and of several the first.
  EXPECT_EQ(
      NearestName("abcd", std::vector<std::string>{"abxx", "abcx", "abcy"}),
      "abcx");
  // A part of a name is as near as one letter.
  EXPECT_EQ(NearestName("row", std::vector<std::string>{"rows", "max_row"}),
            "rows");
  EXPECT_FALSE(is_near("row", "arrowheads"));
  const std::string longest(64, 'a');
  EXPECT_TRUE(is_near(longest, longest));
  EXPECT_FALSE(is_near(longest + "a", longest));
}

TEST(SettingValuesTest, AmountsHaveUnits) {
  EXPECT_EQ(ParseBytes("1KiB"), 1024u);
  EXPECT_EQ(ParseBytes("3MiB"), 3u << 20);
  EXPECT_EQ(ParseBytes("8589934591GiB"), ((uint64_t{1} << 33) - 1) << 30);
  for (const char* const wrong :
       {"8589934592GiB", "0KiB", "1", "1B", "KiB", "", "1KB", "-1KiB"}) {
    EXPECT_EQ(ParseBytes(wrong), std::nullopt) << wrong;
  }
  EXPECT_EQ(ParseDurationNs("1ns"), 1);
  EXPECT_EQ(ParseDurationNs("2us"), 2'000);
  EXPECT_EQ(ParseDurationNs("3ms"), 3'000'000);
  EXPECT_EQ(ParseDurationNs("4s"), 4'000'000'000);
  EXPECT_EQ(ParseDurationNs("9223372036854775807ns"), INT64_MAX);
  EXPECT_EQ(ParseDurationNs("9223372036s"), 9'223'372'036'000'000'000);
  for (const char* const wrong :
       {"9223372036854775808ns", "9223372037s", "0s", "1m", "1"}) {
    EXPECT_EQ(ParseDurationNs(wrong), std::nullopt) << wrong;
  }
  EXPECT_EQ(setting::FormatBytes(1024), "1KiB");
  EXPECT_EQ(setting::FormatBytes(1536 << 10), "1536KiB");
  EXPECT_EQ(setting::FormatBytes(1 << 20), "1MiB");
  EXPECT_EQ(setting::FormatBytes(uint64_t{5} << 30), "5GiB");
  EXPECT_EQ(setting::FormatBytes(1023), "1023");
  EXPECT_EQ(setting::FormatDuration(1'500'000), "1500us");
  EXPECT_EQ(setting::FormatDuration(2'000'000), "2ms");
  EXPECT_EQ(setting::FormatDuration(60'000'000'000), "60s");
  EXPECT_EQ(setting::FormatDuration(7), "7ns");
}

TEST(SettingValuesTest, BothEndsOfARangeAreInIt) {
  EXPECT_EQ(setting::ParseInteger("-3", -3, 5), -3);
  EXPECT_EQ(setting::ParseInteger("5", -3, 5), 5);
  EXPECT_EQ(setting::ParseInteger("-4", -3, 5), std::nullopt);
  EXPECT_EQ(setting::ParseInteger("6", -3, 5), std::nullopt);
  EXPECT_EQ(setting::ParseReal("-0.5", -0.5, 1), -0.5);
  EXPECT_EQ(setting::ParseReal("1", -0.5, 1), 1.0);
  EXPECT_EQ(setting::ParseReal("-0.51", -0.5, 1), std::nullopt);
  EXPECT_EQ(setting::ParseReal("1.01", -0.5, 1), std::nullopt);
  EXPECT_EQ(Read({{"garden_hz", "1"}}).hz, 1);
  EXPECT_EQ(Read({{"garden_water", "1KiB"}}).water, 1024u);
  EXPECT_EQ(Read({{"garden_water", "1024GiB"}}).water, uint64_t{1} << 40);
  EXPECT_EQ(Read({{"garden_rest", "1ms"}}).rest, kNsPerMs);
  EXPECT_EQ(Read({{"garden_rest", "60s"}}).rest, 60 * kNsPerSecond);
}

TEST(SettingValuesTest, RangesAreSaid) {
  using setting::kNoLeast;
  using setting::kNoMost;
  EXPECT_EQ(setting::IntegerRange(1, 5, ""), "a whole number from 1 to 5");
  EXPECT_EQ(setting::IntegerRange(1, kNoMost, ""), "a whole number from 1 on");
  EXPECT_EQ(setting::IntegerRange(kNoLeast, 5, "bytes"),
            "a whole number of bytes up to 5");
  EXPECT_EQ(setting::IntegerRange(kNoLeast, kNoMost, ""), "a whole number");
  EXPECT_EQ(setting::RealRange(0.5, 2, ""), "a number from 0.5 to 2");
  EXPECT_THAT(setting::SplitList("a,b"), ElementsAre("a", "b"));
  EXPECT_THAT(setting::SplitList(""), IsEmpty());
  const std::vector<std::string> words = {"a", "b"};
  EXPECT_THAT(setting::SameWords(words),
              ElementsAre(Pair("a", "a"), Pair("b", "b")));
}

}  // namespace
}  // namespace kymo
