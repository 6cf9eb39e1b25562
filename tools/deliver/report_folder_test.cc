#include "tools/deliver/report_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/status/status.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

class ReportFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/report_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    for (const char* const name : {"trace.json", "trace.json.gz", "old"}) {
      std::ofstream(folder_ + "/" + name) << "there";
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  // What writing and then removing a file comes to.
  static absl::StatusCode Replace(ReportFolder& out, const char* name) {
    absl::Status status;
    if (auto sink = out.Open(name); sink.ok()) {
      status = (*sink)->Commit();
    } else {
      status = sink.status();
    }
    out.Remove(name);
    return status.code();
  }

  std::string Content(const char* name) const {
    std::ifstream file(folder_ + "/" + name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  std::string folder_;
};

constexpr auto kRefused = absl::StatusCode::kInvalidArgument;

TEST_F(ReportFolderTest, WhatIsReadStaysAsItIs) {
  // By another path, as users do.
  fs::create_symlink(folder_, folder_ + "/link");
  ReportFolder out(folder_, {folder_ + "/link/trace.json", "/dev/null",
                             folder_ + "/trace.json.gz", "/no/such/file"});
  EXPECT_EQ(Replace(out, "trace.json"), kRefused);
  EXPECT_EQ(Replace(out, "trace.json.gz"), kRefused);
  EXPECT_EQ(Content("trace.json"), "there");
  EXPECT_EQ(Content("trace.json.gz"), "there");
  EXPECT_EQ(Replace(out, "old"), absl::StatusCode::kOk);
  EXPECT_FALSE(fs::exists(folder_ + "/old"));
}

TEST_F(ReportFolderTest, AFolderOfFilesIsReadWhole) {
  fs::create_directory(folder_ + "/below");
  std::ofstream(folder_ + "/below/table.parquet") << "there";
  ReportFolder out(folder_, {folder_});
  EXPECT_EQ(Replace(out, "below/table.parquet"), kRefused);
  EXPECT_EQ(Content("below/table.parquet"), "there");
  EXPECT_EQ(Replace(out, "below/new"), absl::StatusCode::kOk);
}

}  // namespace
}  // namespace kymo::tools
