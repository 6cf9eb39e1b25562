// screen.h - how much of a terminal, and which of its colours, a command uses.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_SCREEN_H_
#define KYMO_TOOLS_PROFILE_COMMAND_SCREEN_H_

#include <cstddef>

namespace kymo::tools {

enum class ColorUse {
  kAuto,  // on a terminal, unless NO_COLOR is set or TERM is "dumb"
  kAlways,
  kNever,
};

struct ScreenOptions {
  size_t width = 120;  // code points
  int rows = 20;       // of each table; negative: all
  bool color = false;
};

// For a screen of `tables` tables and `findings` findings on `fd`: the size of
// the terminal, less what the other lines take; 120 x 20 where it is none.
// https://no-color.org
ScreenOptions ScreenOf(int fd, ColorUse color, size_t tables,
                       size_t findings = 0);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_SCREEN_H_
