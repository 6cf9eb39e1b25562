#include "profiler/model/stack_table.h"

namespace kymo::model {

StackTable::StackTable() : places_(64) {
  nodes_.push_back({kEmptyStack, FrameId{0}, 0});
}

size_t StackTable::FrameHash::operator()(const Frame& frame) const noexcept {
  uint64_t hash = frame.address * 0x9e3779b97f4a7c15u;
  hash ^= uint64_t{Index(frame.function)} << 32 | frame.line;
  hash *= 0xff51afd7ed558ccdu;
  hash ^= uint64_t{Index(frame.module)} << 32 | Index(frame.file);
  hash ^= hash >> 29;
  return hash * 0xc4ceb9fe1a85ec53u;
}

FrameId StackTable::AddFrame(const Frame& frame) {
  const FrameId next{static_cast<uint32_t>(frames_.size())};
  const auto [it, inserted] = frame_ids_.try_emplace(frame, next);
  if (inserted) frames_.push_back(frame);
  return it->second;
}

StackId StackTable::Push(StackId parent, FrameId frame) {
  const auto next = static_cast<uint32_t>(nodes_.size());
  const uint32_t behind = Index(parent) + 1;
  if (behind != next) {
    if (nodes_[behind].parent == parent && nodes_[behind].frame == frame) {
      return StackId{behind};
    }
    uint32_t& place = PlaceOf(parent, frame);
    if (place != 0) return StackId{place};
    place = next;
    ++places_taken_;
  }
  nodes_.push_back({parent, frame, depth(parent) + 1});
  if (places_taken_ * 2 > places_.size()) GrowPlaces();
  return StackId{next};
}

uint32_t& StackTable::PlaceOf(StackId parent, FrameId frame) {
  const uint64_t key = uint64_t{Index(parent)} << 32 | Index(frame);
  uint64_t hash = key * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 32;
  const size_t mask = places_.size() - 1;
  size_t place = hash & mask;
  while (places_[place] != 0) {
    const Node& node = nodes_[places_[place]];
    if (node.parent == parent && node.frame == frame) break;
    place = (place + 1) & mask;
  }
  return places_[place];
}

void StackTable::GrowPlaces() {
  places_.assign(places_.size() * 2, 0);
  for (uint32_t i = 1; i < nodes_.size(); ++i) {
    if (Index(nodes_[i].parent) + 1 == i) continue;
    PlaceOf(nodes_[i].parent, nodes_[i].frame) = i;
  }
}

std::vector<FrameId> StackTable::Frames(StackId id) const {
  std::vector<FrameId> frames(depth(id));
  for (size_t i = frames.size(); i > 0; --i) {
    frames[i - 1] = leaf(id);
    id = parent(id);
  }
  return frames;
}

}  // namespace kymo::model
