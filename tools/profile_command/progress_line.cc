#include "tools/profile_command/progress_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "absl/strings/str_format.h"
#include "profiler/base/clock.h"
#include "profiler/base/time.h"

namespace kymo::tools {

std::string ProgressBar(double done) {
  constexpr size_t kWidth = 20;
  done = std::clamp(done, 0.0, 1.0);
  const size_t full = static_cast<size_t>(done * kWidth);
  return absl::StrFormat("[%s%s] %3.0f %%", std::string(full, '#'),
                         std::string(kWidth - full, ' '), 100 * done);
}

ProgressLine::ProgressLine(bool wanted) {
  const char* const terminal = getenv("TERM");
  wanted_ = wanted && isatty(STDERR_FILENO) &&
            (terminal == nullptr || std::string_view(terminal) != "dumb");
}

void ProgressLine::Show(const std::string& what) {
  if (!wanted_) return;
  shown_ = true;
  fprintf(stderr, "\r\033[Kkymo: %s", what.c_str());
  fflush(stderr);
}

void ProgressLine::Show(const std::string& what, double done) {
  const int64_t now_ns = MonotonicNs();
  if (now_ns - last_ns_ < kNsPerSecond / 10) return;
  last_ns_ = now_ns;
  Show(what + "  " + ProgressBar(done));
}

void ProgressLine::Clear() {
  if (shown_) fprintf(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace kymo::tools
