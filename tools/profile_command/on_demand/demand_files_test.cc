#include "tools/profile_command/on_demand/demand_files.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "profiler/on_demand/endpoint.h"

namespace kymo::tools {
namespace {

TEST(DemandFilesTest, NamesOfTraces) {
  EXPECT_EQ(TraceNameOf("train (1234)"), "train-1234.json");
  EXPECT_EQ(TraceNameOf("../a b (7)"), "..-a-b-7.json");
}

TEST(DemandFilesTest, CopiesRegularFilesOfTheUserAlone) {
  const std::string folder = *MakeTraceFolder();
  std::ofstream(folder + "/1_7.json") << "{}";
  std::filesystem::create_symlink("/etc/hostname", folder + "/2_7.json");
  EXPECT_TRUE(
      CopyTrace(folder + "/1_7.json", geteuid(), folder + "/out.json").ok());
  std::ifstream copy(folder + "/out.json");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(copy), {}), "{}");
  EXPECT_TRUE(absl::IsPermissionDenied(
      CopyTrace(folder + "/1_7.json", geteuid() + 1, folder + "/o.json")));
  EXPECT_FALSE(
      CopyTrace(folder + "/2_7.json", geteuid(), folder + "/o.json").ok());
  EXPECT_FALSE(
      CopyTrace(folder + "/none.json", geteuid(), folder + "/o.json").ok());
  std::filesystem::remove_all(folder);
}

// As one that its program cuts off meanwhile: a file of the kernel's is shorter
// than its size.
TEST(DemandFilesTest, AFileThatBecomesShorterIsAnError) {
  const std::string from = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (!std::filesystem::exists(from)) GTEST_SKIP() << "there is no " << from;
  const std::string folder = *MakeTraceFolder();
  // In a container, it may be nobody's.
  struct stat file;
  ASSERT_EQ(stat(from.c_str(), &file), 0);
  const absl::Status status =
      CopyTrace(from, file.st_uid, folder + "/out.json");
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_EQ(std::string(status.message()),
            from + " became shorter while it was copied");
  std::filesystem::remove_all(folder);
}

// A program may put anything in the place of its trace. A pipe would keep its
// reader waiting for somebody who writes.
TEST(DemandFilesTest, WholeTracesEndWithABrace) {
  const std::string folder = *MakeTraceFolder();
  const std::string path = folder + "/1_7.json";
  EXPECT_FALSE(EndsWithBrace(path));
  for (const auto& [text, is_whole] :
       {std::pair("", false), std::pair("{", false), std::pair("{}", true),
        std::pair("{}\n \t\r\n", true), std::pair("{},", false)}) {
    std::ofstream(path) << text;
    EXPECT_EQ(EndsWithBrace(path), is_whole) << text;
  }
  std::ofstream(path) << std::string(1000, ' ') << "}";
  EXPECT_TRUE(EndsWithBrace(path));
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(EndsWithBrace(path));
  std::filesystem::remove_all(folder);
}

TEST(DemandFilesTest, ProgramsWithATraceWereRecorded) {
  constexpr int kLost = 3 << 8;  // with --strict
  EXPECT_EQ(AttachedText(0, true), "");
  EXPECT_EQ(AttachedText(kLost, true),
            "the trace of the programs with an open door lacks something, as "
            "said above");
  EXPECT_EQ(AttachedText(1 << 8, false),
            "the programs with an open door were not recorded, as said above");
  EXPECT_EQ(AttachedText(SIGKILL, false),
            "the recording of the programs with an open door was ended by a "
            "signal");
}

TEST(DemandFilesTest, FindsTheOwnerOfASocket) {
  const std::string name = "kymo-owner-test-" + std::to_string(getpid());
  EXPECT_EQ(OwnerOfSocket(name), 0);
  const auto socket = on_demand::Endpoint::Bind(name, "");
  ASSERT_TRUE(socket.ok());
  EXPECT_EQ(OwnerOfSocket(name), getpid());
}

}  // namespace
}  // namespace kymo::tools
