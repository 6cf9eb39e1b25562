#include "profiler/library/profile_cycle.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "kymo/profile.h"
#include "kymo/warning.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A finished cycle of 40 steps with some 2 MB of Chrome trace, and a folder.
class ProfileExportTest : public ::testing::Test {
 protected:
  ProfileExportTest()
      : cycle_(1, "id", ProfileOptions(), Steps(), ProfilerStats()) {
    SetWarningHandler(
        [this](std::string_view text) { warnings_.emplace_back(text); });
  }
  ~ProfileExportTest() override {
    SetWarningHandler({});
    std::filesystem::remove_all(folder_);
  }

  static model::Trace Steps() {
    TestTrace t;
    t.AddProcess(1, "app");
    const auto main = t.AddThread(1, 1, "main");
    for (int step = 0; step < 40; ++step) {
      const TimeNs start = 1'000'000 * step;
      t.AddAnnotation(main, "ProfilerStep#" + std::to_string(step), start,
                      start + 999'000);
      for (int i = 0; i < 500; ++i) {
        t.AddRange(main, "operation", start + 100 * i, start + 100 * i + 50);
      }
    }
    return std::move(t).Build();
  }

  std::set<std::string> Files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  const std::string folder_ = testing::TempDir() + "/profile_export_test";
  std::vector<std::string> warnings_;
  const ProfileCycle cycle_;
};

TEST_F(ProfileExportTest, WithoutOptionsAnExporterWritesAsEver) {
  EXPECT_THAT(*cycle_.Export("chrome", folder_), ElementsAre("trace.json"));
  EXPECT_THAT(Files(), ElementsAre("trace.json"));
}

TEST_F(ProfileExportTest, GzipIsWhereAFormatHasIt) {
  EXPECT_THAT(*cycle_.Export("chrome", folder_, {.gzip = true}),
              ElementsAre("trace.json.gz"));
  EXPECT_THAT(*cycle_.Export("summary", folder_, {.gzip = true}),
              ElementsAre("summary.json"));
  std::ifstream file(folder_ + "/trace.json.gz", std::ios::binary);
  EXPECT_EQ(file.get(), 0x1f);
  EXPECT_EQ(file.get(), 0x8b);
}

TEST_F(ProfileExportTest, LargeTimelinesAreSplitAtSteps) {
  const auto files = cycle_.Export("chrome", folder_, {.max_file_mib = 1});
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_GE(files->size(), 2u);
  EXPECT_THAT(files->front(), HasSubstr("trace.steps_0-"));
  for (const std::string& name : *files) {
    EXPECT_LE(std::filesystem::file_size(folder_ + "/" + name), 1u << 20);
  }
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(ProfileExportTest, WhatCannotBeSplitIsAWarning) {
  const ProfileExportOptions options = {
      .max_file_mib = 1, .settings = {{"stacks_formats", "speedscope"}}};
  EXPECT_THAT(*cycle_.Export("stacks", folder_, options),
              ElementsAre("stacks.speedscope.json"));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("cannot be split at steps")));
}

TEST_F(ProfileExportTest, SettingsAreTheExportersOwn) {
  EXPECT_THAT(*cycle_.Export("stacks", folder_,
                             {.settings = {{"stacks_formats", "speedscope"}}}),
              ElementsAre("stacks.speedscope.json"));
  EXPECT_THAT(warnings_, IsEmpty());
  const auto unknown =
      cycle_.Export("stacks", folder_, {.settings = {{"memory_events", "1"}}});
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(unknown.status().message(),
            "exporter 'stacks': there is no setting 'memory_events'; it is "
            "one of: stacks_formats, stacks_max_frames, stacks_metric, "
            "stacks_min_share, stacks_threads");
  EXPECT_EQ(cycle_.Export("stacks", folder_, {.settings = {{"formats", "svg"}}})
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ProfileExportTest, OldSpellingsOfSettingsSayTheNew) {
  EXPECT_THAT(*cycle_.Export("stacks", folder_,
                             {.settings = {{"formats", "speedscope"}}}),
              ElementsAre("stacks.speedscope.json"));
  EXPECT_THAT(warnings_, ElementsAre("formats is now stacks_formats"));
}

TEST_F(ProfileExportTest, SizesMustMakeSense) {
  for (const int64_t mib : {int64_t{-1}, int64_t{1} << 40}) {
    EXPECT_EQ(
        cycle_.Export("chrome", folder_, {.max_file_mib = mib}).status().code(),
        absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(ProfileExportTest, LargestSizeIsAllowed) {
  const int64_t tebibyte_in_mib = int64_t{1} << 20;
  EXPECT_THAT(
      *cycle_.Export("chrome", folder_, {.max_file_mib = tebibyte_in_mib}),
      ElementsAre("trace.json"));
  EXPECT_EQ(
      cycle_.Export("chrome", folder_, {.max_file_mib = tebibyte_in_mib + 1})
          .status()
          .message(),
      "max_file_mib is 1048577, not 0 to 1048576");
}

TEST_F(ProfileExportTest, NameOfAChromeTraceSaysWhetherItIsCompressed) {
  std::filesystem::create_directories(folder_);
  for (const bool gzip : {false, true}) {
    const std::string path = folder_ + (gzip ? "/a.json.gz" : "/a.json");
    ASSERT_TRUE(cycle_.export_chrome_trace(path).ok());
    std::ifstream file(path, std::ios::binary);
    EXPECT_EQ(file.get(), gzip ? 0x1f : '{');
  }
}

TEST(ProfileCycleTest, MetadataIsReplacedSortedAndChecked) {
  ProfileCycle cycle(1, "id", ProfileOptions(), TestTrace().Build(),
                     ProfilerStats());
  cycle.add_metadata("b", "first");
  cycle.add_metadata("a", "say \"hi\"");
  cycle.add_metadata("c", "last");
  EXPECT_TRUE(cycle.add_metadata_json("b", "[1, 2]").ok());
  EXPECT_FALSE(cycle.add_metadata_json("b", "[1, 2").ok());
  std::vector<std::pair<std::string, std::string>> metadata;
  for (const model::Metadata& entry : cycle.trace().metadata()) {
    metadata.emplace_back(cycle.trace().Name(entry.key),
                          cycle.trace().Name(entry.json_value));
  }
  EXPECT_THAT(metadata, ElementsAre(std::pair("a", "\"say \\\"hi\\\"\""),
                                    std::pair("b", "[1, 2]"),
                                    std::pair("c", "\"last\"")));
}

// The texts are PyTorch's (torch/profiler/profiler.py, _memory_profiler.py).
TEST(ProfileCycleTest, ResultsThatWereNotRecordedAreErrors) {
  const std::string path = testing::TempDir() + "/not_recorded";
  ProfileCycle cycle(1, "id", ProfileOptions(), TestTrace().Build(),
                     ProfilerStats());
  EXPECT_EQ(cycle.export_stacks(path, "self_cpu_time_total").message(),
            "export_stacks() requires with_stack = true");
  EXPECT_EQ(cycle.export_memory_timeline(path).message(),
            "profile_memory = true required for memory profiling.");
  EXPECT_EQ(cycle.Export("memory_timeline", path).status().message(),
            "profile_memory = true required for memory profiling.");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(cycle.Export("chrome", "").status().message(),
            "the name of the folder is empty; \".\" is the working directory");
}

TEST(ProfileCycleTest, AFileNeedsAName) {
  ProfileOptions options;
  options.with_stack = options.profile_memory = true;
  ProfileCycle cycle(1, "id", options, TestTrace().Build(), ProfilerStats());
  const auto no_name =
      absl::InvalidArgumentError("the name of the file is empty");
  EXPECT_EQ(cycle.export_chrome_trace(""), no_name);
  EXPECT_EQ(cycle.export_stacks("", "self_cpu_time_total"), no_name);
  EXPECT_EQ(cycle.export_memory_timeline(""), no_name);
}

TEST_F(ProfileExportTest, ProgressIsTold) {
  std::vector<double> progress;
  ASSERT_TRUE(
      cycle_
          .Export("perfetto", folder_,
                  {.progress = [&](double d) { progress.push_back(d); }})
          .ok());
  ASSERT_FALSE(progress.empty());
  EXPECT_EQ(progress.back(), 1.0);
}

// The metadata of a recorded session without ranges.
std::map<std::string, std::string> MetadataWith(ProfileOptions options) {
  Profile profile(std::move(options));
  EXPECT_TRUE(profile.Start().ok());
  EXPECT_TRUE(profile.Stop().ok());
  std::map<std::string, std::string> metadata;
  const model::Trace& trace = *profile.trace();
  for (const model::Metadata& pair : trace.metadata()) {
    metadata[std::string(trace.strings().Get(pair.key))] =
        trace.strings().Get(pair.json_value);
  }
  EXPECT_EQ(metadata["trace_id"], "\"" + profile.get_trace_id() + "\"");
  return metadata;
}

TEST(ProfileMetadataTest, SaysWhatWasAskedForAndNothingElse) {
  const char* const flags[] = {"profile_memory", "with_stack", "record_shapes",
                               "with_modules", "with_flops"};
  bool ProfileOptions::*const members[] = {
      &ProfileOptions::profile_memory, &ProfileOptions::with_stack,
      &ProfileOptions::record_shapes, &ProfileOptions::with_modules,
      &ProfileOptions::with_flops};
  for (size_t asked = 0; asked < 5; ++asked) {
    ProfileOptions options;
    options.*members[asked] = true;
    const auto metadata = MetadataWith(std::move(options));
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(metadata.count(flags[i]), i == asked) << flags[i];
    }
    EXPECT_EQ(metadata.at(flags[asked]), "1");
    EXPECT_EQ(metadata.count("use_device"), 0u);
    EXPECT_EQ(metadata.count("distributedInfo"), 0u);
  }
}

// Only a profile that accumulates makes lists of its own.
TEST(ProfileResultsTest, EventsAreThoseOfTheLastCycle) {
  Profile profile({.keep_cycles = true});
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(profile.Start().ok());
    ASSERT_TRUE(profile.Stop().ok());
  }
  ASSERT_EQ(profile.cycles().size(), 2u);
  const ProfileCycle& last = *profile.cycles()[1];
  EXPECT_EQ(profile.trace(), &last.trace());
  EXPECT_EQ(profile.stats(), &last.stats());
  const auto events = profile.events();
  ASSERT_TRUE(events.ok()) << events.status();
  EXPECT_EQ(*events, *profile.cycles()[1]->events());
  EXPECT_NE(*events, *profile.cycles()[0]->events());
}

// A UUID of version 4 (RFC 9562, 5.4), in upper case and without its dashes.
TEST(ProfileMetadataTest, TracesHaveRandomIdsUnlessTheProgramMakesThem) {
  std::set<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    const std::string id = MetadataWith({}).at("trace_id");
    ASSERT_EQ(id.size(), 34u);
    EXPECT_EQ(id.find_first_not_of("\"0123456789ABCDEF"), id.npos) << id;
    EXPECT_EQ(id[1 + 12], '4') << id;
    EXPECT_NE(std::string("89AB").find(id[1 + 16]), std::string::npos) << id;
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_EQ(MetadataWith({.custom_trace_id_callback =
                              [] { return std::string("mine"); }})
                .at("trace_id"),
            "\"mine\"");
}

}  // namespace
}  // namespace kymo
