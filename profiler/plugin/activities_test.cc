#include "profiler/plugin/activities.h"

#include <memory>
#include <set>
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

// Joins a garden, and comes alone if it is named.
class Bees : public FakeBackend {
 public:
  Bees() : FakeBackend({.name = "bees"}) {}
  bool IsWanted(const std::set<std::string>& named,
                const SessionOptions& options) const override {
    return named.contains("bees") ||
           (named.contains("garden") && options.with_stack);
  }
};

class Thrower : public FakeBackend {
 public:
  Thrower() : FakeBackend({.name = "thrower"}) {}
  bool IsWanted(const std::set<std::string>&,
                const SessionOptions&) const override {
    throw 5;
  }
};

class ActivitiesTest : public testing::Test {
 protected:
  ActivitiesTest() {
    EXPECT_TRUE(registry_
                    .Register(std::make_unique<FakeBackend>(
                        PluginInfo{.name = "weather"}))
                    .ok());
    EXPECT_TRUE(registry_
                    .Register(std::make_unique<FakeBackend>(
                        PluginInfo{.name = "garden"}))
                    .ok());
    EXPECT_TRUE(registry_.Register(std::make_unique<Bees>()).ok());
  }

  // "bees garden"
  std::string Find(const std::vector<std::string>& activities,
                   const SessionOptions& options = {}) {
    const auto backends = FindBackends(registry_, activities, options);
    if (!backends.ok()) return std::string(backends.status().message());
    std::string text;
    for (const ActivityBackend* const backend : *backends) {
      if (!text.empty()) text += " ";
      text += backend->info().name;
    }
    return text;
  }

  BackendRegistry registry_;
};

TEST_F(ActivitiesTest, ABackendIsAskedForByItsName) {
  EXPECT_EQ(Find({"weather", "garden", "weather"}), "garden weather");
  EXPECT_EQ(Find({"bees"}), "bees");
}

TEST_F(ActivitiesTest, WithoutNamesEachDecides) {
  EXPECT_EQ(Find({}), "garden weather");
}

TEST_F(ActivitiesTest, ABackendMayJoinOthers) {
  EXPECT_EQ(Find({"garden"}), "garden");
  EXPECT_EQ(Find({"garden"}, {.with_stack = true}), "bees garden");
  EXPECT_EQ(Find({"weather"}, {.with_stack = true}), "weather");
}

TEST_F(ActivitiesTest, OfABackendThatThrowsTheNameDecides) {
  ASSERT_TRUE(registry_.Register(std::make_unique<Thrower>()).ok());
  EXPECT_EQ(Find({"weather"}), "weather");
  EXPECT_EQ(Find({"thrower"}), "thrower");
  EXPECT_EQ(Find({}), "garden thrower weather");
}

TEST_F(ActivitiesTest, AnUnknownNameListsTheValidOnes) {
  EXPECT_EQ(Find({"garden", "wind"}),
            "there is no activity 'wind'; it is one of: bees, garden, weather");
}

TEST(ShownDeviceTest, FirstInPyTorchsOrder) {
  BackendRegistry registry;
  const std::pair<const char*, const char*> backends[] = {
      {"a", "npu"},  {"b", "hpu"}, {"c", "mtia"}, {"d", "xpu"},
      {"e", "cuda"}, {"f", "tpu"}, {"plain", ""}};
  for (const auto& [name, device] : backends) {
    ASSERT_TRUE(registry
                    .Register(std::make_unique<FakeBackend>(
                        PluginInfo{.name = name, .device = device}))
                    .ok());
  }
  EXPECT_EQ(ShownDevice(registry, {"a", "b", "c", "d", "e", "f"}), "cuda");
  EXPECT_EQ(ShownDevice(registry, {"a", "b", "c", "d"}), "xpu");
  EXPECT_EQ(ShownDevice(registry, {"a", "b", "c"}), "mtia");
  EXPECT_EQ(ShownDevice(registry, {"a", "b"}), "hpu");
  EXPECT_EQ(ShownDevice(registry, {"a", "f"}), "npu");
  EXPECT_EQ(ShownDevice(registry, {"plain", "none"}), "");
  EXPECT_TRUE(IsCustomDevice("npu"));
  EXPECT_FALSE(IsCustomDevice("hpu"));
}

}  // namespace
}  // namespace kymo
