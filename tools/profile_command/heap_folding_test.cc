#include "tools/profile_command/heap_folding.h"

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "exporters/builtin/builtin_exporters.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kymo::tools {
namespace {

using ::testing::HasSubstr;

class FakeBackend : public ActivityBackend {
 public:
  FakeBackend(std::string name, absl::Status availability)
      : availability_(std::move(availability)) {
    info_.name = std::move(name);
  }
  const PluginInfo& info() const noexcept override { return info_; }
  std::vector<model::ActivityType> activity_types() const override {
    return {};
  }
  bool IsWanted(const std::set<std::string>& named,
                const SessionOptions& options) const override {
    if (throws_) throw std::runtime_error("wanted?");
    return ActivityBackend::IsWanted(named, options);
  }
  absl::Status Availability(const SessionOptions&) const override {
    ++asked_;
    if (throws_) throw std::runtime_error("available?");
    return availability_;
  }
  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions&) override {
    return absl::UnimplementedError("not in this test");
  }

  void set_throws() { throws_ = true; }
  int asked() const { return asked_; }

 private:
  PluginInfo info_;
  const absl::Status availability_;
  bool throws_ = false;
  mutable int asked_ = 0;
};

class HeapFoldingTest : public testing::Test {
 protected:
  HeapFoldingTest() {
    command_.profile_memory = true;
    command_.exporters = {"chrome", "stacks", "memory_timeline"};
    Register("cpu", absl::OkStatus());
    EXPECT_TRUE(RegisterBuiltinExporters(exporters_).ok());
  }

  FakeBackend* Register(const std::string& name, absl::Status availability) {
    auto backend = std::make_unique<FakeBackend>(name, std::move(availability));
    FakeBackend* const registered = backend.get();
    EXPECT_TRUE(backends_.Register(std::move(backend)).ok());
    return registered;
  }

  // The setting; empty if single records are kept.
  std::string FoldAbove() {
    SessionOptions options;
    options.settings = command_.settings;
    const absl::Status status =
        SetHeapFolding(command_, backends_, exporters_, options);
    if (!status.ok()) return std::string(status.message());
    others_record_ranges_ = options.others_record_ranges;
    return options.settings["memory_fold_above"];
  }

  ProfileCommand command_;
  BackendRegistry backends_;
  ExporterRegistry exporters_;
  bool others_record_ranges_ = false;
};

TEST_F(HeapFoldingTest, TheFileThatShowsMostRecordsCounts) {
  EXPECT_EQ(FoldAbove(), "1000000");
  command_.settings["chrome_memory_events"] = "2000000";
  EXPECT_EQ(FoldAbove(), "2000000");
  command_.settings["chrome_memory_events"] = "5000";
  EXPECT_EQ(FoldAbove(), "1000000");  // memory_timeline
  command_.exporters = {"chrome", "summary"};
  EXPECT_EQ(FoldAbove(), "5000");
  command_.settings["chrome_memory_events"] = "-1";
  EXPECT_EQ(FoldAbove(), "");
  command_.exporters = {"stacks", "summary"};
  EXPECT_EQ(FoldAbove(), "0");
}

TEST_F(HeapFoldingTest, TheUsersChoiceStays) {
  command_.settings["memory_fold_above"] = "7";
  EXPECT_EQ(FoldAbove(), "7");
}

TEST_F(HeapFoldingTest, SomeFilesNeedSingleRecords) {
  command_.exporters.push_back("perfetto");
  EXPECT_EQ(FoldAbove(), "");
  command_.exporters.pop_back();
  command_.settings["memory_timeline_form"] = "raw";
  EXPECT_EQ(FoldAbove(), "");
  command_.settings["memory_timeline_form"] = "html";
  EXPECT_EQ(FoldAbove(), "1000000");
  command_.max_file_bytes = 1 << 20;
  EXPECT_EQ(FoldAbove(), "");
}

TEST_F(HeapFoldingTest, SumsAreRefusedWhereSingleRecordsAreShown) {
  command_.settings["memory_fold_above"] = "7";
  command_.exporters.push_back("perfetto");
  EXPECT_THAT(FoldAbove(), HasSubstr("--export=perfetto shows single ones"));
  command_.exporters.back() = "tensorboard";
  EXPECT_THAT(FoldAbove(), HasSubstr("--export=tensorboard shows"));
  command_.settings["memory_fold_above"] = "-1";
  EXPECT_EQ(FoldAbove(), "-1");
  command_.exporters.pop_back();
  command_.settings["memory_fold_above"] = "7";
  command_.settings["memory_timeline_form"] = "raw";
  EXPECT_THAT(FoldAbove(), HasSubstr("--memory_timeline_form=raw shows"));
  command_.settings["memory_timeline_form"] = "json";
  EXPECT_THAT(FoldAbove(), HasSubstr("--memory_timeline_form=json shows"));
  command_.settings.erase("memory_timeline_form");
  command_.settings["chrome_memory_events"] = "-1";
  EXPECT_THAT(FoldAbove(), HasSubstr("--chrome_memory_events=-1 shows"));
  // What counts is what the session gets.
  command_.settings.erase("memory_fold_above");
  SessionOptions options;
  options.settings["memory_fold_above"] = "7";
  EXPECT_THAT(
      SetHeapFolding(command_, backends_, exporters_, options).message(),
      HasSubstr("--chrome_memory_events=-1 shows"));
}

TEST_F(HeapFoldingTest, RangesOfADeviceMayEncloseAllocations) {
  Register("cuda", absl::NotFoundError("no device"));
  EXPECT_EQ(FoldAbove(), "1000000");
  EXPECT_FALSE(others_record_ranges_);
  Register("other", absl::OkStatus());
  EXPECT_EQ(FoldAbove(), "1000000");
  EXPECT_TRUE(others_record_ranges_);
  command_.settings["memory_fold_above"] = "7";
  EXPECT_EQ(FoldAbove(), "7");
  EXPECT_TRUE(others_record_ranges_);
  command_.activities = {"cpu"};
  EXPECT_EQ(FoldAbove(), "7");
  EXPECT_FALSE(others_record_ranges_);
}

// However they are recorded: by those that the recording really has.
TEST(OthersRecordRangesTest, OnlyStreamsAndSamplersDoNot) {
  EXPECT_FALSE(OthersRecordRanges({}));
  EXPECT_FALSE(OthersRecordRanges({"cpu", "memory", "nvtx", "sampling"}));
  EXPECT_TRUE(OthersRecordRanges({"cpu", "cuda"}));
}

TEST_F(HeapFoldingTest, ABackendThatThrowsDoesNotRecord) {
  Register("thrower", absl::OkStatus())->set_throws();
  EXPECT_EQ(FoldAbove(), "1000000");
  command_.activities = {"cpu", "thrower"};
  EXPECT_EQ(FoldAbove(), "1000000");
  EXPECT_FALSE(others_record_ranges_);
}

// A probe of a device may take long.
TEST_F(HeapFoldingTest, BackendsAreAskedOnlyIfTheHeapMayBeFolded) {
  const FakeBackend* const other = Register("other", absl::OkStatus());
  command_.profile_memory = false;
  EXPECT_EQ(FoldAbove(), "");
  command_.profile_memory = true;
  command_.max_file_bytes = 1 << 20;
  EXPECT_EQ(FoldAbove(), "");
  EXPECT_EQ(other->asked(), 0);
  command_.max_file_bytes = 0;
  EXPECT_EQ(FoldAbove(), "1000000");
  EXPECT_EQ(other->asked(), 1);
  command_.profile_memory = false;
  command_.activities = {"cpu", "memory"};
  EXPECT_EQ(FoldAbove(), "1000000");
}

}  // namespace
}  // namespace kymo::tools
