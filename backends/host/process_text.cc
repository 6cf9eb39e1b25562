#include "backends/host/process_text.h"

#include <limits>

#include "backends/host/text_fields.h"

namespace kymo::host {

std::optional<ProcessStat> ParseProcessStat(std::string_view stat) {
  // "24973 (cat) R 24963 ..."; the name ends with the last parenthesis.
  const size_t open = stat.find('(');
  const size_t close = stat.rfind(')');
  if (open == stat.npos || close == stat.npos || close < open) {
    return std::nullopt;
  }
  ProcessStat process;
  process.name = stat.substr(open + 1, close - open - 1);
  stat.remove_prefix(close + 1);
  const std::string_view state = NextWord(stat);
  if (state.size() != 1) return std::nullopt;
  process.state = state[0];
  // The numbers of proc(5): 4 is the parent, 24 the resident pages. Fields
  // between them that we do not read may be negative.
  constexpr int kFirst = 4;
  constexpr int kLast = 24;
  uint64_t fields[kLast + 1] = {};
  for (int field = kFirst; field <= kLast; ++field) {
    const std::string_view word = NextWord(stat);
    if (word.empty()) return std::nullopt;
    fields[field] = ToCount(word).value_or(0);
  }
  process.parent_pid = static_cast<int64_t>(fields[4]);
  process.minor_faults = fields[10];
  process.major_faults = fields[12];
  process.user_ticks = fields[14];
  process.system_ticks = fields[15];
  process.threads = fields[20];
  process.start_ticks = fields[22];
  process.rss_pages = fields[24];
  return process;
}

namespace {

// The numbers behind two names, each at the start of a line.
template <typename Pair>
std::optional<Pair> FindTwo(std::string_view text, std::string_view first,
                            std::string_view second) {
  std::optional<uint64_t> one, two;
  while (!text.empty()) {
    std::string_view line = NextLine(text);
    const std::string_view name = NextWord(line);
    if (name == first) one = NextCount(line);
    if (name == second) two = NextCount(line);
  }
  if (!one || !two) return std::nullopt;
  return Pair{*one, *two};
}

}  // namespace

std::optional<Switches> ParseSwitches(std::string_view status) {
  return FindTwo<Switches>(
      status, "voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:");
}

std::optional<DiskBytes> ParseDiskBytes(std::string_view io) {
  return FindTwo<DiskBytes>(io, "read_bytes:", "write_bytes:");
}

std::vector<pid_t> ParseChildren(std::string_view children) {
  std::vector<pid_t> pids;
  while (const std::optional<uint64_t> pid = NextCount(children)) {
    if (*pid == 0 || *pid > std::numeric_limits<pid_t>::max()) break;
    pids.push_back(static_cast<pid_t>(*pid));
  }
  return pids;
}

}  // namespace kymo::host
