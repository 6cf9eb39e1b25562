#include "profiler/processes/process_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace kymo::processes {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kNginx[] =
    "4711 (nginx) S 4700 4700 4700 0 -1 4194624 58 0 0 0 12 3 0 0 20 0 1 0 "
    "123456 8192000 500 18446744073709551615\n";

TEST(ParseProcessTest, ReadsTheFields) {
  const auto process = ParseProcess(kNginx);
  ASSERT_TRUE(process);
  EXPECT_EQ(process->pid, 4711);
  EXPECT_EQ(process->parent, 4700);
  EXPECT_EQ(process->name, "nginx");
  EXPECT_EQ(process->state, 'S');
  EXPECT_FALSE(process->is_kernel_thread);
  EXPECT_FALSE(process->has_ended());
  EXPECT_EQ(process->start_ticks, 123456U);
}

TEST(ParseProcessTest, ANameMayLookLikeFields) {
  const auto process = ParseProcess(
      "12 (a) R 7 (\n) Z 1 12 12 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 99 0 0");
  ASSERT_TRUE(process);
  EXPECT_EQ(process->name, "a) R 7 (\n");
  EXPECT_TRUE(process->has_ended());
  EXPECT_EQ(process->start_ticks, 99U);
}

TEST(ParseProcessTest, AProcessRunsOnWithoutItsMainThread) {
  const auto process = ParseProcess(
      "12 (a) Z 1 12 12 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 2 0 99 0 0");
  ASSERT_TRUE(process);
  EXPECT_EQ(process->state, 'Z');
  EXPECT_FALSE(process->has_ended());
}

TEST(ParseProcessTest, KnowsThreadsOfTheKernel) {
  const auto process = ParseProcess(
      "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0");
  ASSERT_TRUE(process);
  EXPECT_TRUE(process->is_kernel_thread);
}

TEST(ParseProcessTest, RefusesWhatIsNotWhole) {
  const std::string whole = kNginx;
  for (const size_t size : {size_t{0}, size_t{4}, size_t{12}, size_t{16},
                            whole.find("4194624"), whole.find("123456")}) {
    EXPECT_FALSE(ParseProcess(whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(ParseProcess(") ("));
}

class FakeProc {
 public:
  FakeProc() : path_(::testing::TempDir() + "/proc") {
    std::filesystem::remove_all(path_);
  }
  void Write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = path_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void AddProcess(int pid, int parent, int start_ticks = 7, char state = 'S') {
    Write(std::to_string(pid) + "/stat",
          std::to_string(pid) + " (p) " + state + " " + std::to_string(parent) +
              " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 " +
              std::to_string(start_ticks) + " 0 0");
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

std::vector<pid_t> PidsOf(const std::vector<ProcessInfo>& processes) {
  std::vector<pid_t> pids;
  for (const ProcessInfo& process : processes) pids.push_back(process.pid);
  return pids;
}

TEST(TreeOfTest, HasRootsAndAllThatTheyStarted) {
  FakeProc proc;
  proc.AddProcess(1, 0);
  proc.AddProcess(300, 1);
  proc.AddProcess(200, 300);  // numbers began again between
  proc.AddProcess(100, 200);
  proc.AddProcess(400, 1);
  proc.AddProcess(500, 300);  // ourselves
  proc.AddProcess(501, 500);
  proc.Write("self/stat", "no number");
  proc.Write("600/status", "a process that ended before its stat was read");
  const auto all = ListProcesses(proc.path());
  EXPECT_THAT(PidsOf(all), ElementsAre(1, 100, 200, 300, 400, 500, 501));
  const pid_t roots[] = {300, 999};
  EXPECT_THAT(PidsOf(TreeOf(all, roots, 500)), ElementsAre(100, 200, 300));
}

// The kernel's 2 may be another process inside of a container.
TEST(ProcessListTest, OldProcessesAreNoneOfAProgramThatHasJustBegun) {
  FakeProc proc;
  proc.AddProcess(2, 0);
  proc.AddProcess(3, 1, 31);  // numbers began again
  proc.AddProcess(30, 1, 30, 'Z');
  proc.AddProcess(31, 30, 30);
  proc.AddProcess(32, 30, 32, 'Z');
  proc.AddProcess(33, 30, 33);
  EXPECT_THAT(RunningSince(30, proc.path()), ElementsAre(3, 31, 33));
  EXPECT_THAT(RunningSince(34, proc.path()), IsEmpty());
}

TEST(ProcessListTest, ReadsThreadsNamesAndUsers) {
  FakeProc proc;
  proc.Write("8/task/10/comm", "worker 2\n");
  proc.Write("8/task/9/comm", "worker 1\n");
  proc.Write("8/task/8/comm", "main\n");
  proc.Write("8/status", "Name:\tmain\nUid:\t33\t0\t0\t0\nGid:\t1\t1\t1\t1\n");
  EXPECT_THAT(ThreadsOf(8, proc.path()), ElementsAre(8, 9, 10));
  EXPECT_EQ(NameOf(8, 10, proc.path()), "worker 2");
  proc.Write("8/task/9/status", "Name:\tx\nTgid:\t8\nNSpid:\t9\t71\t2\n");
  proc.Write("8/task/10/status", "Name:\tx\nNSpid:\t10\nNSpgid:\t5\n");
  EXPECT_EQ(UserOf(8, proc.path()), 33U);
  EXPECT_EQ(InnerNumberOf(8, 9, proc.path()), 2);
  EXPECT_EQ(InnerNumberOf(8, 10, proc.path()), 10);
  EXPECT_EQ(InnerNumberOf(8, 11, proc.path()), 0);
  EXPECT_THAT(ThreadsOf(9, proc.path()), IsEmpty());
  EXPECT_EQ(NameOf(8, 11, proc.path()), "");
  EXPECT_EQ(UserOf(9, proc.path()), std::nullopt);
}

TEST(ProcessListTest, FindsThisProcess) {
  const auto process = ReadProcess(getpid());
  ASSERT_TRUE(process);
  EXPECT_EQ(process->parent, getppid());
  EXPECT_GT(process->start_ticks, 0U);
  EXPECT_THAT(PidsOf(ListProcesses()), Contains(getpid()));
  EXPECT_THAT(ThreadsOf(getpid()), Contains(gettid()));
  EXPECT_EQ(UserOf(getpid()), getuid());
  EXPECT_EQ(InnerNumberOf(getpid(), gettid()), gettid());
}

}  // namespace
}  // namespace kymo::processes
