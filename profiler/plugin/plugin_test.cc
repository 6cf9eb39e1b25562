#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/plugin/backend_controller.h"
#include "profiler/plugin/kept_recording.h"
#include "profiler/plugin/registry.h"

namespace kymo {
namespace {

class FakeSession : public ActivitySession {
 public:
  explicit FakeSession(std::string* calls, absl::Status start)
      : calls_(calls), start_(std::move(start)) {}
  absl::Status Prepare(TargetSetup*) override { return Note("prepare "); }
  absl::Status Start(pid_t) override {
    (void)Note("start ");
    return start_;
  }
  void Poll() override { (void)Note("poll "); }
  absl::Status Stop() override { return Note("stop "); }
  absl::StatusOr<Collected> Collect(model::TraceShard&) override {
    (void)Note("collect ");
    return Collected{};
  }

 private:
  absl::Status Note(const char* call) {
    *calls_ += call;
    return absl::OkStatus();
  }
  std::string* calls_;
  absl::Status start_;
};

// Its records do not fit into memory.
class LargeSession : public FakeSession {
 public:
  explicit LargeSession(std::string* calls)
      : FakeSession(calls, absl::OkStatus()) {}
  absl::StatusOr<Collected> Collect(model::TraceShard&) override {
    return Collected{KeptRecording{
        .path = "out/kymo.raw", .why = "too large", .window_bytes = 4'096}};
  }
  std::vector<std::string> Remarks() const override { return {"a remark"}; }
};

class FakeBackend : public ActivityBackend {
 public:
  explicit FakeBackend(std::string name, std::string device = "") {
    info_.name = std::move(name);
    info_.device = std::move(device);
  }
  const PluginInfo& info() const noexcept override { return info_; }
  std::vector<model::ActivityType> activity_types() const override {
    return {};
  }
  absl::Status Availability(const SessionOptions&) const override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions&) override {
    return absl::UnimplementedError("fake");
  }

 private:
  PluginInfo info_;
};

TEST(BackendControllerTest, PassesOrderedCallsAndRejectsOthers) {
  std::string calls;
  BackendController controller(
      "fake", std::make_unique<FakeSession>(&calls, absl::OkStatus()));
  model::TraceShard shard;
  EXPECT_FALSE(controller.Start(1).ok());
  EXPECT_FALSE(controller.Stop().ok());
  EXPECT_FALSE(controller.Collect(shard).ok());
  controller.Poll();
  EXPECT_TRUE(controller.Prepare(nullptr).ok());
  EXPECT_FALSE(controller.Prepare(nullptr).ok());
  EXPECT_TRUE(controller.Start(1).ok());
  controller.Poll();
  EXPECT_TRUE(controller.Stop().ok());
  EXPECT_FALSE(controller.Stop().ok());
  const absl::StatusOr<Collected> collected = controller.Collect(shard);
  ASSERT_TRUE(collected.ok()) << collected.status();
  EXPECT_FALSE(collected->kept);
  EXPECT_FALSE(controller.Collect(shard).ok());
  EXPECT_EQ(calls, "prepare start poll stop collect ");
}

TEST(BackendControllerTest, FailureEndsTheSessionAndNamesTheBackend) {
  std::string calls;
  BackendController controller(
      "fake", std::make_unique<FakeSession>(
                  &calls, absl::PermissionDeniedError("no right")));
  EXPECT_TRUE(controller.Prepare(nullptr).ok());
  const absl::Status status = controller.Start(1);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(status.message(), "backend fake: no right");
  EXPECT_FALSE(controller.Stop().ok());
  EXPECT_EQ(calls, "prepare start ");
}

TEST(BackendControllerTest, MemoryThatEndsInCollectIsAFailure) {
  class OutOfMemory : public FakeSession {
   public:
    explicit OutOfMemory(std::string* calls)
        : FakeSession(calls, absl::OkStatus()) {}
    absl::StatusOr<Collected> Collect(model::TraceShard&) override {
      throw std::bad_alloc();
    }
  };
  std::string calls;
  BackendController controller("fake", std::make_unique<OutOfMemory>(&calls));
  ASSERT_TRUE(controller.Prepare(nullptr).ok());
  ASSERT_TRUE(controller.Start(1).ok());
  ASSERT_TRUE(controller.Stop().ok());
  model::TraceShard shard;
  EXPECT_EQ(controller.Collect(shard).status().message(),
            "backend fake: not enough memory for what was recorded; record for "
            "a shorter time");
  EXPECT_TRUE(controller.Remarks().empty());
}

TEST(BackendControllerTest, WhatIsLeftInAFileIsCollected) {
  std::string calls;
  BackendController controller("fake", std::make_unique<LargeSession>(&calls));
  ASSERT_TRUE(controller.Prepare(nullptr).ok());
  ASSERT_TRUE(controller.Start(1).ok());
  ASSERT_TRUE(controller.Stop().ok());
  model::TraceShard shard;
  const absl::StatusOr<Collected> collected = controller.Collect(shard);
  ASSERT_TRUE(collected.ok()) << collected.status();
  ASSERT_TRUE(collected->kept);
  EXPECT_EQ(collected->kept->why, "backend fake: too large");
  EXPECT_EQ(collected->kept->path, "out/kymo.raw");
  EXPECT_EQ(collected->kept->window_bytes, 4'096);
  EXPECT_FALSE(controller.Collect(shard).ok());
  EXPECT_EQ(controller.Remarks(), (std::vector<std::string>{"a remark"}));
}

TEST(PluginRegistryTest, ListsSortedAndRejectsDuplicatesAndOddNames) {
  BackendRegistry registry;
  EXPECT_TRUE(registry.Register(std::make_unique<FakeBackend>("zebra")).ok());
  EXPECT_TRUE(registry.Register(std::make_unique<FakeBackend>("ant")).ok());
  EXPECT_EQ(registry.Register(std::make_unique<FakeBackend>("ant")).code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(registry.Register(std::make_unique<FakeBackend>("Ant")).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(registry.Register(std::make_unique<FakeBackend>("")).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(registry.Names(), "ant, zebra");
  EXPECT_EQ(registry.List().front()->info().name, "ant");
  EXPECT_EQ(registry.Find("none"), nullptr);
}

TEST(PluginRegistryTest, RejectsOddNamesOfDevices) {
  BackendRegistry registry;
  EXPECT_TRUE(
      registry.Register(std::make_unique<FakeBackend>("good", "npu")).ok());
  const absl::Status odd =
      registry.Register(std::make_unique<FakeBackend>("odd", "NPU"));
  EXPECT_EQ(odd.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(odd.message(),
            "plugin odd: the name of its device, 'NPU', is not lower_snake");
  EXPECT_EQ(registry.Names(), "good");
}

}  // namespace
}  // namespace kymo
