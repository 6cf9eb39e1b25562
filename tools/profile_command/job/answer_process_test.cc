#include "tools/profile_command/job/answer_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class AnswerProcessTest : public ::testing::Test {
 protected:
  AnswerProcessTest() {
    fs::remove(log_);
    fs::remove(answer_);
  }
  auto Work() {
    return [this](bool is_orphan) {
      puts("at work");
      std::ofstream(answer_ + ".tmp") << (is_orphan ? "orphan" : "asked");
      fs::rename(answer_ + ".tmp", answer_);
      return 3;
    };
  }

  const std::string log_ = ::testing::TempDir() + "/job.log";
  const std::string answer_ = ::testing::TempDir() + "/answer";
};

TEST_F(AnswerProcessTest, WorksWhenItIsAsked) {
  auto process = AnswerProcess::Fork(
      log_, [] {}, Work());
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_FALSE(fs::exists(answer_));
  EXPECT_EQ(process->Finish(), 3);
  EXPECT_EQ(TextOf(answer_), "asked");
  EXPECT_FALSE(fs::exists(log_));
}

TEST_F(AnswerProcessTest, ACommandThatFailsWantsNoAnswer) {
  {
    ASSERT_TRUE(AnswerProcess::Fork(
                    log_, [] {}, Work())
                    .ok());
  }
  EXPECT_FALSE(fs::exists(answer_));
}

// The system's memory may have run out, for example. The command lives on.
TEST_F(AnswerProcessTest, AProcessThatWasKilledHasNoAnswer) {
  auto process = AnswerProcess::Fork(
      log_, [] {}, Work());
  ASSERT_TRUE(process.ok()) << process.status();
  const std::string mine = std::to_string(getpid());
  int child = 0;
  std::ifstream("/proc/" + mine + "/task/" + mine + "/children") >> child;
  ASSERT_GT(child, 0);
  kill(child, SIGKILL);
  siginfo_t ended;  // it stays to be waited for
  ASSERT_EQ(waitid(P_PID, child, &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(process->Finish(), 1);
  EXPECT_FALSE(fs::exists(answer_));
}

TEST_F(AnswerProcessTest, WorksWhenTheCommandWasKilled) {
  // The log is never written through a link.
  fs::create_symlink(answer_ + ".linked", log_);
  int said[2];
  ASSERT_EQ(pipe(said), 0);
  const int kept = open(answer_.c_str(), O_WRONLY | O_CREAT, 0644);
  unlink(answer_.c_str());
  const pid_t command = fork();
  if (command == 0) {
    setpgid(0, 0);
    dup2(said[1], STDERR_FILENO);
    close(said[1]);
    auto process = AnswerProcess::Fork(
        log_, [] {},
        [work = Work(), kept](bool is_orphan) {
          return write(kept, "x", 1) == 1 ? work(is_orphan) : 1;
        },
        {.descriptors = {kept}, .last_words = "it was killed"});
    std::ofstream(answer_ + ".ready");
    for (;;) pause();
  }
  while (!fs::exists(answer_ + ".ready")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  fs::remove(answer_ + ".ready");
  kill(-command, SIGKILL);
  waitpid(command, nullptr, 0);
  while (!fs::exists(answer_)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(TextOf(answer_), "orphan");
  EXPECT_FALSE(fs::exists(answer_ + ".linked"));
  close(kept);
  close(said[1]);
  // Nobody has the command's standard error any more.
  char text[64] = "";
  size_t size = 0;
  for (ssize_t got; (got = read(said[0], text + size, 63 - size)) > 0;) {
    size += got;
  }
  EXPECT_STREQ(text, "kymo: it was killed\n");
  close(said[0]);
}

// A rank's program has crashed: others wait for it until the command ends.
TEST_F(AnswerProcessTest, WorksAfterACommandThatDoesNotWait) {
  {
    auto process = AnswerProcess::Fork(log_, [] {}, Work(),
                                       {.last_words = "it was killed"});
    ASSERT_TRUE(process.ok()) << process.status();
    process->FinishAlone();
  }
  while (!fs::exists(answer_)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(TextOf(answer_), "orphan");
}

}  // namespace
}  // namespace kymo::tools
