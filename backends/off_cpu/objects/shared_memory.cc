#include "backends/off_cpu/objects/shared_memory.h"

#include <algorithm>
#include <iterator>
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

}  // namespace

SharedMemory::Mappings SharedMemory::Parse(std::string_view text) {
  Mappings mappings;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    auto read = symbolize::ParseProcMapsLine(line);
    if (!read) continue;
    // The number of a segment of System V may be 0.
    if (read->is_shared && (read->inode != 0 || !read->path.empty())) {
      // Which is how the kernel names what has no name (shmem_zero_setup).
      if (read->path == "/dev/zero") read->path = "memory";
      mappings[read->start] = {
          .end = read->end,
          .place =
              SharedPlace{.file = std::move(read->path),
                          .id = absl::StrCat(read->device, ":", read->inode),
                          .delta = read->file_offset - read->start}};
      continue;
    }
    if (!mappings.empty()) {
      Mapping& before = mappings.rbegin()->second;
      if (!before.place && before.end == read->start) {
        before.end = read->end;
        continue;
      }
    }
    mappings[read->start].end = read->end;
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
