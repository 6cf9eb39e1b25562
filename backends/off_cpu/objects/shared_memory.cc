#include "backends/off_cpu/objects/shared_memory.h"

#include <time.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/clock.h"
#include "profiler/symbolize/proc_maps.h"

namespace kymo::off_cpu {
namespace {

// Reading takes one part in so many of the time.
constexpr int64_t kReadPart = 25;
// A process may map more, or become another program.
constexpr int64_t kOldNs = kNsPerSecond;
// What is not mapped was mapped since.
constexpr int64_t kUnmappedOldNs = 100 * kNsPerMs;

int64_t ThreadCpuNs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

}  // namespace

SharedMemory::Mappings SharedMemory::Parse(std::string_view text) {
  constexpr std::string_view kDeleted = " (deleted)";
  Mappings mappings;
  while (!text.empty()) {
    const std::string line(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    uint64_t start = 0;
    uint64_t offset = 0;
    uint64_t inode = 0;
    char access[5] = {};
    char device[32] = {};
    int path_at = 0;
    Mapping mapping;
    if (std::sscanf(line.c_str(),
                    "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %31s %" SCNu64
                    " %n",
                    &start, &mapping.end, access, &offset, device, &inode,
                    &path_at) < 6 ||
        path_at == 0) {
      continue;
    }
    std::string_view file = std::string_view(line).substr(path_at);
    // The number of a segment of System V may be 0.
    if (access[3] == 's' && (inode != 0 || !file.empty())) {
      if (file.ends_with(kDeleted)) file.remove_suffix(kDeleted.size());
      // Which is how the kernel names what has no name (shmem_zero_setup).
      if (file == "/dev/zero") file = "memory";
      mapping.place = {.file = std::string(file),
                       .id = absl::StrCat(device, ":", inode),
                       .delta = offset - start};
    }
    mappings[start] = std::move(mapping);
  }
  return mappings;
}

const SharedMemory::Mapping* SharedMemory::Find(const Mappings& mappings,
                                                uint64_t address) {
  const auto after = mappings.upper_bound(address);
  if (after == mappings.begin()) return nullptr;
  const Mapping& mapping = std::prev(after)->second;
  return address < mapping.end ? &mapping : nullptr;
}

bool SharedMemory::MayRead(int64_t now_ns) {
  budget_ns_ =
      std::min(budget_ns_ + (now_ns - budgeted_ns_) / kReadPart, kMostBudgetNs);
  budgeted_ns_ = now_ns;
  return budget_ns_ > 0;
}

std::optional<SharedPlace> SharedMemory::At(int64_t pid, int64_t parent_pid,
                                            uint64_t address) {
  if (processes_.size() >= kMostProcesses && !processes_.contains(pid)) {
    processes_.clear();
  }
  Process& process = processes_[pid];
  const int64_t now_ns = MonotonicNs();
  const Mapping* found = Find(process.mappings, address);
  const int64_t age_ns = now_ns - process.read_ns;
  if (process.read_ns == 0 ||
      age_ns > (found == nullptr ? kUnmappedOldNs : kOldNs)) {
    if (!MayRead(now_ns)) {
      return found == nullptr ? std::nullopt : found->place;
    }
    const int64_t begin_cpu_ns = ThreadCpuNs();
    Mappings read =
        Parse(symbolize::ReadProcText(absl::StrCat("/proc/", pid, "/maps")));
    if (!read.empty()) process.mappings = std::move(read);
    process.read_ns = now_ns;
    budget_ns_ -= ThreadCpuNs() - begin_cpu_ns;
    found = Find(process.mappings, address);
  }
  if (process.mappings.empty()) {
    const auto parent = processes_.find(parent_pid);
    if (parent != processes_.end()) {
      found = Find(parent->second.mappings, address);
    }
  }
  return found == nullptr ? std::nullopt : found->place;
}

}  // namespace kymo::off_cpu
