#include "profiler/plugin/library/plugin_setting.h"

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kymo/backend_plugin.h"
#include "kymo/exporter_plugin.h"

namespace kymo {
namespace {

KymoSetting Setting(uint32_t kind, const char* default_value) {
  KymoSetting setting = {};
  setting.struct_size = sizeof(setting);
  setting.kind = kind;
  setting.name = "size";
  setting.default_value = default_value;
  setting.purpose = "What it is for.";
  setting.least = -2;
  setting.most = 5;
  setting.real_least = 0.5;
  setting.real_most = 2;
  setting.words = "red,green";
  return setting;
}

SettingInfo InfoOf(const KymoSetting& setting) {
  const auto info = PluginSetting("mine", setting);
  EXPECT_TRUE(info.ok()) << info.status();
  return info.ok() ? *info : SettingInfo();
}

std::string ErrorOf(const KymoSetting& setting) {
  const absl::Status status = PluginSetting("mine", setting).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(PluginSettingTest, EachKindSaysWhatItTakes) {
  const struct {
    uint32_t kind;
    const char* default_value;
    const char* takes;
    const char* hint;
    std::vector<std::string> right;
    std::vector<std::string> wrong;
  } cases[] = {
      {KYMO_SETTING_SWITCH, "1", "0 or 1", "", {"0", "1", "no"}, {"", "2"}},
      {KYMO_SETTING_INTEGER,
       "3",
       "a whole number from -2 to 5",
       "N",
       {"-2", "5"},
       {"-3", "6", "x", ""}},
      {KYMO_SETTING_REAL,
       "1",
       "a number from 0.5 to 2",
       "X",
       {"0.5", "2"},
       {"0.4", "2.1", "nan", ""}},
      {KYMO_SETTING_TEXT, "any", "", "TEXT", {"", "x"}, {}},
      {KYMO_SETTING_WORD,
       "red",
       "one of: red, green",
       "WORD",
       {"red", "green"},
       {"", "blue", "red,green"}}};
  for (const auto& one : cases) {
    const SettingInfo info = InfoOf(Setting(one.kind, one.default_value));
    EXPECT_EQ(info.name, "mine_size");
    EXPECT_EQ(info.topic, "mine");
    EXPECT_EQ(info.purpose, "What it is for.");
    EXPECT_EQ(info.default_value, one.default_value);
    EXPECT_EQ(info.takes, one.takes);
    EXPECT_EQ(info.hint, one.hint);
    EXPECT_TRUE(info.has_flag);
    EXPECT_FALSE(info.is_common);
    for (const std::string& text : one.right) {
      EXPECT_TRUE(info.accepts(text)) << one.kind << ": " << text;
    }
    for (const std::string& text : one.wrong) {
      EXPECT_FALSE(info.accepts(text)) << one.kind << ": " << text;
    }
  }
}

TEST(PluginSettingTest, WrongDeclarationsAreRefused) {
  EXPECT_EQ(ErrorOf(Setting(KYMO_SETTING_WORD + 1, "x")),
            "its setting size: there is no kind " +
                std::to_string(KYMO_SETTING_WORD + 1));
  EXPECT_EQ(ErrorOf(Setting(KYMO_SETTING_INTEGER, "6")),
            "its setting size does not take its own default: size is '6'; it "
            "takes a whole number from -2 to 5");
  KymoSetting setting = Setting(KYMO_SETTING_TEXT, "");
  setting.purpose = "";
  EXPECT_EQ(ErrorOf(setting), "its setting size has no purpose");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  setting = Setting(KYMO_SETTING_REAL, "1");
  setting.real_most = kInfinity;
  EXPECT_EQ(ErrorOf(setting),
            "its setting size: a limit is not a finite number");
  setting = Setting(KYMO_SETTING_REAL, "1");
  setting.real_least = -kInfinity;
  EXPECT_EQ(ErrorOf(setting),
            "its setting size: a limit is not a finite number");
}

TEST(PluginSettingTest, ValuesAreThoseGivenOrTheDefaults) {
  PluginInfo info = {.name = "mine"};
  std::vector<std::string> names;
  for (const char* const name : {"text", "on", "off", "other"}) {
    KymoSetting setting = name == std::string("text")
                              ? Setting(KYMO_SETTING_TEXT, "usual")
                              : Setting(KYMO_SETTING_SWITCH, "0");
    setting.name = name;
    info.settings.push_back(InfoOf(setting));
    names.push_back(name);
  }
  const auto values_of = [&](const SettingMap& given) {
    std::string text;
    for (const KymoSettingValue& value :
         PluginSettingValues(info, names, given)) {
      text += std::string(value.name) + "=" + value.value + " ";
    }
    return text;
  };
  EXPECT_EQ(values_of({}), "text=usual on=0 off=0 other=0 ");
  EXPECT_EQ(values_of({{"mine_text", ""},
                       {"mine_on", "yes"},
                       {"mine_off", "false"},
                       {"other", "1"}}),
            "text= on=1 off=0 other=0 ");
}

// Libraries that were built years ago have these numbers compiled in.
TEST(PluginAbiTest, NumbersNeverChange) {
  const auto follow_each_other = [](const std::vector<int>& numbers) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_EQ(numbers[i], static_cast<int>(i));
    }
  };
  follow_each_other({KYMO_OK, KYMO_INVALID_ARGUMENT, KYMO_NOT_FOUND,
                     KYMO_PERMISSION_DENIED, KYMO_UNAVAILABLE,
                     KYMO_UNIMPLEMENTED, KYMO_INTERNAL, KYMO_OUT_OF_MEMORY});
  follow_each_other({KYMO_TARGET_THIS_PROCESS, KYMO_TARGET_CHILD});
  follow_each_other({KYMO_SETTING_SWITCH, KYMO_SETTING_INTEGER,
                     KYMO_SETTING_REAL, KYMO_SETTING_TEXT, KYMO_SETTING_WORD});
  follow_each_other({KYMO_ARG_INTEGER, KYMO_ARG_REAL, KYMO_ARG_TEXT});
  follow_each_other({KYMO_RANGE_ANNOTATION, KYMO_RANGE_OPERATION,
                     KYMO_RANGE_CALL, KYMO_RANGE_OVERHEAD, KYMO_RANGE_ASYNC});
  follow_each_other({KYMO_WORK_KERNEL, KYMO_WORK_COPY, KYMO_WORK_SET});
  EXPECT_EQ(
      (std::vector<int>{KYMO_WANT_ALL_THREADS, KYMO_WANT_SHAPES,
                        KYMO_WANT_MEMORY, KYMO_WANT_STACKS, KYMO_WANT_MODULES}),
      (std::vector<int>{1, 2, 4, 8, 16}));
  EXPECT_EQ((std::vector<int>{KYMO_EVENT_OPEN, KYMO_EVENT_INSTANT,
                              KYMO_EVENT_ASYNC, KYMO_EVENT_DEVICE}),
            (std::vector<int>{1, 2, 4, 8}));
}

}  // namespace
}  // namespace kymo
