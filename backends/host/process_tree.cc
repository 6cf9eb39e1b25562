#include "backends/host/process_tree.h"

#include <utility>
#include <vector>

namespace kymo::host {

ProcessTree::ProcessTree(std::string proc, pid_t root, bool is_new,
                         size_t max_processes)
    : proc_(std::move(proc)), root_(root), max_processes_(max_processes) {
  processes_.try_emplace(root, proc_, root, is_new);
}

void ProcessTree::Read(TimeNs now_ns, FileReader& reader, CounterLog& log) {
  std::vector<pid_t> to_read;
  for (const auto& [pid, process] : processes_) to_read.push_back(pid);
  // Children that are found are read at once, and theirs in turn.
  for (size_t i = 0; i < to_read.size(); ++i) {
    const auto it = processes_.find(to_read[i]);
    const ProcessCounters::Reading reading =
        it->second.Read(now_ns, reader, log);
    if (!reading.is_alive) {
      // The last values of the root stay: the recording ends with it, and
      // zeros in its summary would tell nothing.
      if (it->first != root_) it->second.End(now_ns, log);
      processes_.erase(it);
      continue;
    }
    for (const pid_t child : reading.children) {
      if (processes_.contains(child)) continue;
      if (processes_.size() >= max_processes_) {
        left_out_any_ = true;
        continue;
      }
      processes_.try_emplace(child, proc_, child, /*is_new=*/true);
      to_read.push_back(child);
    }
  }
}

void ProcessTree::Pause(TimeNs now_ns, CounterLog& log) {
  for (auto& [pid, process] : processes_) process.Pause(now_ns, log);
}

}  // namespace kymo::host
