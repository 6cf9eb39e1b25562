#include "exporters/stacks/frame_tree.h"

#include "absl/strings/str_cat.h"

namespace kymo::stacks {

FrameTree::Place FrameTree::RootBelow(uint32_t parent, uint32_t number) {
  const uint32_t node = Child(parent, number);
  return {.node = node, .anchor = node};
}

FrameTree::Place FrameTree::Below(const Place& parent, uint32_t frame) {
  Place place = {.depth = parent.depth + 1, .anchor = parent.anchor};
  if (max_frames_ == 0 || place.depth <= max_frames_) {
    place.node = Child(parent.node, frame);
    if (place.depth + 2 <= max_frames_) place.anchor = place.node;
    return place;
  }
  const uint32_t folded = Child(place.anchor, kFoldedFrames);
  uint32_t& count = folded_frames_[folded];
  count = std::max(count, place.depth - (max_frames_ - 1));
  place.node = Child(folded, frame);
  place.is_folded = true;
  return place;
}

uint32_t FrameTree::Child(uint32_t parent, uint32_t frame) {
  return NodeOf(nodes_.Push(StackOf(parent), model::FrameId{frame}));
}

std::string FoldedFramesText(uint32_t count) {
  return absl::StrCat("[", count, count == 1 ? " frame" : " frames",
                      " folded]");
}

}  // namespace kymo::stacks
