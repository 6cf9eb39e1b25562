// Also the other lines of the command: its progress, and what to open.
#include "tools/profile_command/screen.h"

#include <pty.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/base/clock.h"
#include "tools/profile_command/progress_line.h"
#include "tools/profile_command/what_to_open.h"

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(WhatToOpenTest, EachViewerHasItsLine) {
  const std::pair<std::string, std::string> lines[] = {
      {"report.html", "all in one page: open o/report.html in a browser"},
      {"trace.json", "timeline: open o/trace.json in https://ui.perfetto.dev"},
      {"trace.json.gz",
       "timeline: open o/trace.json.gz in https://ui.perfetto.dev"},
      {"trace.pftrace",
       "timeline: open o/trace.pftrace in https://ui.perfetto.dev"},
      {"tensorboard", "TensorBoard: tensorboard --logdir o/tensorboard"},
      {"memory_timeline.html",
       "memory: open o/memory_timeline.html in a "
       "browser"},
      {"stacks.speedscope.json",
       "flame graph: open o/stacks.speedscope.json "
       "in https://www.speedscope.app"},
      {"stacks.speedscope.json.gz",
       "flame graph: open o/stacks.speedscope.json.gz in "
       "https://www.speedscope.app"}};
  std::vector<std::string> all = {"key_averages.txt"};
  for (const auto& [name, line] : lines) {
    EXPECT_THAT(WhatToOpen({name}, "o"), ElementsAre(line));
    all.push_back(name);
  }
  EXPECT_THAT(WhatToOpen(all, "o"),
              ElementsAre(lines[0].second, lines[1].second, lines[2].second,
                          "all tables: o/key_averages.txt"));
  EXPECT_THAT(WhatToOpen({"tensorboard2", "trace.steps_x.json"}, "o"),
              IsEmpty());
}

TEST(WhatToOpenTest, OfTwoPartsTheOneWithTheLowerNumberIsFirst) {
  const auto expected = ElementsAre(
      "timeline: open o/trace.steps_0-9.json and the parts after it in "
      "https://ui.perfetto.dev");
  EXPECT_THAT(
      WhatToOpen({"trace.steps_0-9.json", "trace.steps_10-19.json"}, "o"),
      expected);
  EXPECT_THAT(
      WhatToOpen({"trace.steps_10-19.json", "trace.steps_0-9.json"}, "o"),
      expected);
}

TEST(ProgressBarTest, StaysInItsBounds) {
  EXPECT_EQ(ProgressBar(-1), "[                    ]   0 %");
  EXPECT_EQ(ProgressBar(0.05), "[#                   ]   5 %");
  EXPECT_EQ(ProgressBar(0.97), "[################### ]  97 %");
  EXPECT_EQ(ProgressBar(1), "[####################] 100 %");
  EXPECT_EQ(ProgressBar(2), "[####################] 100 %");
}

class ScreenTest : public testing::Test {
 protected:
  ScreenTest() {
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
  }

  static ScreenOptions Of(unsigned short rows, unsigned short columns,
                          size_t tables, ColorUse color = ColorUse::kAuto) {
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    int terminal = -1, other_end = -1;
    EXPECT_EQ(openpty(&other_end, &terminal, nullptr, nullptr, &size), 0);
    const ScreenOptions options = ScreenOf(terminal, color, tables);
    close(terminal);
    close(other_end);
    return options;
  }
};

TEST_F(ScreenTest, TheSizeIsTheTerminals) {
  EXPECT_EQ(Of(24, 80, 1).width, 80u);
  EXPECT_EQ(Of(24, 40, 1).width, 40u);
  EXPECT_EQ(Of(24, 39, 1).width, 40u);
  // Terminals that do not say it.
  EXPECT_EQ(Of(24, 0, 1).width, 120u);
  EXPECT_EQ(Of(0, 80, 1).rows, 15);
  EXPECT_EQ(Of(24, 80, 0).rows, 15);
  // 24 lines less 7 for the rest and 4 around the table.
  EXPECT_EQ(Of(24, 80, 1).rows, 13);
  EXPECT_EQ(Of(26, 80, 1).rows, 15);
  EXPECT_EQ(Of(27, 80, 1).rows, 15);
  EXPECT_EQ(Of(29, 80, 2).rows, 7);
  EXPECT_EQ(Of(1, 80, 1).rows, 5);
  EXPECT_EQ(Of(1, 1, 1).width, 40u);
}

TEST_F(ScreenTest, VariablesWithoutAWordAreNone) {
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(Of(24, 80, 1).color);
  unsetenv("TERM");
  EXPECT_TRUE(Of(24, 80, 1).color);
  EXPECT_TRUE(ScreenOf(-1, ColorUse::kAlways, 1).color);
  EXPECT_FALSE(ScreenOf(-1, ColorUse::kAuto, 1).color);
}

// What the terminal shows while `use` has a progress line.
template <typename Use>
std::string ShownWhile(bool wanted, const Use& use) {
  int terminal = -1, other_end = -1;
  EXPECT_EQ(openpty(&other_end, &terminal, nullptr, nullptr, nullptr), 0);
  const int before = dup(STDERR_FILENO);
  dup2(terminal, STDERR_FILENO);
  {
    ProgressLine progress(wanted);
    use(progress);
  }
  // So that there is something to read.
  EXPECT_EQ(write(STDERR_FILENO, "|", 1), 1);
  dup2(before, STDERR_FILENO);
  std::string shown;
  for (char c = 0; c != '|' && read(other_end, &c, 1) == 1;) shown += c;
  for (const int fd : {before, terminal, other_end}) close(fd);
  return shown;
}

std::string ShownProgress(bool wanted) {
  return ShownWhile(wanted, [](ProgressLine& progress) {
    progress.Clear();
    progress.Show("reading");
    progress.Clear();
    progress.Clear();
  });
}

TEST_F(ScreenTest, ABarIsDrawnTenTimesASecond) {
  bool is_slow = true;  // the machine: two calls took that long
  std::string shown;
  for (int i = 0; i < 10 && is_slow; ++i) {
    shown = ShownWhile(true, [&](ProgressLine& progress) {
      const int64_t begin_ns = MonotonicNs();
      progress.Show("reading", 0.25);
      progress.Show("reading", 0.5);
      is_slow = MonotonicNs() - begin_ns >= 100'000'000;
      usleep(101'000);
      progress.Show("reading", 0.75);
    });
  }
  EXPECT_EQ(shown,
            "\r\033[Kkymo: reading  [#####               ]  25 %"
            "\r\033[Kkymo: reading  [###############     ]  75 %\r\033[K|");
}

TEST_F(ScreenTest, ProgressIsTakenBackOnce) {
  EXPECT_EQ(ShownProgress(true), "\r\033[Kkymo: reading\r\033[K|");
  EXPECT_EQ(ShownProgress(false), "|");
  unsetenv("TERM");
  EXPECT_THAT(ShownProgress(true), HasSubstr("reading"));
  setenv("TERM", "dumb", 1);
  EXPECT_EQ(ShownProgress(true), "|");
}

}  // namespace
}  // namespace kymo::tools
