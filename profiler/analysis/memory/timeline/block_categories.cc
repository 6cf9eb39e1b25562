#include "profiler/analysis/memory/timeline/block_categories.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/analysis/memory/memory_usage.h"
#include "profiler/analysis/memory/timeline/memory_statements.h"

namespace kymo::analysis {
namespace {

using model::kNoMemory;
using model::MemoryIndex;
using model::MemoryRecord;
using model::MemorySource;
using model::Trace;

// The strongest category is 0.
int Rank(MemoryCategory category) {
  static constexpr auto kRanks = [] {
    std::array<int, kMemoryCategories> ranks = {};
    int next = 0;
    for (const MemoryCategory c :
         {MemoryCategory::kOptimizerState, MemoryCategory::kParameter,
          MemoryCategory::kGradient, MemoryCategory::kTemporary,
          MemoryCategory::kInput, MemoryCategory::kActivation,
          MemoryCategory::kAutogradDetail, MemoryCategory::kUnknown}) {
      ranks[static_cast<size_t>(c)] = next++;
    }
    return ranks;
  }();
  return kRanks[static_cast<size_t>(category)];
}

bool IsForLife(MemoryCategory category) {
  return Rank(category) <= Rank(MemoryCategory::kTemporary);
}

void Add(MemoryCategory category, MemoryCategory& version, BlockLife& life) {
  MemoryCategory& place = IsForLife(category) ? life.whole_life : version;
  place = Stronger(place, category);
}

// One thing that happened at an address of a process. At equal times a block
// is made, then spoken of, then freed.
enum class StepKind : uint8_t { kAllocated, kSaid, kFreed };
struct CategoryStep {
  int64_t pid;
  uint64_t address;
  TimeNs time_ns;
  StepKind kind;
  uint32_t index;  // of a record, or of a statement

  auto Place() const { return std::tie(pid, address); }
  auto Order() const { return std::tie(pid, address, time_ns, kind, index); }
};

// The history of the addresses that the program speaks of, or at which it frees
// what it did not allocate.
class Histories {
 public:
  Histories(const Trace& trace, MemoryDeviceId device, MemorySource host_source,
            const std::vector<MemoryStatement>& said)
      : trace_(trace),
        memory_(trace.memory()),
        blocks_(trace),
        device_(device),
        host_source_(host_source),
        said_(said),
        is_inside_(said.size()) {}

  void Run(std::unordered_map<MemoryIndex, BlockLife>& allocated,
           std::vector<PreexistingBlock>& preexisting) {
    FindStatementsInsideOfBlocks();
    std::vector<CategoryStep> steps = Steps();
    std::sort(steps.begin(), steps.end(),
              [](const CategoryStep& a, const CategoryStep& b) {
                return a.Order() < b.Order();
              });
    for (size_t i = 0; i < steps.size(); ++i) {
      if (i == 0 || steps[i].Place() != steps[i - 1].Place()) {
        live_ = kNoMemory;
        old_ = kNone;
      }
      Follow(steps[i], allocated, preexisting);
    }
  }

 private:
  static constexpr size_t kNone = ~size_t{0};

  bool IsOurs(MemoryIndex i) const {
    return IsOfDevice(memory_[i], device_, host_source_);
  }
  int64_t PidOf(MemoryIndex i) const {
    return trace_.tracks()[memory_[i].track].pid;
  }
  bool IsUnpairedFree(MemoryIndex i) const {
    return memory_[i].address != 0 && memory_[i].partner == kNoMemory &&
           blocks_.IsFree(i);
  }

  void FindStatementsInsideOfBlocks() {
    if (said_.empty()) return;
    // At one time, blocks begin before what is said of them, and end after it.
    enum Kind : uint8_t { kBegin, kSaid, kEnd };
    struct Moment {
      TimeNs time_ns;
      Kind kind;
      uint32_t index;  // of the record, or of the statement
    };
    std::vector<Moment> moments;
    for (MemoryIndex i = 0; i < memory_.size(); ++i) {
      if (!IsOurs(i) || !blocks_.IsAllocation(i)) continue;
      moments.push_back({memory_[i].time_ns, kBegin, i});
      const MemoryIndex partner = memory_[i].partner;
      if (partner != kNoMemory) {
        moments.push_back({memory_[partner].time_ns, kEnd, i});
      }
    }
    for (uint32_t s = 0; s < said_.size(); ++s) {
      moments.push_back({said_[s].time_ns, kSaid, s});
    }
    std::stable_sort(
        moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
          return std::tie(a.time_ns, a.kind) < std::tie(b.time_ns, b.kind);
        });
    std::map<std::pair<int64_t, uint64_t>, MemoryIndex> alive;
    for (const Moment& moment : moments) {
      if (moment.kind == kSaid) {
        const MemoryStatement& said = said_[moment.index];
        const auto after = alive.upper_bound({said.pid, said.address});
        if (after == alive.begin()) continue;
        const auto& [block, i] = *std::prev(after);
        const uint64_t end =
            block.second + static_cast<uint64_t>(memory_[i].bytes);
        if (block.first == said.pid && block.second < said.address &&
            said.address < end) {
          is_inside_[moment.index] = true;
        }
        continue;
      }
      const std::pair block(PidOf(moment.index), memory_[moment.index].address);
      if (moment.kind == kBegin) {
        alive[block] = moment.index;
      } else if (const auto it = alive.find(block);
                 it != alive.end() && it->second == moment.index) {
        alive.erase(it);
      }
    }
  }

  std::vector<CategoryStep> Steps() const {
    std::unordered_set<uint64_t> addresses;
    for (const MemoryStatement& s : said_) addresses.insert(s.address);
    for (MemoryIndex i = 0; i < memory_.size(); ++i) {
      if (IsUnpairedFree(i) && IsOurs(i)) addresses.insert(memory_[i].address);
    }
    std::vector<CategoryStep> steps;
    if (addresses.empty()) return steps;
    for (uint32_t i = 0; i < said_.size(); ++i) {
      steps.push_back({said_[i].pid, said_[i].address, said_[i].time_ns,
                       StepKind::kSaid, i});
    }
    for (MemoryIndex i = 0; i < memory_.size(); ++i) {
      if (!IsOurs(i) || !addresses.contains(memory_[i].address)) continue;
      const bool is_free = blocks_.IsFree(i);
      if (!is_free && !blocks_.IsAllocation(i)) continue;
      steps.push_back({PidOf(i), memory_[i].address, memory_[i].time_ns,
                       is_free ? StepKind::kFreed : StepKind::kAllocated, i});
    }
    return steps;
  }

  void Follow(const CategoryStep& step,
              std::unordered_map<MemoryIndex, BlockLife>& allocated,
              std::vector<PreexistingBlock>& preexisting) {
    switch (step.kind) {
      case StepKind::kAllocated:
        if (old_ != kNone) preexisting[old_].end_ns = step.time_ns;
        old_ = kNone;
        live_ = step.index;
        return;
      case StepKind::kFreed:
        Free(step.index, preexisting);
        return;
      case StepKind::kSaid:
        break;
    }
    const MemoryStatement& said = said_[step.index];
    if (live_ != kNoMemory) {
      Apply(said, allocated[live_]);
      return;
    }
    if (old_ == kNone) {
      if (!CanBeFromBefore(step.index)) return;
      old_ = preexisting.size();
      preexisting.emplace_back();
    }
    PreexistingBlock& block = preexisting[old_];
    block.bytes = std::max(block.bytes, said.bytes);
    Apply(said, block.life);
  }

  // A sample stands for blocks that have no record, so a block without a record
  // is already counted.
  bool CanBeFromBefore(uint32_t statement) const {
    const bool is_sampled = trace_.memory_sample_interval() > 0 &&
                            device_.type == DeviceType::kCpu &&
                            host_source_ == MemorySource::kHeap;
    return said_[statement].bytes > 0 && !is_inside_[statement] && !is_sampled;
  }

  void Free(MemoryIndex i, std::vector<PreexistingBlock>& preexisting) {
    if (memory_[i].partner != kNoMemory) {
      if (live_ == memory_[i].partner) live_ = kNoMemory;
      return;
    }
    if (live_ != kNoMemory) return;  // not of this block: other bytes
    if (old_ == kNone) {
      old_ = preexisting.size();
      preexisting.emplace_back();
    }
    preexisting[old_].bytes = -memory_[i].bytes;
    preexisting[old_].end_ns = memory_[i].time_ns;
    old_ = kNone;
  }

  static void Apply(const MemoryStatement& said, BlockLife& life) {
    if (said.is_new_version) {
      life.changed_ns.push_back(said.time_ns);
      life.of_version.push_back(MemoryCategory::kUnknown);
    } else {
      Add(said.category, life.of_version.back(), life);
    }
  }

  const Trace& trace_;
  const std::span<const MemoryRecord> memory_;
  const MemoryBlocks blocks_;
  const MemoryDeviceId device_;
  const MemorySource host_source_;
  const std::vector<MemoryStatement>& said_;
  std::vector<bool> is_inside_;  // by statement
  // What is alive at the address: a block of the recording, or one from before.
  MemoryIndex live_ = kNoMemory;
  size_t old_ = kNone;
};

// The category of the scope around each record.
std::vector<MemoryCategory> ScopesOfRecords(
    const Trace& trace, const std::vector<MemoryScopeChange>& changes) {
  std::vector<MemoryCategory> scopes;
  if (changes.empty()) return scopes;
  scopes.resize(trace.memory().size(), MemoryCategory::kUnknown);
  auto next = changes.begin();
  for (MemoryIndex i = 0; i < scopes.size(); ++i) {
    const MemoryRecord& record = trace.memory()[i];
    while (next != changes.end() &&
           std::tie(next->track, next->time_ns) <=
               std::tie(record.track, record.time_ns)) {
      ++next;
    }
    if (next != changes.begin() && std::prev(next)->track == record.track) {
      scopes[i] = std::prev(next)->category;
    }
  }
  return scopes;
}

}  // namespace

MemoryCategory Stronger(MemoryCategory a, MemoryCategory b) {
  return Rank(b) < Rank(a) ? b : a;
}

bool IsOfDevice(const MemoryRecord& record, MemoryDeviceId device,
                MemorySource host_source) {
  if (device.type == DeviceType::kCpu) {
    return IsHostMemory(record) && record.source == host_source;
  }
  return record.device_type == static_cast<int8_t>(device.type) &&
         record.device_index == device.index;
}

BlockCategories::BlockCategories(const Trace& trace, MemoryDeviceId device,
                                 MemorySource host_source) {
  const MemoryStatements said = ReadMemoryStatements(trace, device);
  Histories(trace, device, host_source, said.of_blocks)
      .Run(allocated_, preexisting_);
  scopes_ = ScopesOfRecords(trace, said.scopes);
  for (auto& [allocation, life] : allocated_) {
    Add(ScopeOf(allocation), life.of_version.front(), life);
  }
}

}  // namespace kymo::analysis
