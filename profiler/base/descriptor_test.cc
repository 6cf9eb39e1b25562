#include "profiler/base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "profiler/base/mapped/regular_file.h"
#include "profiler/base/owned_descriptor.h"

namespace kymo {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

int MakeFile() { return memfd_create("descriptor_test", MFD_CLOEXEC); }

TEST(DescriptorTest, StaysAboveTheStandardStreams) {
  const int input = dup(STDIN_FILENO);
  ASSERT_GE(input, 0);
  close(STDIN_FILENO);
  const int low = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(low, STDIN_FILENO);
  const int above = AboveStandardStreams(low);
  const int flags = fcntl(above, F_GETFD);
  const bool is_closed = !IsOpen(STDIN_FILENO);
  ASSERT_EQ(dup2(input, STDIN_FILENO), STDIN_FILENO);
  close(input);
  close(above);
  EXPECT_GE(above, 3);
  EXPECT_EQ(flags, FD_CLOEXEC);
  EXPECT_TRUE(is_closed);
}

TEST(DescriptorTest, OthersStayWhatTheyAre) {
  const int fd = MakeFile();
  EXPECT_EQ(AboveStandardStreams(fd), fd);
  close(fd);
  errno = ENOENT;
  EXPECT_EQ(AboveStandardStreams(-1), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST(OwnedDescriptorTest, ClosesWhatItOwns) {
  const int fd = MakeFile();
  {
    const OwnedDescriptor file(fd);
    EXPECT_TRUE(file.is_open());
    EXPECT_EQ(file.get(), fd);
    EXPECT_TRUE(IsOpen(fd));
  }
  EXPECT_FALSE(IsOpen(fd));
}

TEST(OwnedDescriptorTest, NoFileLeavesTheErrorAlone) {
  errno = EACCES;
  {
    const OwnedDescriptor file(-1);
    EXPECT_FALSE(file.is_open());
    EXPECT_FALSE(OwnedDescriptor().is_open());
  }
  EXPECT_EQ(errno, EACCES);
}

TEST(OwnedDescriptorTest, AMoveLeavesOneOwner) {
  const int first = MakeFile();
  const int second = MakeFile();
  OwnedDescriptor from(first);
  {
    OwnedDescriptor to(std::move(from));
    EXPECT_EQ(to.get(), first);
    to = OwnedDescriptor(second);
    EXPECT_EQ(to.get(), second);
    EXPECT_FALSE(IsOpen(first));
  }
  EXPECT_FALSE(IsOpen(second));
}

TEST(OwnedDescriptorTest, OnlyRegularFilesAreOpenedForOthers) {
  const std::string path = testing::TempDir() + "/regular";
  close(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  struct stat about = {};
  EXPECT_TRUE(OpenRegularFile(path).is_open());
  EXPECT_TRUE(OpenRegularFile(path, &about).is_open());
  EXPECT_TRUE(S_ISREG(about.st_mode));
  const std::string fifo = testing::TempDir() + "/fifo";
  unlink(fifo.c_str());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& other : {fifo, testing::TempDir()}) {
    EXPECT_FALSE(OpenRegularFile(other).is_open());
    EXPECT_EQ(errno, EINVAL);
  }
  EXPECT_FALSE(OpenRegularFile(path + ".none").is_open());
  EXPECT_EQ(errno, ENOENT);
}

TEST(OwnedDescriptorTest, UnnamedFilesLeaveNothingBehind) {
  const std::string folder = testing::TempDir() + "/unnamed";
  std::filesystem::create_directory(folder);
  const OwnedDescriptor file = MakeUnnamedFile(folder);
  ASSERT_TRUE(file.is_open());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  struct stat about = {};
  ASSERT_EQ(fstat(file.get(), &about), 0);
  EXPECT_EQ(about.st_nlink, 0u);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_EQ(fcntl(file.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(write(file.get(), "abc", 3), 3);
  char read[3] = {};
  EXPECT_EQ(pread(file.get(), read, 3, 0), 3);
  EXPECT_EQ(std::string(read, 3), "abc");
}

TEST(OwnedDescriptorTest, NoUnnamedFileWithoutItsFolder) {
  EXPECT_FALSE(MakeUnnamedFile("/nonexistent/folder").is_open());
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
}  // namespace kymo
