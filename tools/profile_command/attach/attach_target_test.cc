#include "tools/profile_command/attach/attach_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A process that waits until it is killed, with a name of its own.
class Sleeper {
 public:
  explicit Sleeper(const char* name) : pid_(fork()) {
    if (pid_ == 0) {
      prctl(PR_SET_NAME, name);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
    while (processes::ReadProcess(pid_)->name != name) usleep(1000);
  }
  ~Sleeper() {
    End();
    waitpid(pid_, nullptr, 0);
  }
  // Nobody waits for it yet.
  void End() const {
    kill(pid_, SIGKILL);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};

std::string ErrorOf(const AttachRequest& request) {
  return std::string(FindAttachTarget(request).status().message());
}

TEST(AttachTargetTest, FindsProcessesByNumberAndByName) {
  const Sleeper first("kymo_sleeper_1");
  const Sleeper second("kymo_sleeper_2");
  auto target = FindAttachTarget({.pids = {first.pid(), first.pid()}});
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_THAT(target->running.pids, ElementsAre(first.pid()));
  EXPECT_EQ(target->name, "kymo_sleeper_1");
  EXPECT_EQ(target->text,
            "kymo_sleeper_1 (" + std::to_string(first.pid()) + ")");

  target =
      FindAttachTarget({.pids = {second.pid()}, .name = "^kymo_sleeper_[12]$"});
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->named.size(), 2U);
  EXPECT_THAT(target->text, HasSubstr(" and 1 other"));
  EXPECT_FALSE(HasEnded(*target));
  EXPECT_EQ(CountEnded(*target), 0u);
  first.End();
  EXPECT_FALSE(HasEnded(*target));
  EXPECT_EQ(CountEnded(*target), 1u);
  second.End();
  EXPECT_TRUE(HasEnded(*target));
}

// Two users run a program of one name, and one of them asks for it.
TEST(AttachTargetTest, ANameMeansWhatThisUserMayWatch) {
  const Sleeper own("kymo_sleeper_5");
  const Sleeper others("kymo_sleeper_6");
  const AttachRequest both = {.name = "^kymo_sleeper_[56]$"};
  auto target =
      FindAttachTarget(both, [&](pid_t pid) { return pid == own.pid(); });
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_THAT(target->running.pids, ElementsAre(own.pid()));
  EXPECT_EQ(target->left_out, 1u);
  // Whoever records them says why not.
  target = FindAttachTarget(both, [](pid_t) { return false; });
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->running.pids.size(), 2u);
  EXPECT_EQ(target->left_out, 0u);
  // A number means just that one.
  target =
      FindAttachTarget({.pids = {others.pid()}}, [](pid_t) { return false; });
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_THAT(target->running.pids, ElementsAre(others.pid()));
  EXPECT_TRUE(MayWatch(getpid()));
}

// Its name becomes that of a folder, and is shown.
TEST(AttachTargetTest, AStrangeNameIsNoStrangePath) {
  const Sleeper sleeper("-a\n\x1b[31m/b");
  const auto target = FindAttachTarget({.pids = {sleeper.pid()}});
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->name, "_a__[31m_b");
}

// The first word of a command line may have 128 KiB, and be anybody's.
TEST(AttachTargetTest, ALongCommandLineDoesNoHarm) {
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const std::string word(120'000, 'A');
    execl("/bin/sleep", word.c_str(), "60", nullptr);
    _exit(1);
  }
  // A program has its name before its command line.
  while (!FindAttachTarget({.name = "^A{200}"}).ok()) usleep(1000);
  EXPECT_THAT(ErrorOf({.name = "^(A|B)*C"}),
              HasSubstr("no process has a name that matches"));
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST(AttachTargetTest, NoticesThatANumberWasTakenByAnotherProcess) {
  const Sleeper sleeper("kymo_sleeper_3");
  auto target = FindAttachTarget({.pids = {sleeper.pid()}});
  ASSERT_TRUE(target.ok());
  EXPECT_TRUE(CheckIdentity(*target).ok());
  target->named[0].start_ticks -= 1;
  EXPECT_THAT(std::string(CheckIdentity(*target).message()),
              HasSubstr("another one got its number"));
  EXPECT_TRUE(HasEnded(*target));
}

TEST(AttachTargetTest, SaysWhatIsWrongWithAProcess) {
  EXPECT_THAT(ErrorOf({.pids = {1 << 22}}), HasSubstr("there is no process"));
  EXPECT_THAT(ErrorOf({.pids = {getpid()}}),
              HasSubstr("is this command itself"));
  EXPECT_THAT(ErrorOf({.name = "no such name anywhere"}),
              HasSubstr("no process has a name that matches"));
  EXPECT_THAT(ErrorOf({.name = "("}), HasSubstr("no regular expression"));
  const Sleeper zombie("kymo_sleeper_4");
  zombie.End();
  EXPECT_THAT(ErrorOf({.pids = {zombie.pid()}}), HasSubstr("has ended"));
  pid_t tid = 0;
  std::thread([&] {
    tid = gettid();
    EXPECT_THAT(ErrorOf({.pids = {tid}}), HasSubstr("is a thread of process " +
                                                    std::to_string(getpid())));
  }).join();
  const auto kernel = processes::ReadProcess(2);
  if (!kernel || !kernel->is_kernel_thread) return;  // a container
  EXPECT_THAT(ErrorOf({.pids = {2}}), HasSubstr("a thread of the kernel"));
}

TEST(AttachTargetTest, TheWholeMachineHasNoEnd) {
  const auto target = FindAttachTarget({.all = true});
  ASSERT_TRUE(target.ok());
  EXPECT_TRUE(target->running.all);
  EXPECT_EQ(target->text, "the whole machine");
  EXPECT_TRUE(CheckIdentity(*target).ok());
  EXPECT_FALSE(HasEnded(*target));
}

}  // namespace
}  // namespace kymo::tools
