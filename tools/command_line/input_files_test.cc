#include "tools/command_line/input_files.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

class InputFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/input_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Makes a file in the folder, and returns its path.
  std::string File(const std::string& name) const {
    std::string path = folder_ + "/" + name;
    std::ofstream(path) << name;
    return path;
  }

  std::string folder_;
};

TEST_F(InputFilesTest, FilesStayWhatTheyAre) {
  const std::string file = File("a");
  const auto inputs = InputFiles::Open({file, "/none/here"});
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  EXPECT_THAT(inputs->paths(), ElementsAre(file, "/none/here"));
  EXPECT_THAT(inputs->names(), ElementsAre(file, "/none/here"));
}

TEST_F(InputFilesTest, APipeIsReadOnceAndGivesItsBytesTwice) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string bytes(1'000'000, 'x');
  std::jthread writer([&] { std::ofstream(pipe) << bytes; });
  const auto inputs = InputFiles::Open({pipe});
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  EXPECT_THAT(inputs->names(), ElementsAre(pipe));
  ASSERT_EQ(inputs->paths().size(), 1u);
  const std::string& path = inputs->paths()[0];
  EXPECT_TRUE(ReadFile(path) == bytes);
  EXPECT_TRUE(ReadFile(path) == bytes);
  EXPECT_EQ(inputs->WithNames("cannot read " + path + ": " + path),
            "cannot read " + pipe + ": " + pipe);
}

TEST_F(InputFilesTest, AFolderStandsForTheTraceInIt) {
  const auto found = [&] { return InputFiles::Open({folder_})->paths(); };
  File("summary.json");
  const auto none = InputFiles::Open({folder_});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(none.status().message().find(folder_), std::string::npos);
  const std::string second = File("trace.steps_10-19.json");
  EXPECT_THAT(found(), ElementsAre(second));
  const std::string first = File("trace.steps_0-9.json.gz");
  const auto parts = InputFiles::Open({folder_});
  ASSERT_FALSE(parts.ok());
  EXPECT_THAT(std::string(parts.status().message()),
              HasSubstr("in 2 parts: name one, such as " + first));
  for (const char* const rank : {"0", "1"}) {
    std::filesystem::create_directories(folder_ +
                                        "/parquet/events/job=a/rank=" + rank);
  }
  const std::string part0 = File("parquet/events/job=a/rank=0/part-0.parquet");
  const std::string part1 = File("parquet/events/job=a/rank=1/part-0.parquet");
  EXPECT_THAT(found(), ElementsAre(part0, part1));
  EXPECT_THAT(InputFiles::Open({folder_ + "/parquet"})->paths(),
              ElementsAre(part0, part1));
  const std::string rank1 = File("rank1.pt.trace.json.gz");
  const std::string rank0 = File("rank0.pt.trace.json");
  EXPECT_THAT(found(), ElementsAre(rank0, rank1));
  EXPECT_EQ(InputFiles::Open({folder_})->folder_of_several(), folder_);
  const std::string raw = File("kymo.raw");
  EXPECT_THAT(found(), ElementsAre(raw));
  const std::string packed = File("trace.json.gz");
  EXPECT_THAT(found(), ElementsAre(packed));
  const std::string plain = File("trace.json");
  EXPECT_THAT(found(), ElementsAre(plain));
  EXPECT_EQ(InputFiles::Open({folder_})->folder_of_several(), "");
}

TEST_F(InputFilesTest, AFolderOfRunsNamesTheNewest) {
  const auto message = [&] {
    return std::string(InputFiles::Open({folder_}).status().message());
  };
  std::filesystem::create_directories(folder_ + "/no_run");
  for (const char* const run : {"1", "2", "3", "4", "5", "6"}) {
    std::filesystem::create_directories(folder_ + "/" + run);
    File(std::string(run) + "/trace.json");
    std::filesystem::last_write_time(
        folder_ + "/" + run,
        std::filesystem::file_time_type(std::chrono::hours(run[0] - '0')));
    if (run[0] == '1') {
      EXPECT_THAT(message(), HasSubstr("has the folders of 1 run; name one, "
                                       "the newest first: " +
                                       folder_ + "/1"));
    }
  }
  std::string newest;
  for (const char* const run : {"6, ", "5, ", "4, ", "3, ", "2, ..."}) {
    newest += folder_ + "/" + run;
  }
  EXPECT_EQ(message(), "'" + folder_ +
                           "' has the folders of 6 runs; name one, the newest "
                           "first: " +
                           newest);
}

}  // namespace
}  // namespace kymo::tools
