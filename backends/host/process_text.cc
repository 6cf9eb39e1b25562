#include "backends/host/process_text.h"

#include <limits>

#include "profiler/processes/stat_fields.h"
#include "profiler/processes/text_fields.h"

namespace kymo::host {

using processes::NextCount;
using processes::NextLine;
using processes::NextWord;

std::optional<ProcessStat> ParseProcessStat(std::string_view stat) {
  auto fields = processes::StatFields::Of(stat);
  if (!fields) return std::nullopt;
  const std::string_view state = fields->Take(3);
  if (state.size() != 1) return std::nullopt;
  ProcessStat process;
  process.name = fields->name();
  process.state = state[0];
  process.parent_pid = static_cast<int64_t>(fields->TakeCount(4).value_or(0));
  process.minor_faults = fields->TakeCount(10).value_or(0);
  process.major_faults = fields->TakeCount(12).value_or(0);
  process.user_ticks = fields->TakeCount(14).value_or(0);
  process.system_ticks = fields->TakeCount(15).value_or(0);
  process.threads = fields->TakeCount(20).value_or(0);
  process.start_ticks = fields->TakeCount(22).value_or(0);
  const std::optional<uint64_t> pages = fields->TakeCount(24);
  if (!pages) return std::nullopt;  // the text ends too early
  process.rss_pages = *pages;
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
