#include "tools/profile_command/start/late_ctrl_c.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

namespace kymo::tools {
namespace {

TEST(LateCtrlCDeathTest, TheFirstSaysThatFilesAreWrittenAndTheNextEndsThat) {
  const auto press_twice = [] {
    KeepWritingAfterFirstCtrlC();
    raise(SIGINT);
    dprintf(STDERR_FILENO, "still here\n");
    raise(SIGINT);
  };
  EXPECT_EXIT(press_twice(), testing::KilledBySignal(SIGINT),
              "^kymo: the files are being written; Ctrl-C again ends that, "
              "too\nstill here\n$");
}

// Another process writes the answer of a job, also if the command ends.
TEST(LateCtrlCDeathTest, OfARankTheSecondDoesNotEndTheJobsAnswer) {
  const auto press = [] {
    KeepWritingAfterFirstCtrlC(FilesOf::kRankOfJob);
    raise(SIGINT);
    _exit(3);
  };
  EXPECT_EXIT(press(), testing::ExitedWithCode(3),
              "^kymo: the files are being written; Ctrl-C again ends this "
              "command, but the answer of the job will be written\n$");
}

// A shell without job control ignores it for what it starts with `&`.
TEST(LateCtrlCDeathTest, OneThatIsIgnoredStaysSo) {
  const auto press_twice = [] {
    ::signal(SIGINT, SIG_IGN);
    KeepWritingAfterFirstCtrlC();
    raise(SIGINT);
    raise(SIGINT);
    _exit(3);
  };
  EXPECT_EXIT(press_twice(), testing::ExitedWithCode(3), "^$");
}

}  // namespace
}  // namespace kymo::tools
