#include "profiler/analysis/memory/program_starts.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "profiler/analysis/memory/memory_blocks.h"

namespace kymo::analysis {
namespace {

using model::MemoryIndex;
using model::MemoryRecord;
using model::Trace;

// Calls f(pid, block, partner) for each block that a later record ended.
template <typename F>
void ForEachEnded(const Trace& trace, const F& f) {
  const MemoryBlocks blocks(trace);
  const auto memory = trace.memory();
  for (MemoryIndex i = 0; i < memory.size(); ++i) {
    const MemoryRecord& block = memory[i];
    if (block.partner == model::kNoMemory || !blocks.IsAllocation(i)) continue;
    f(trace.tracks()[block.track].pid, block, memory[block.partner]);
  }
}

// One program's blocks end at several times: the heap and the mappings have
// each a first allocation of the next program. One start is between all of
// these blocks and their ends.
std::vector<ProgramStart> FirstAllocations(const Trace& trace) {
  // By process and end: the begin of the last block that ended then.
  std::map<std::pair<int64_t, TimeNs>, TimeNs> last_begin;
  ForEachEnded(trace, [&](int64_t pid, const MemoryRecord& block,
                          const MemoryRecord& partner) {
    if (block.address == partner.address) return;
    TimeNs& begin =
        last_begin.try_emplace({pid, partner.time_ns}, block.time_ns)
            .first->second;
    begin = std::max(begin, block.time_ns);
  });
  std::vector<ProgramStart> starts;
  for (const auto& [end, begin_ns] : last_begin) {
    const auto& [pid, end_ns] = end;
    if (!starts.empty() && starts.back().pid == pid &&
        starts.back().time_ns > begin_ns) {
      continue;
    }
    starts.push_back({pid, end_ns});
  }
  return starts;
}

// A block that its own program freed is not of two programs. So a start between
// its two records is moved to the first of them.
std::vector<ProgramStart> Earlier(const Trace& trace,
                                  const std::vector<ProgramStart>& starts) {
  std::vector<ProgramStart> earlier = starts;
  ForEachEnded(trace, [&](int64_t pid, const MemoryRecord& block,
                          const MemoryRecord& partner) {
    if (block.address != partner.address) return;
    const auto at =
        std::ranges::upper_bound(starts, ProgramStart{pid, block.time_ns});
    if (at == starts.end() || at->pid != pid || at->time_ns > partner.time_ns) {
      return;
    }
    ProgramStart& start = earlier[static_cast<size_t>(at - starts.begin())];
    start.time_ns = std::min(start.time_ns, block.time_ns);
  });
  return earlier;
}

TimeNs ProcessStart(const Trace& trace, int64_t pid) {
  for (const model::Process& process : trace.processes()) {
    if (process.pid == pid && process.start_ns != 0) return process.start_ns;
  }
  return trace.start_ns();
}

}  // namespace

std::vector<ProgramStart> ProgramStarts(const Trace& trace) {
  const std::vector<ProgramStart> replaced = FirstAllocations(trace);
  if (replaced.empty()) return {};
  std::vector<ProgramStart> starts;
  for (const ProgramStart& start : Earlier(trace, replaced)) {
    if (starts.empty() || starts.back().pid != start.pid) {
      starts.push_back({start.pid, ProcessStart(trace, start.pid)});
    }
    starts.push_back(start);
  }
  return starts;
}

}  // namespace kymo::analysis
