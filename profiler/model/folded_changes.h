// folded_changes.h - when a thread's blocks came and went, packed.
//
//   FoldedChanges changes;
//   changes.Add({.time_ns = 1'000, .bytes = 64});
//   changes.ForEach([&](const FoldedChange& change) { sum += change.bytes; });
//
// Where the heap's records are folded (folded_memory.h), this is what stays of
// them for questions about ranges. How ranges lie inside of each other is known
// only when all of them are. A change takes 3 to 6 bytes, a memory record 56.
//
// Form: for each change two numbers in base 128 (LEB128), the lower digits
// first: the ns since the change before it, and four times the bytes, without
// sign, plus the kind.
// Threads: immutable once filled; any number of readers.
#ifndef KYMO_PROFILER_MODEL_FOLDED_CHANGES_H_
#define KYMO_PROFILER_MODEL_FOLDED_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/base/time.h"

namespace kymo::model {

enum class FoldedChangeKind : uint8_t {
  kAllocation,
  kFree,
  // Blocks ended without a record: another one came to the address, or another
  // program replaced the process's. No range is charged with them.
  kUnseen,
};

struct FoldedChange {
  TimeNs time_ns = 0;
  int64_t bytes = 0;  // of live memory; less than 0, except for allocations
  FoldedChangeKind kind = FoldedChangeKind::kAllocation;

  friend bool operator==(const FoldedChange&, const FoldedChange&) = default;
};

class FoldedChanges {
 public:
  // REQUIRES: no change before was later; |bytes| < 2^61.
  void Add(const FoldedChange& change);

  // visit(const FoldedChange&) for each, by time.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    FoldedChange change;
    for (size_t at = 0; at < packed_.size();) {
      change.time_ns += static_cast<TimeNs>(Read(at));
      const uint64_t word = Read(at);
      change.kind = static_cast<FoldedChangeKind>(word & 3);
      change.bytes = static_cast<int64_t>(word >> 2);
      if (change.kind != FoldedChangeKind::kAllocation) {
        change.bytes = -change.bytes;
      }
      visit(static_cast<const FoldedChange&>(change));
    }
  }

  bool empty() const { return packed_.empty(); }
  size_t size_bytes() const { return packed_.size(); }

 private:
  void Append(uint64_t number);
  uint64_t Read(size_t& at) const {
    uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t digit = packed_[at++];
      number |= uint64_t{digit & 0x7fu} << shift;
      if (digit < 0x80) return number;
    }
  }

  std::vector<uint8_t> packed_;
  TimeNs last_ns_ = 0;
};

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_FOLDED_CHANGES_H_
