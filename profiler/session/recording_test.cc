#include "profiler/session/recording.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kymo/backend_plugin.h"
#include "profiler/base/clock.h"
#include "profiler/plugin/library/backend_library.h"
#include "tests/support/test_shard.h"

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
      const SessionOptions& options) override {
    was_default = options.is_default;
    return std::make_unique<FakeSession>(collected_, is_gone_);
  }

  bool was_default = false;

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

// Most backends have nothing to say against it.
TEST_F(RecordingTest, AForkedChildCannotStopItsParentsRecording) {
  Add("any", Collected{});
  recording_ = *Recording::Create(registry_, {}, {});
  ASSERT_TRUE(recording_->Prepare(nullptr).ok());
  ASSERT_TRUE(recording_->Start(1).ok());
  const std::string expected = "the session is that of process " +
                               std::to_string(getpid()) +
                               ", which forked this one";
  const pid_t child = fork();
  if (child == 0) {
    const absl::Status status = recording_->Stop();
    _exit(absl::IsFailedPrecondition(status) && status.message() == expected
              ? 0
              : 1);
  }
  int wait_status = -1;
  EXPECT_EQ(waitpid(child, &wait_status, 0), child);
  EXPECT_EQ(wait_status, 0);
  EXPECT_TRUE(recording_->Stop().ok());
}

TEST_F(RecordingTest, TheTraceSaysItsHost) {
  Add("usual", Collected{});
  const FinishedRecording finished = Record();
  ASSERT_TRUE(finished.trace.ok()) << finished.trace.status();
  char name[256] = "";
  ASSERT_EQ(gethostname(name, sizeof(name) - 1), 0);
  ASSERT_EQ(finished.trace->metadata().size(), 1);
  const model::Metadata& host = finished.trace->metadata()[0];
  EXPECT_EQ(finished.trace->Name(host.key), "hostname");
  EXPECT_EQ(finished.trace->Name(host.json_value),
            "\"" + std::string(name) + "\"");
}

TEST_F(RecordingTest, WithoutAnyRecordsTheFirstProblemIsSaid) {
  Add("bad", absl::DataLossError("gone"));
  const FinishedRecording finished = Record();
  EXPECT_EQ(finished.trace.status().message(), "backend bad: gone");
  EXPECT_TRUE(finished.kept.empty());
  ASSERT_EQ(recording_->problems().size(), 1);
}

// --- What a recording says of backends that cannot record ---

// A backend that is available as `status` says, and has a limitation.
class LimitedBackend : public FakeBackend {
 public:
  LimitedBackend(std::string name, absl::Status status, bool* is_gone)
      : FakeBackend(std::move(name), Collected{}, is_gone),
        status_(std::move(status)) {}
  absl::Status Availability(const SessionOptions&) const override {
    return status_;
  }
  std::string Limitation(const SessionOptions&) const override {
    return "only the main thread";
  }

 private:
  const absl::Status status_;
};

TEST_F(RecordingTest, BackendsThatAreNotNamedMayBeMissing) {
  const auto add = [&](BackendRegistry& registry, const std::string& name,
                       absl::Status status) {
    EXPECT_TRUE(registry
                    .Register(std::make_unique<LimitedBackend>(
                        name, std::move(status), &is_gone_[name]))
                    .ok());
  };
  BackendRegistry none;
  add(none, "absent", absl::NotFoundError("no device"));
  EXPECT_EQ(Recording::Create(none, {}, {}).status().message(),
            "activity absent: no device");

  add(registry_, "absent", absl::NotFoundError("no device"));
  add(registry_, "there", absl::OkStatus());
  const auto recording = Recording::Create(registry_, {}, {});
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ((*recording)->backends(), std::vector<std::string>{"there"});
  EXPECT_EQ((*recording)->limitations(),
            std::vector<std::string>{"there: only the main thread"});
  ASSERT_EQ((*recording)->skipped().size(), 1u);
  EXPECT_EQ((*recording)->skipped()[0].backend, "absent");
  EXPECT_EQ(Recording::Create(registry_, {"absent"}, {}).status().message(),
            "activity absent: no device");

  // The user can correct a setting.
  add(registry_, "wrong", absl::InvalidArgumentError("hz is 'x'"));
  EXPECT_EQ(Recording::Create(registry_, {}, {}).status().message(),
            "activity wrong: hz is 'x'");
}

TEST_F(RecordingTest, BackendsKnowWhetherTheyWereNamed) {
  bool is_gone = false;
  auto owned = std::make_unique<FakeBackend>("a", Collected{}, &is_gone);
  const FakeBackend& backend = *owned;
  ASSERT_TRUE(registry_.Register(std::move(owned)).ok());
  ASSERT_TRUE(Recording::Create(registry_, {}, {}).ok());
  EXPECT_TRUE(backend.was_default);
  ASSERT_TRUE(Recording::Create(registry_, {"a"}, {}).ok());
  EXPECT_FALSE(backend.was_default);
}

// A backend whose sessions can write a dump.
class DumpingBackend : public FakeBackend {
 public:
  DumpingBackend(bool* is_gone, std::vector<std::string>* dumps)
      : FakeBackend("writes", Collected{}, is_gone),
        is_gone_(is_gone),
        dumps_(dumps) {}
  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions&) override {
    class Session : public FakeSession {
     public:
      Session(bool* is_gone, std::vector<std::string>* dumps)
          : FakeSession(Collected{}, is_gone), dumps_(dumps) {}
      absl::Status Dump(const std::string& path) override {
        dumps_->push_back(path);
        return absl::OkStatus();
      }

     private:
      std::vector<std::string>* const dumps_;
    };
    return std::make_unique<Session>(is_gone_, dumps_);
  }

 private:
  bool* const is_gone_;
  std::vector<std::string>* const dumps_;
};

TEST_F(RecordingTest, DumpAsksTheBackendThatCanWriteOne) {
  Add("cannot", Collected{});
  std::vector<std::string> dumps;
  ASSERT_TRUE(registry_
                  .Register(std::make_unique<DumpingBackend>(
                      &is_gone_["writes"], &dumps))
                  .ok());
  recording_ = *Recording::Create(registry_, {}, {});
  ASSERT_TRUE(recording_->Prepare(nullptr).ok());
  ASSERT_TRUE(recording_->Start(1).ok());
  const absl::Status status = recording_->Dump("file");
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(dumps, (std::vector<std::string>{"file"}));
  EXPECT_TRUE(recording_->Stop().ok());
}

}  // namespace
}  // namespace kymo
