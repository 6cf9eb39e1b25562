// A trace that was saved and loaded gives what it gave when it was recorded.
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kymo/load_trace.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"

namespace kymo {
namespace {

using ::testing::HasSubstr;

std::string PathOf(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

void Work() {
  KYMO_RECORD_FUNCTION("outer");
  for (int i = 0; i < 3; ++i) {
    KYMO_RECORD_FUNCTION("inner");
  }
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(SavedTraceTest, TablesAreThoseOfTheRecording) {
  const std::string path = PathOf("saved.json.gz");
  Profile profile({.with_stack = true});
  ASSERT_TRUE(profile.Start().ok());
  Work();
  ASSERT_TRUE(profile.Stop().ok());
  ASSERT_TRUE(profile.export_chrome_trace(path).ok());

  const absl::StatusOr<SavedTrace> saved = LoadTrace({path});
  ASSERT_TRUE(saved.ok()) << saved.status();
  ASSERT_EQ(saved->files.size(), 1u);
  EXPECT_EQ(saved->files[0].importer, "chrome");
  EXPECT_TRUE(saved->files[0].findings.empty());
  EXPECT_EQ(saved->profile->key_averages().table(),
            profile.key_averages().table());
  EXPECT_EQ(saved->profile->table(), profile.table());

  ASSERT_TRUE(profile.export_stacks(PathOf("recorded.stacks")).ok());
  ASSERT_TRUE(saved->profile->export_stacks(PathOf("saved.stacks")).ok());
  EXPECT_EQ(ReadFile(PathOf("saved.stacks")),
            ReadFile(PathOf("recorded.stacks")));
}

TEST(SavedTraceTest, TheDeviceIsTheRecordings) {
  const std::string path = PathOf("device.json");
  std::ofstream(path) << R"({"use_device": "xpu", "traceEvents": [
      {"ph": "X", "cat": "cpu_op", "name": "mm", "pid": 1, "tid": 1,
       "ts": 0, "dur": 10, "args": {"External id": 7}},
      {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
       "ts": 2, "dur": 3,
       "args": {"device": 0, "stream": 7, "External id": 7}}]})";
  const absl::StatusOr<SavedTrace> saved = LoadTrace({path});
  ASSERT_TRUE(saved.ok()) << saved.status();
  const std::string table = saved->profile->key_averages().table();
  EXPECT_THAT(table, HasSubstr("Self XPU"));
  EXPECT_THAT(table, testing::Not(HasSubstr("Self CUDA")));
}

TEST(SavedTraceTest, SeveralFilesAreOneTrace) {
  const std::string path = PathOf("twice.json");
  Profile profile;
  ASSERT_TRUE(profile.Start().ok());
  Work();
  ASSERT_TRUE(profile.Stop().ok());
  ASSERT_TRUE(profile.export_chrome_trace(path).ok());

  const absl::StatusOr<SavedTrace> saved = LoadTrace({path, path});
  ASSERT_TRUE(saved.ok()) << saved.status();
  for (const FunctionEventAvg& row : saved->profile->key_averages()) {
    EXPECT_EQ(row.count, row.key == "outer" ? 2 : 6) << row.key;
  }
}

TEST(SavedTraceTest, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(LoadTrace({}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(LoadTrace({PathOf("missing.json")}).status().code(),
            absl::StatusCode::kNotFound);
  std::ofstream(PathOf("prose.txt")) << "Once upon a time";
  const absl::Status prose = LoadTrace({PathOf("prose.txt")}).status();
  EXPECT_EQ(prose.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(prose.message()), HasSubstr("prose.txt"));
}

}  // namespace
}  // namespace kymo
