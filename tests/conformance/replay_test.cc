// PyTorch's results, computed again: every text byte for byte, every number but
// sums of times exactly.
#include "tests/conformance/replay.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "tests/conformance/json_difference.h"

namespace kymo::conformance {
namespace {

using ::testing::HasSubstr;

Files ReadCase(const std::string& name) {
  auto files = ReadArchive("tests/conformance/testdata/" + name + ".tar.gz");
  EXPECT_TRUE(files.ok()) << files.status();
  return files.ok() ? *std::move(files) : Files();
}

void ExpectSame(const std::string& name, const std::string& actual,
                const std::string& expected) {
  if (name.ends_with(".json")) {
    EXPECT_EQ(JsonDifference(actual, expected), "") << name;
  } else {
    EXPECT_EQ(actual, expected) << name;
  }
}

class ReplayTest : public testing::TestWithParam<const char*> {};

TEST_P(ReplayTest, GivesWhatPyTorchGave) {
  const Files reference = ReadCase(GetParam());
  ASSERT_GE(reference.size(), 10u);
  const auto results = Replay(reference);
  ASSERT_TRUE(results.ok()) << results.status();
  for (const auto& [name, expected] : reference) {
    if (name == "input.json") continue;
    ASSERT_TRUE(results->contains(name)) << name;
    ExpectSame(name, results->at(name), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ReplayTest,
    testing::Values("conv_infer", "flops", "mlp_train", "nested_dup",
                    "seed_pow", "synthetic_async", "synthetic_cpu",
                    "synthetic_cuda", "synthetic_memory_flops", "threads"),
    [](const auto& info) { return std::string(info.param); });

TEST(ReplayInputTest, WhatPyTorchDerivedIsNotRead) {
  Files input = {{"events.json", ReadCase("mlp_train")["events.json"]}};
  const auto expected = Replay(input);
  std::string& json = input["events.json"];
  const std::string member = "\"derived\"";
  for (size_t at = 0; (at = json.find(member, at)) != json.npos;) {
    json.replace(at, member.size(), "\"ignored\"");
  }
  const auto results = Replay(input);
  ASSERT_TRUE(expected.ok() && results.ok());
  EXPECT_EQ(*results, *expected);
}

TEST(ReplayInputTest, OtherDevicesHaveTheirTablesAndStacks) {
  const std::string json = R"({
    "options": {"use_device": "xpu", "profile_memory": false},
    "input_events": [
      {"id": 2, "name": "k", "thread": 7, "start_us": 2.0, "end_us": 5.0,
       "device_type": "XPU"},
      {"id": 1, "name": "op", "thread": 1, "start_us": 0.0, "end_us": 9.0,
       "device_type": "CPU", "stack": ["main.cc(1): main"], "flops": null,
       "kernels": [{"name": "k", "device": 0, "duration": 3.0}]}]})";
  const auto results = Replay({{"input.json", json}});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(results->at("table.key_averages.device_time_total.txt"),
              HasSubstr("Self XPU time total: 3.000us\n"));
  EXPECT_EQ(results->at("stacks.self_xpu_time_total.txt"),
            "main.cc(1):_main 3\n");
}

// The members that are computed, in the order of the results.
std::string Members(const std::string& json, const char* first,
                    const char* second) {
  simdjson::dom::parser parser;
  const auto file = parser.parse(json);
  return std::string("[") + simdjson::minify(file[first].value()) + "," +
         simdjson::minify(file[second].value()) + "]";
}

TEST(ReplayScheduleTest, GivesWhatPyTorchGave) {
  const auto files = ReadFolder("tests/conformance/testdata");
  ASSERT_TRUE(files.ok()) << files.status();
  const std::string& reference = files->at("schedule.json");
  const auto results = Replay({{"schedule.json", reference}});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(
      JsonDifference(Members(results->at("schedule.json"), "actions", "tables"),
                     Members(reference, "actions", "tables")),
      "");
}

TEST(ReplayScheduleTest, SaysWhatIsWrong) {
  for (const char* json :
       {"", "{}", R"({"tables": 1})", R"({"tables": {"wait=x": []}})"}) {
    EXPECT_FALSE(Replay({{"schedule.json", json}}).ok()) << json;
  }
}

TEST(ReplayInputTest, SaysWhatIsWrong) {
  EXPECT_THAT(std::string(Replay({}).status().message()),
              HasSubstr("input.json, events.json, schedule.json"));
  for (const char* json :
       {"", "{", "[]", "{}", R"({"input_events": [{"device_type": "ABC"}]})"}) {
    EXPECT_FALSE(Replay({{"input.json", json}}).ok()) << json;
  }
}

TEST(FilesTest, FoldersReadBackAsWritten) {
  const std::string path = testing::TempDir() + "/folder";
  const Files files = {{"a", "1\n"}, {"b", std::string("\0x", 2)}};
  ASSERT_TRUE(WriteFolder(path, files).ok());
  EXPECT_EQ(*ReadFolder(path), files);
  EXPECT_FALSE(ReadFolder(path + "/none").ok());
  EXPECT_FALSE(ReadArchive(path + "/none").ok());
}

}  // namespace
}  // namespace kymo::conformance
