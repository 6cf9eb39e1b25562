#include "backends/host/cpu_text.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "profiler/processes/text_fields.h"

namespace kymo::host {
namespace {

using processes::NextCount;
using processes::NextLine;
using processes::NextWord;
using processes::ToCount;

// The columns after the name: user nice system idle iowait irq softirq steal.
// Old kernels have only the first four.
std::optional<CpuTimes> ParseTimes(std::string_view line) {
  uint64_t columns[8] = {};
  int given = 0;
  while (given < 8) {
    const std::optional<uint64_t> count = NextCount(line);
    if (!count) break;
    columns[given++] = *count;
  }
  if (given < 4) return std::nullopt;
  return CpuTimes{.user = columns[0] + columns[1],
                  .system = columns[2] + columns[5] + columns[6],
                  .iowait = columns[4],
                  .steal = columns[7],
                  .idle = columns[3]};
}

}  // namespace

CpuText ParseCpu(std::string_view stat) {
  CpuText cpu;
  while (!stat.empty()) {
    std::string_view line = NextLine(stat);
    const std::string_view word = NextWord(line);
    if (word == "cpu") {
      cpu.all = ParseTimes(line);
    } else if (word.starts_with("cpu")) {
      const auto core = ToCount(word.substr(3));
      const auto times = ParseTimes(line);
      if (core && *core <= std::numeric_limits<uint32_t>::max() && times) {
        cpu.cores.push_back({static_cast<uint32_t>(*core), *times});
      }
    } else if (word == "ctxt") {
      cpu.context_switches = NextCount(line);
    } else if (word == "procs_running") {
      cpu.running = NextCount(line);
    } else if (word == "procs_blocked") {
      cpu.blocked = NextCount(line);
    }
  }
  return cpu;
}

LoadText ParseLoad(std::string_view loadavg) {
  // "2.30 2.37 2.02 3/151 24966"
  LoadText load;
  const std::string_view first = NextWord(loadavg);
  double value = 0;
  const char* const end = first.data() + first.size();
  const auto result =
      std::from_chars(first.data(), end, value, std::chars_format::fixed);
  if (result.ec == std::errc() && result.ptr == end && std::isfinite(value)) {
    load.load_1min = value;
  }
  NextWord(loadavg);
  NextWord(loadavg);
  const std::string_view counts = NextWord(loadavg);
  if (const size_t slash = counts.find('/'); slash != counts.npos) {
    load.threads = ToCount(counts.substr(slash + 1));
  }
  return load;
}

}  // namespace kymo::host
