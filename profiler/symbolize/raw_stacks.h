// raw_stacks.h - the distinct stacks of a recording, before they have names.
//
// A prefix tree over code places: a stack that differs from another one only in
// its leaf costs one node. Node 0 is the empty stack. A parent's number is
// smaller than its children's. Samples of a busy loop repeat, so the path of
// the last stack is kept, and only frames that differ from it are looked up.
// A new stack adds a chain of nodes, each right behind its parent. These are
// found without the hash table, which has only nodes where stacks part.
//
// Memory: a node takes 24 to 48 bytes, and 40 to 80 more in the table. Beyond
//   the most nodes that the owner allows, a stack is the outermost part of it
//   that is known.
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_RAW_STACKS_H_
#define KYMO_PROFILER_SYMBOLIZE_RAW_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/symbolize/code_place.h"

namespace kymo::symbolize {

using RawStackId = uint32_t;

class RawStacks {
 public:
  struct Node {
    RawStackId parent = 0;
    CodePlace place;
  };

  explicit RawStacks(size_t most_nodes = std::numeric_limits<size_t>::max())
      : most_nodes_(most_nodes), nodes_(1) {}

  // `leaf_first`: the frames in the order in which unwinding finds them.
  RawStackId Intern(std::span<const CodePlace> leaf_first);

  size_t most_nodes() const noexcept { return most_nodes_; }
  void set_most_nodes(size_t count) noexcept { most_nodes_ = count; }

  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  // How often a part of a stack was returned for it.
  uint64_t cut_count() const noexcept { return cut_count_; }

 private:
  struct Key {
    uint64_t address;
    ModuleId module;
    RawStackId parent;

    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Key& key) {
      return H::combine(std::move(hash), key.address, key.module, key.parent);
    }
  };

  // The parent's child of that place, or 0.
  RawStackId Find(RawStackId parent, const CodePlace& place) const;
  void Add(RawStackId parent, const CodePlace& place);

  size_t most_nodes_;  // without node 0
  std::vector<Node> nodes_;
  uint64_t cut_count_ = 0;
  absl::flat_hash_map<Key, RawStackId> ids_;  // not right behind its parent
  std::vector<RawStackId> last_path_;         // root first
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_RAW_STACKS_H_
