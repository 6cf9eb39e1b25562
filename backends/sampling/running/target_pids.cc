#include "backends/sampling/running/target_pids.h"

#include <fstream>
#include <string>
#include <utility>

namespace kymo::sampling {

uint32_t ParentOf(uint32_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  uint32_t parent = 0;
  for (std::string word; status >> word;) {
    if (word == "PPid:") {
      status >> parent;
      break;
    }
  }
  return parent;
}

TargetPids::TargetPids(OnFound on_found,
                       std::function<uint32_t(uint32_t)> parent_of)
    : on_found_(std::move(on_found)), parent_of_(std::move(parent_of)) {}

bool TargetPids::Has(uint32_t pid) {
  // 0 is a CPU that is idle, and the other a thread that is no more.
  if (has_all_) return pid != 0 && pid != ~uint32_t{0};
  if (ours_.contains(pid)) return true;
  // Process 1 has no parent, and 0 is none.
  if (!lacks_records_ || pid <= 1 || !looked_up_.insert(pid).second) {
    return false;
  }
  const uint32_t parent = parent_of_(pid);
  if (!Has(parent)) return false;
  ours_.insert(pid);
  on_found_(pid, parent);
  return true;
}

bool TargetPids::OnFork(uint32_t pid, uint32_t parent) {
  looked_up_.erase(pid);
  ended_.erase(pid);
  ended_before_.erase(pid);
  if (Has(parent)) {
    ours_.insert(pid);
    return true;
  }
  ours_.erase(pid);  // the number of one that is gone
  return false;
}

void TargetPids::ForgetEnded() {
  for (const uint32_t pid : ended_before_) ours_.erase(pid);
  ended_before_ = std::exchange(ended_, {});
}

void TargetPids::OnLost() {
  lacks_records_ = true;
  looked_up_.clear();
}

}  // namespace kymo::sampling
