#include "profiler/symbolize/raw_stacks.h"

namespace kymo::symbolize {

RawStackId RawStacks::Intern(std::span<const CodePlace> leaf_first) {
  const size_t depth = leaf_first.size();
  size_t same = 0;
  while (same < depth && same < last_path_.size() &&
         nodes_[last_path_[same]].place == leaf_first[depth - 1 - same]) {
    ++same;
  }
  last_path_.resize(same);
  RawStackId parent = same == 0 ? 0 : last_path_.back();
  for (size_t i = same; i < depth; ++i) {
    const CodePlace& place = leaf_first[depth - 1 - i];
    RawStackId node = Find(parent, place);
    if (node == 0) {
      if (nodes_.size() > most_nodes_) {
        ++cut_count_;
        return parent;
      }
      node = static_cast<RawStackId>(nodes_.size());
      Add(parent, place);
    }
    parent = node;
    last_path_.push_back(parent);
  }
  return parent;
}

RawStackId RawStacks::Find(RawStackId parent, const CodePlace& place) const {
  const size_t behind = size_t{parent} + 1;
  if (behind < nodes_.size() && nodes_[behind].parent == parent &&
      nodes_[behind].place == place) {
    return parent + 1;
  }
  const auto at = ids_.find(Key{place.address, place.module, parent});
  return at == ids_.end() ? 0 : at->second;
}

void RawStacks::Add(RawStackId parent, const CodePlace& place) {
  const auto node = static_cast<RawStackId>(nodes_.size());
  if (node != parent + 1) {
    ids_.emplace(Key{place.address, place.module, parent}, node);
  }
  nodes_.push_back({parent, place});
}

}  // namespace kymo::symbolize
