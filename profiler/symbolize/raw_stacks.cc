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
    const Key key{place.address, place.module, parent};
    auto at = ids_.find(key);
    if (at == ids_.end()) {
      if (nodes_.size() > most_nodes_) {
        ++cut_count_;
        return parent;
      }
      at = ids_.emplace(key, static_cast<RawStackId>(nodes_.size())).first;
      nodes_.push_back({parent, place});
    }
    parent = at->second;
    last_path_.push_back(parent);
  }
  return parent;
}

}  // namespace kymo::symbolize
