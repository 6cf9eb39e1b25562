#include "tools/profile_command/screen.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace kymo::tools {
namespace {

constexpr int kMostRows = 15;
constexpr int kLeastRows = 5;
constexpr size_t kLeastWidth = 40;
// Headline, losses and files; and around a table its titles, the line below
// them, what is left out, and an empty line.
constexpr int kLinesOfFrame = 7;
constexpr int kLinesAroundTable = 4;
// A sentence with its numbers seldom fits into one line.
constexpr int kLinesOfFinding = 2;

}  // namespace

ScreenOptions ScreenOf(int fd, ColorUse color, size_t tables, size_t findings) {
  ScreenOptions options;
  const bool is_terminal = isatty(fd);
  struct winsize size = {};
  if (is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0) {
    if (size.ws_col > 0) {
      options.width = std::max<size_t>(size.ws_col, kLeastWidth);
    }
    options.rows = kMostRows;
    if (size.ws_row > 0 && tables > 0) {
      const int sentences =
          findings == 0 ? 0 : 1 + kLinesOfFinding * static_cast<int>(findings);
      const int each =
          (size.ws_row - kLinesOfFrame - sentences) / static_cast<int>(tables);
      options.rows =
          std::clamp(each - kLinesAroundTable, kLeastRows, kMostRows);
    }
  }
  const char* const no_color = getenv("NO_COLOR");
  const char* const terminal = getenv("TERM");
  const bool by_itself =
      is_terminal && (no_color == nullptr || *no_color == '\0') &&
      (terminal == nullptr || std::string_view(terminal) != "dumb");
  options.color =
      color == ColorUse::kAlways || (color == ColorUse::kAuto && by_itself);
  return options;
}

}  // namespace kymo::tools
