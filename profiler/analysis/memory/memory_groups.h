// memory_groups.h - blocks added up by what they have in common: the stack that
// allocated them, or the operation that did.
//
//   StackMemorySums sums;
//   sums.Add(record.stack, amount);
//   sums.LargestFirst().front().bytes
//
// Sums are integers: the result does not depend on the order of additions.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_GROUPS_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_GROUPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"

namespace kymo::analysis {

template <typename Id>
struct MemoryGroup {
  Id id = {};
  int64_t count = 0;  // of blocks
  int64_t bytes = 0;

  friend bool operator==(const MemoryGroup&, const MemoryGroup&) = default;
};

// By bytes, then count, both descending, then id.
template <typename Id>
void SortLargestFirst(std::vector<MemoryGroup<Id>>& groups) {
  std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return std::tuple(b.bytes, b.count, a.id) <
           std::tuple(a.bytes, a.count, b.id);
  });
}

// Makes one of groups that have the same id, and sorts them. Takes less memory
// than MemorySums.
template <typename Id>
void JoinLargestFirst(std::vector<MemoryGroup<Id>>& groups) {
  std::sort(groups.begin(), groups.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  size_t joined = 0;
  for (const MemoryGroup<Id>& group : groups) {
    if (joined != 0 && groups[joined - 1].id == group.id) {
      groups[joined - 1].count += group.count;
      groups[joined - 1].bytes += group.bytes;
    } else {
      groups[joined++] = group;
    }
  }
  groups.resize(joined);
  SortLargestFirst(groups);
}

template <typename Id>
class MemorySums {
 public:
  void Add(Id id, const MemoryAmount& amount) { amounts_[Index(id)] += amount; }

  void Merge(const MemorySums& other) {
    for (const auto& [id, amount] : other.amounts_) amounts_[id] += amount;
  }

  // As SortLargestFirst.
  std::vector<MemoryGroup<Id>> LargestFirst() const {
    std::vector<MemoryGroup<Id>> groups;
    groups.reserve(amounts_.size());
    for (const auto& [id, amount] : amounts_) {
      groups.push_back({Id{id}, amount.count(), amount.bytes});
    }
    SortLargestFirst(groups);
    return groups;
  }

 private:
  absl::flat_hash_map<uint32_t, MemoryAmount> amounts_;
};

// By where blocks were allocated; kEmptyStack: not known.
using StackMemory = MemoryGroup<model::StackId>;
using StackMemorySums = MemorySums<model::StackId>;

// By the name of the innermost event that was open on the thread when it
// allocated; kEmptyName: none was.
using OperationMemory = MemoryGroup<model::NameId>;
using OperationMemorySums = MemorySums<model::NameId>;

// By the name of the innermost function that is neither an allocator's nor a
// library's (AllocationFrames::OwnCaller); kEmptyName: there is none.
using FunctionMemory = MemoryGroup<model::NameId>;
using FunctionMemorySums = MemorySums<model::NameId>;

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_GROUPS_H_
