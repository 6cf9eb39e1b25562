// Screens and progress on real terminals.
#include "tools/profile_command/screen.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

#include "tools/profile_command/progress_line.h"

namespace kymo::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TerminalTest : public ::testing::Test {
 protected:
  TerminalTest() {
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
  }
  ~TerminalTest() override {
    for (const int fd : {terminal_, other_end_}) {
      if (fd >= 0) close(fd);
    }
  }

  void Open(unsigned short rows, unsigned short columns) {
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    ASSERT_EQ(openpty(&other_end_, &terminal_, nullptr, nullptr, &size), 0);
  }

  int terminal_ = -1;
  int other_end_ = -1;
};

TEST_F(TerminalTest, RowsAreWhatFitsButFifteen) {
  Open(50, 150);
  EXPECT_EQ(ScreenOf(terminal_, ColorUse::kAuto, 1).width, 150u);
  EXPECT_EQ(ScreenOf(terminal_, ColorUse::kAuto, 1).rows, 15);
  // 50 lines, 7 of them for the rest, 3 tables with 4 lines around each.
  EXPECT_EQ(ScreenOf(terminal_, ColorUse::kAuto, 3).rows, 10);
  EXPECT_EQ(ScreenOf(terminal_, ColorUse::kAuto, 9).rows, 5);
}

TEST_F(TerminalTest, FindingsTakeTwoLinesEach) {
  Open(50, 150);
  // 7 lines less for 3 findings and the empty line above them: 36 of 3 tables.
  EXPECT_EQ(ScreenOf(terminal_, ColorUse::kAuto, 3, 3).rows, 8);
  EXPECT_EQ(ScreenOf(terminal_, ColorUse::kAuto, 3, 0).rows, 10);
}

TEST_F(TerminalTest, ColorIsForTerminalsThatWantIt) {
  Open(24, 80);
  EXPECT_TRUE(ScreenOf(terminal_, ColorUse::kAuto, 1).color);
  EXPECT_FALSE(ScreenOf(terminal_, ColorUse::kNever, 1).color);
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(ScreenOf(terminal_, ColorUse::kAuto, 1).color);
  EXPECT_TRUE(ScreenOf(terminal_, ColorUse::kAlways, 1).color);
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(ScreenOf(terminal_, ColorUse::kAuto, 1).color);
}

TEST_F(TerminalTest, ProgressIsShownTenTimesASecondAndTakenBack) {
  Open(24, 80);
  const int before = dup(STDERR_FILENO);
  ASSERT_GE(before, 0);
  ASSERT_EQ(dup2(terminal_, STDERR_FILENO), STDERR_FILENO);
  {
    ProgressLine progress(true);
    progress.Show("reading");
    // The first counts; the others come at once behind it.
    for (int percent = 10; percent < 100; ++percent) {
      progress.Show("writing", percent / 100.0);
    }
    ProgressLine quiet(false);
    quiet.Show("nothing");
    quiet.Show("nothing", 0.5);
  }
  ASSERT_EQ(write(STDERR_FILENO, "|", 1), 1);
  dup2(before, STDERR_FILENO);
  close(before);
  // A terminal may hand over its text in pieces.
  std::string shown;
  char piece[256];
  while (!shown.ends_with("\r\033[K|")) {
    const ssize_t got = read(other_end_, piece, sizeof(piece));
    ASSERT_GT(got, 0);
    shown.append(piece, static_cast<size_t>(got));
  }
  EXPECT_THAT(shown, HasSubstr("kymo: reading"));
  EXPECT_THAT(shown, HasSubstr("kymo: writing  [##                  ]  10 %"));
  EXPECT_THAT(shown, Not(HasSubstr(" 11 %")));
  EXPECT_THAT(shown, Not(HasSubstr("nothing")));
}

TEST_F(TerminalTest, AFileHasNoWidthOfItsOwn) {
  const int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const ScreenOptions options = ScreenOf(file, ColorUse::kAuto, 2);
  close(file);
  EXPECT_EQ(options.width, 120u);
  EXPECT_EQ(options.rows, 20);
  EXPECT_FALSE(options.color);
}

}  // namespace
}  // namespace kymo::tools
