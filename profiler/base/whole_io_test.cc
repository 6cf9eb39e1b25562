#include "profiler/base/whole_io.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "gtest/gtest.h"

namespace kymo {
namespace {

class WholeIoTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_GE(fd_, 0); }
  void TearDown() override { close(fd_); }

  const int fd_ = memfd_create("whole_io_test", MFD_CLOEXEC);
};

TEST_F(WholeIoTest, ReadsWhatWasWrittenAtItsPlace) {
  ASSERT_TRUE(WriteWhole(fd_, 3, "abcdef", 6));
  std::string read(4, '?');
  ASSERT_TRUE(ReadWhole(fd_, 4, read.data(), read.size()));
  EXPECT_EQ(read, "bcde");
  EXPECT_EQ(lseek(fd_, 0, SEEK_CUR), 0);
  EXPECT_EQ(lseek(fd_, 0, SEEK_END), 9);
}

TEST_F(WholeIoTest, OneByteIsWhole) {
  EXPECT_TRUE(WriteWhole(fd_, 0, "x", 1));
  char read = '?';
  EXPECT_TRUE(ReadWhole(fd_, 0, &read, 1));
  EXPECT_EQ(read, 'x');
}

TEST_F(WholeIoTest, NothingIsWholeAnywhere) {
  EXPECT_TRUE(WriteWhole(fd_, 100, nullptr, 0));
  EXPECT_TRUE(ReadWhole(fd_, 100, nullptr, 0));
  EXPECT_EQ(lseek(fd_, 0, SEEK_END), 0);
}

TEST_F(WholeIoTest, FileThatEndsInTheRangeIsAnError) {
  ASSERT_TRUE(WriteWhole(fd_, 0, "abc", 3));
  char read[4];
  errno = 0;
  EXPECT_FALSE(ReadWhole(fd_, 0, read, sizeof(read)));
  EXPECT_EQ(errno, EIO);
}

// The kernel writes up to the limit and says so: the rest is a second call.
TEST_F(WholeIoTest, PartThatWasWrittenIsNotTheWhole) {
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  rlimit limit = old_limit;
  limit.rlim_cur = 4;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const bool written = WriteWhole(fd_, 0, "abcdef", 6);
  const int error = errno;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_FALSE(written);
  EXPECT_EQ(error, EFBIG);
  EXPECT_EQ(lseek(fd_, 0, SEEK_END), 4);
}

TEST_F(WholeIoTest, ErrorsAreTheKernels) {
  char read[1];
  EXPECT_FALSE(ReadWhole(-1, 0, read, sizeof(read)));
  EXPECT_EQ(errno, EBADF);
  EXPECT_FALSE(WriteWhole(-1, 0, "a", 1));
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace kymo
