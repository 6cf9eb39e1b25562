// frame_tree.h - stacks or paths as one tree of bounded depth.
//
//   FrameTree tree(/*max_frames=*/512);
//   const FrameTree::Place root = tree.Root(process);
//   const FrameTree::Place place = tree.Below(tree.Below(root, main), run);
//   weights[place.node] += sample.weight_ns;
//
// Frames are numbers that the caller chooses. Equal frames below one node are
// one node. A stack of more than max_frames frames keeps the outermost
// max_frames - 2 and its innermost one. A node with kFoldedFrames stands
// between them for the frames that are left out:
//
//   xz;main;a;a;a;[19490 frames folded];leaf      max_frames = 6
//
// All stacks with the same outermost frames share that node, so a recursion of
// any depth ends in one node for each function. The node's folded_frames is the
// number of frames that the deepest of these stacks leaves out.
//
// Cost: constant for each Below. Memory: that of a StackTable, and for
//   StackPlaces 4 bytes for each stack of the trace.
// Threads: one at a time.
#ifndef KYMO_EXPORTERS_STACKS_FRAME_TREE_H_
#define KYMO_EXPORTERS_STACKS_FRAME_TREE_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/model/stack_table.h"

namespace kymo::stacks {

class FrameTree {
 public:
  static constexpr uint32_t kNoNode = ~uint32_t{0};
  // Never frames of stacks.
  static constexpr uint32_t kFoldedFrames = ~uint32_t{0};
  static constexpr uint32_t kOtherStacks = kFoldedFrames - 1;  // of the caller

  // A stack, and what its callees need to know of it.
  struct Place {
    uint32_t node = kNoNode;
    uint32_t depth = 0;         // its frames, folded ones included
    uint32_t anchor = kNoNode;  // the node of the outermost frames that stay
    bool is_folded = false;     // some of its frames are left out
  };

  // 0: any number of frames. 1 and 2 count as 3.
  explicit FrameTree(uint32_t max_frames) : max_frames_(Limit(max_frames)) {}
  static uint32_t Limit(uint32_t max_frames) {
    return max_frames == 0 ? 0 : std::max(max_frames, 3u);
  }

  Place Root(uint32_t number) { return RootBelow(kNoNode, number); }
  // A root of several parts, which do not count as frames.
  Place RootBelow(uint32_t parent, uint32_t number);
  // REQUIRES: `node` is a root's.
  Place PlaceOfRoot(uint64_t node) const {
    return {.node = static_cast<uint32_t>(node),
            .anchor = static_cast<uint32_t>(node)};
  }
  Place Below(const Place& parent, uint32_t frame);

  // Whether a stack of so many frames keeps all of them, and the next two of a
  // deeper one, too.
  bool IsWhole(uint32_t depth) const {
    return max_frames_ == 0 || depth + 2 <= max_frames_;
  }
  // Whether a stack of so many frames leaves some out.
  bool Folds(uint32_t depth) const {
    return max_frames_ != 0 && depth > max_frames_;
  }

  // Parents come before their children.
  uint32_t node_count() const {
    return static_cast<uint32_t>(nodes_.stack_count() - 1);
  }
  // An earlier node; kNoNode: the node is a root.
  uint32_t parent(uint32_t node) const {
    return NodeOf(nodes_.parent(StackOf(node)));
  }
  // Of a root: its number.
  uint32_t frame(uint32_t node) const {
    return Index(nodes_.leaf(StackOf(node)));
  }
  // REQUIRES: the node's frame is kFoldedFrames.
  uint32_t folded_frames(uint32_t node) const {
    return folded_frames_.find(node)->second;
  }

  // Adds a node below another one, whatever the depth.
  uint32_t Child(uint32_t parent, uint32_t frame);

 private:
  // Nodes are stacks, and kNoNode is the empty one.
  static model::StackId StackOf(uint32_t node) {
    static_assert(kNoNode + 1 == Index(model::kEmptyStack));
    return model::StackId{node + 1};
  }
  static uint32_t NodeOf(model::StackId stack) { return Index(stack) - 1; }

  const uint32_t max_frames_;
  model::StackTable nodes_;
  absl::flat_hash_map<uint32_t, uint32_t> folded_frames_;  // by node
};

// "[19490 frames folded]".
std::string FoldedFramesText(uint32_t count);

// Puts the stacks of a table into a tree, below one root after the other.
class StackPlaces {
 public:
  StackPlaces(const model::StackTable& stacks, FrameTree& tree)
      : stacks_(stacks), tree_(tree) {}

  // frame_of(FrameId) is the tree's number of a frame. Fastest if calls with
  // the same root follow each other.
  template <typename FrameOf>
  FrameTree::Place Get(const FrameTree::Place& root, model::StackId stack,
                       const FrameOf& frame_of) {
    if (root.node != root_) Forget();
    root_ = root.node;
    // A deep stack needs no places for the frames that it leaves out.
    const uint32_t depth = stacks_.depth(stack);
    const bool is_deep = tree_.Folds(depth);
    const model::StackId inner = stack;
    if (is_deep) {
      while (!tree_.IsWhole(stacks_.depth(stack))) {
        stack = stacks_.parent(stack);
      }
    }
    missing_.clear();
    FrameTree::Place place = root;
    for (; stack != model::kEmptyStack; stack = stacks_.parent(stack)) {
      if (Find(stack, place)) break;
      missing_.push_back(stack);
    }
    for (; !missing_.empty(); missing_.pop_back()) {
      place = tree_.Below(place, frame_of(stacks_.leaf(missing_.back())));
      Keep(missing_.back(), place);
    }
    if (!is_deep) return place;
    place.depth = depth - 1;
    return tree_.Below(place, frame_of(stacks_.leaf(inner)));
  }

 private:
  // The stacks of one root, as those of one process, are mostly close together.
  void Forget() {
    known_.resize(stacks_.stack_count(), FrameTree::kNoNode);
    if (first_ <= last_) {
      std::fill(known_.begin() + first_, known_.begin() + last_ + 1,
                FrameTree::kNoNode);
    }
    first_ = ~uint32_t{0};
    last_ = 0;
  }
  // Not of the last two frames of a stack that has the most.
  bool Find(model::StackId stack, FrameTree::Place& place) const {
    const uint32_t node = known_[Index(stack)];
    if (node == FrameTree::kNoNode) return false;
    place = {.node = node, .depth = stacks_.depth(stack), .anchor = node};
    return true;
  }
  void Keep(model::StackId stack, const FrameTree::Place& place) {
    if (!tree_.IsWhole(place.depth)) return;
    known_[Index(stack)] = place.node;
    first_ = std::min(first_, Index(stack));
    last_ = std::max(last_, Index(stack));
  }

  const model::StackTable& stacks_;
  FrameTree& tree_;
  uint32_t root_ = FrameTree::kNoNode;
  std::vector<uint32_t> known_;  // by stack: its node below the root
  // Those that have a node are in [first_, last_].
  uint32_t first_ = ~uint32_t{0};
  uint32_t last_ = 0;
  std::vector<model::StackId> missing_;
};

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_FRAME_TREE_H_
