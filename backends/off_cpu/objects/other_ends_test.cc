#include "backends/off_cpu/objects/other_ends.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <string>

namespace kymo::off_cpu {
namespace {

constexpr int64_t kHourNs = int64_t{3'600'000'000'000};

uint64_t InodeOf(int fd) {
  struct stat status = {};
  EXPECT_EQ(fstat(fd, &status), 0);
  return status.st_ino;
}

// A child that has all descriptors of this process but one.
class Child {
 public:
  explicit Child(int closes) : pid_(fork()) {
    if (pid_ != 0) return;
    close(closes);
    // Tells that it is closed: the parent reads to the end of it.
    close(told_[0]);
    close(told_[1]);
    for (;;) pause();
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  void AwaitClosed() {
    close(told_[1]);
    char c;
    EXPECT_EQ(read(told_[0], &c, 1), 0);
    close(told_[0]);
  }
  std::string text() const { return "(" + std::to_string(pid_) + ")"; }

 private:
  struct Told {
    int ends[2];
    Told() { EXPECT_EQ(pipe(ends), 0); }
    int operator[](int i) const { return ends[i]; }
  };
  const Told told_;
  const pid_t pid_;
};

std::map<uint32_t, std::string> FindAll(OtherEnds& ends) {
  std::map<uint32_t, std::string> found;
  ends.Finish(kHourNs,
              [&](uint32_t id, const std::string& text) { found[id] = text; });
  return found;
}

TEST(OtherEndsTest, APipeHasTheProcessesOfItsOtherEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Child reader(/*closes=*/ends[1]);
  reader.AwaitClosed();
  close(ends[0]);  // this process only writes
  OtherEnds search;
  const uint64_t inode = InodeOf(ends[1]);
  const int64_t self = getpid();
  search.Want(
      {.inode = inode, .own_pid = self, .side = Side::kReader, .id = 1});
  search.Want(
      {.inode = inode, .own_pid = self, .side = Side::kWriter, .id = 2});
  search.Want({.inode = 1, .own_pid = self, .side = Side::kWriter, .id = 3});
  const auto found = FindAll(search);
  ASSERT_TRUE(found.contains(1));
  EXPECT_TRUE(found.at(1).ends_with(reader.text())) << found.at(1);
  EXPECT_EQ(found.at(2), "itself");
  EXPECT_FALSE(found.contains(3));
  close(ends[1]);
}

// It may have had the end, and have ended the wait.
TEST(OtherEndsTest, NobodyKnowsWhatAChildHadThatHasEnded) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int other = dup(ends[0]);
  const OtherEnd end = {.inode = InodeOf(ends[0]),
                        .own_pid = getpid(),
                        .side = Side::kWriter,
                        .id = 1};
  OtherEnds search;
  {
    Child writer(/*closes=*/other);
    writer.AwaitClosed();
    search.Want(end);
  }
  EXPECT_TRUE(FindAll(search).empty());
  search.Want(end);  // without a child
  EXPECT_EQ(FindAll(search)[1], "itself");
  Child writer(/*closes=*/other);
  writer.AwaitClosed();
  search.Want(end);
  EXPECT_TRUE(FindAll(search)[1].ends_with(writer.text()));
  for (const int fd : {ends[0], ends[1], other}) close(fd);
}

TEST(OtherEndsTest, ASocketIsFoundByItsOwnInode) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const uint64_t inode = InodeOf(pair[1]);
  Child first(/*closes=*/pair[0]);
  first.AwaitClosed();  // the next child has what this process has
  Child second(/*closes=*/pair[0]);
  second.AwaitClosed();
  close(pair[1]);
  OtherEnds search;
  search.Want(
      {.inode = inode, .own_pid = getpid(), .side = Side::kSocket, .id = 7});
  const auto found = FindAll(search);
  ASSERT_TRUE(found.contains(7));
  EXPECT_TRUE(found.at(7).ends_with(" and 1 other")) << found.at(7);
  close(pair[0]);
}

// It goes on where it was, and does not begin again.
TEST(OtherEndsTest, ManyShortSearchesAreAsGoodAsALongOne) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  OtherEnds search;
  search.Want({.inode = InodeOf(ends[0]),
               .own_pid = getpid(),
               .side = Side::kWriter,
               .id = 1});
  std::string text;
  while (text.empty()) {
    search.Search(0, [&](uint32_t, const std::string& found) { text = found; });
  }
  EXPECT_EQ(text, "itself");
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace kymo::off_cpu
