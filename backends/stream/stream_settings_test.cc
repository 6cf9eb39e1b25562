#include "backends/stream/stream_settings.h"

#include <map>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace kymo::stream {
namespace {

using record::FullPolicy;

SessionOptions Child(SettingMap settings = {}) {
  SessionOptions options;
  options.target = TargetKind::kChildProcess;
  options.settings = std::move(settings);
  return options;
}

TEST(StreamSettingsTest, DefaultsOfAChildAreTheDeclaredOnes) {
  const StreamSettings settings = *ReadStreamSettings(Child());
  EXPECT_EQ(settings.when_full, FullPolicy::kDrain);
  EXPECT_EQ(settings.arena_mib, 256);
  std::map<std::string, std::string> declared;
  for (const SettingInfo& info : StreamSettingInfos()) {
    declared[info.name] = info.default_value;
  }
  EXPECT_EQ(declared["cpu_when_full"], "drain");
}

TEST(StreamSettingsTest, WithinAProcessNobodyDrains) {
  const StreamSettings settings = *ReadStreamSettings(SessionOptions());
  EXPECT_EQ(settings.when_full, FullPolicy::kStop);
  EXPECT_EQ(settings.arena_mib, 1024);
}

TEST(StreamSettingsTest, FlightRecorderOverwritesAndTakesNoOtherPolicy) {
  const auto alone =
      ReadStreamSettings(Child({{"cpu_flight_recorder", "30s"}}));
  EXPECT_EQ(alone->when_full, FullPolicy::kOverwrite);
  const auto both = ReadStreamSettings(
      Child({{"cpu_flight_recorder", "30s"}, {"cpu_when_full", "drain"}}));
  EXPECT_EQ(both.status().message(),
            "a flight recorder overwrites when it is full: leave out "
            "cpu_when_full");
}

TEST(StreamSettingsTest, OnlyTheFlightRecorderHasAFlagOfTheCommandsOwn) {
  for (const SettingInfo& info : StreamSettingInfos()) {
    EXPECT_EQ(info.has_flag, info.name != "cpu_flight_recorder") << info.name;
  }
}

TEST(StreamSettingsTest, LimitsAreOfTheSettings) {
  const auto is_taken = [](const char* name, const char* value) {
    return ReadStreamSettings(Child({{name, value}})).ok();
  };
  EXPECT_TRUE(is_taken("cpu_arena_mib", "1"));
  EXPECT_TRUE(is_taken("cpu_arena_mib", "65536"));
  EXPECT_FALSE(is_taken("cpu_arena_mib", "0"));
  EXPECT_FALSE(is_taken("cpu_arena_mib", "65537"));
  EXPECT_TRUE(is_taken("cpu_when_full", "stop"));
  EXPECT_FALSE(is_taken("cpu_when_full", "go"));
  // Within a process the setting has no meaning, and changes nothing.
  SessionOptions local;
  local.settings = {{"cpu_flight_recorder", "30s"}};
  EXPECT_EQ(ReadStreamSettings(local)->when_full, FullPolicy::kStop);
}

}  // namespace
}  // namespace kymo::stream
