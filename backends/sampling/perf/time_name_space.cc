#include "backends/sampling/perf/time_name_space.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <system_error>

namespace kymo::sampling {
namespace {

int64_t ReadOffsetNs() {
  // The offsets are those of the children's name space. After unshare(2), it is
  // not that of this process.
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/ns/time", error);
  const auto of_children =
      std::filesystem::read_symlink("/proc/self/ns/time_for_children", error);
  if (error || own != of_children) return 0;
  std::ostringstream text;
  text << std::ifstream("/proc/self/timens_offsets").rdbuf();
  return MonotonicOffsetNs(text.str());
}

}  // namespace

int64_t MonotonicOffsetNs(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string clock;
  int64_t seconds = 0;
  int64_t ns = 0;
  while (lines >> clock >> seconds >> ns) {
    if (clock == "monotonic") return seconds * 1'000'000'000 + ns;
  }
  return 0;
}

int64_t OwnClockOffsetNs() noexcept {
  // No thread waits for another one that reads: see
  // profiler/library/first_use_test.sh.
  constexpr int64_t kUnread = std::numeric_limits<int64_t>::min();
  static constinit std::atomic<int64_t> offset_ns{kUnread};
  if (offset_ns == kUnread) offset_ns = ReadOffsetNs();
  return offset_ns;
}

}  // namespace kymo::sampling
