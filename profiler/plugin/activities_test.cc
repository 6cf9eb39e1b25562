#include "profiler/plugin/activities.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace kymo {
namespace {

class FakeBackend : public ActivityBackend {
 public:
  explicit FakeBackend(PluginInfo info) : info_(std::move(info)) {}
  const PluginInfo& info() const noexcept override { return info_; }
  std::vector<model::ActivityType> activity_types() const override {
    return {};
  }
  absl::Status Availability(const SessionOptions&) const override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions&) override {
    return absl::UnimplementedError("only its name is asked for");
  }

 private:
  const PluginInfo info_;
};

class ActivitiesTest : public testing::Test {
 protected:
  using Settings = std::map<std::string, std::string>;

  ActivitiesTest() {
    const PluginInfo garden = {
        .name = "garden",
        .parts = {{"bees", "", "hear_bees"}, {"birds", "", "hear_birds"}},
        .rest_setting = "see"};
    EXPECT_TRUE(registry_.Register(std::make_unique<FakeBackend>(garden)).ok());
    EXPECT_TRUE(registry_
                    .Register(std::make_unique<FakeBackend>(
                        PluginInfo{.name = "weather"}))
                    .ok());
  }

  // "garden: hear_bees=1 | weather: "
  std::string Plan(std::vector<std::string> activities,
                   Settings settings = {}) {
    SessionOptions options;
    options.settings = std::move(settings);
    const auto plan = PlanBackends(registry_, activities, options);
    if (!plan.ok()) return std::string(plan.status().message());
    std::string text;
    for (const PlannedBackend& planned : *plan) {
      if (!text.empty()) text += " | ";
      text += planned.backend->info().name + ":";
      for (const auto& [name, value] : planned.options.settings) {
        text += " " + name + "=" + value;
      }
    }
    return text;
  }

  BackendRegistry registry_;
};

TEST_F(ActivitiesTest, ABackendIsAskedForByItsName) {
  EXPECT_EQ(Plan({"weather", "garden"}), "garden: | weather:");
}

TEST_F(ActivitiesTest, APartBesideItsBackendIsSwitchedOn) {
  EXPECT_EQ(Plan({"garden", "bees"}), "garden: hear_bees=1");
}

TEST_F(ActivitiesTest, APartAloneSwitchesTheRestOff) {
  EXPECT_EQ(Plan({"bees"}), "garden: hear_bees=1 hear_birds=0 see=0");
  EXPECT_EQ(Plan({"birds", "bees", "weather"}),
            "garden: hear_bees=1 hear_birds=1 see=0 | weather:");
}

TEST_F(ActivitiesTest, WhatIsSetStays) {
  EXPECT_EQ(Plan({"bees"}, {{"see", "1"}}),
            "garden: hear_bees=1 hear_birds=0 see=1");
}

TEST_F(ActivitiesTest, UnknownNamesAreAnsweredWithTheKnownOnes) {
  EXPECT_EQ(Plan({"wasps"}),
            "there is no activity 'wasps'; it is one of: bees, birds, garden, "
            "weather");
}

}  // namespace
}  // namespace kymo
