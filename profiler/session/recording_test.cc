#include "profiler/session/recording.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace kymo {
namespace {

// A session that ends with `collected` and a remark.
class FakeSession : public ActivitySession {
 public:
  FakeSession(absl::StatusOr<Collected> collected, bool* is_gone)
      : collected_(std::move(collected)), is_gone_(is_gone) {}
  ~FakeSession() override { *is_gone_ = true; }
  absl::Status Prepare(TargetSetup*) override { return absl::OkStatus(); }
  absl::Status Start(pid_t) override { return absl::OkStatus(); }
  absl::Status Stop() override { return absl::OkStatus(); }
  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    shard.ledger.Add(model::Loss::kSamplesLost, 1);
    return collected_;
  }
  std::vector<std::string> Remarks() const override { return {"a remark"}; }

 private:
  const absl::StatusOr<Collected> collected_;
  bool* const is_gone_;
};

class FakeBackend : public ActivityBackend {
 public:
  FakeBackend(std::string name, absl::StatusOr<Collected> collected,
              bool* is_gone, bool on_request = false)
      : collected_(std::move(collected)), is_gone_(is_gone) {
    info_.name = std::move(name);
    info_.on_request = on_request;
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
    return std::make_unique<FakeSession>(collected_, is_gone_);
  }

 private:
  const absl::StatusOr<Collected> collected_;
  bool* const is_gone_;
  PluginInfo info_;
};

class RecordingTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, absl::StatusOr<Collected> collected) {
    EXPECT_TRUE(registry_
                    .Register(std::make_unique<FakeBackend>(
                        name, std::move(collected), &is_gone_[name]))
                    .ok());
  }

  FinishedRecording Record() {
    recording_ = *Recording::Create(registry_, {}, {});
    EXPECT_TRUE(recording_->Prepare(nullptr).ok());
    EXPECT_TRUE(recording_->Start(1).ok());
    EXPECT_TRUE(recording_->Stop().ok());
    return recording_->Finish({});
  }

  // By the name of a backend: whether its session was destroyed.
  std::map<std::string, bool> is_gone_;
  BackendRegistry registry_;
  std::unique_ptr<Recording> recording_;
};

TEST_F(RecordingTest, WhatIsLargerThanMemoryIsKeptBesideTheTrace) {
  Add("large",
      Collected{KeptRecording{.path = "out/kymo.raw", .why = "too large"}});
  Add("small", Collected{});
  const FinishedRecording finished = Record();
  ASSERT_TRUE(finished.trace.ok()) << finished.trace.status();
  EXPECT_EQ(finished.trace->ledger().Get(model::Loss::kSamplesLost), 1);
  ASSERT_EQ(finished.kept.size(), 1);
  EXPECT_EQ(finished.kept[0].path, "out/kymo.raw");
  EXPECT_EQ(finished.kept[0].why, "backend large: too large");
  EXPECT_TRUE(recording_->problems().empty());
  EXPECT_EQ(recording_->Remarks(),
            (std::vector<std::string>{"a remark", "a remark"}));
  // A reader of the file needs the memory of its session.
  EXPECT_TRUE(is_gone_["large"]);
  EXPECT_FALSE(is_gone_["small"]);
}

TEST_F(RecordingTest, ABackendOnRequestIsUsedIfItIsNamed) {
  Add("usual", Collected{});
  EXPECT_TRUE(registry_
                  .Register(std::make_unique<FakeBackend>(
                      "rare", Collected{}, &is_gone_["rare"], true))
                  .ok());
  const auto names_of = [&](const std::vector<std::string>& activities) {
    const auto recording = Recording::Create(registry_, activities, {});
    EXPECT_TRUE(recording.ok()) << recording.status();
    // It is no backend that could not be had.
    EXPECT_TRUE((*recording)->skipped().empty());
    return (*recording)->backends();
  };
  EXPECT_EQ(names_of({}), std::vector<std::string>{"usual"});
  EXPECT_EQ(names_of({"rare"}), std::vector<std::string>{"rare"});
  EXPECT_EQ(names_of({"usual", "rare"}),
            (std::vector<std::string>{"rare", "usual"}));
}

TEST_F(RecordingTest, AKeptRecordingNeedsNoTrace) {
  Add("large", Collected{KeptRecording{.path = "out/kymo.raw"}});
  const FinishedRecording finished = Record();
  EXPECT_EQ(finished.kept.size(), 1);
  ASSERT_TRUE(finished.trace.ok()) << finished.trace.status();
  EXPECT_EQ(finished.trace->event_count(), 0);
}

TEST_F(RecordingTest, WithoutAnyRecordsTheFirstProblemIsSaid) {
  Add("bad", absl::DataLossError("gone"));
  const FinishedRecording finished = Record();
  EXPECT_EQ(finished.trace.status().message(), "backend bad: gone");
  EXPECT_TRUE(finished.kept.empty());
  ASSERT_EQ(recording_->problems().size(), 1);
}

}  // namespace
}  // namespace kymo
