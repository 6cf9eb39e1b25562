#include "exporters/timeline/flame_slices.h"

#include <algorithm>
#include <cstddef>

namespace kymo::timeline {
namespace {

using model::FrameId;
using model::StackId;
using model::StackTable;

class Builder {
 public:
  Builder(const StackTable& stacks, DurationNs period_ns)
      : stacks_(stacks), period_ns_(period_ns) {}

  void Add(const model::StackSample& sample) {
    const TimeNs time_ns = sample.time_ns;
    const size_t same = ReadPath(sample.stack);
    size_t shared = 0;
    if (time_ns - last_ns_ <= length_ns_ + length_ns_ / 2) {
      shared = same;  // these are open
      while (shared < open_.size() && shared < path_.size() &&
             IsSame(slices_[open_[shared]].frame, FrameAt(shared))) {
        ++shared;
      }
    }
    Close(shared, time_ns);
    for (size_t depth = shared; depth < path_.size(); ++depth) {
      open_.push_back(slices_.size());
      slices_.push_back({.start_ns = time_ns,
                         .frame = FrameAt(depth),
                         .is_leaf = depth + 1 == path_.size()});
    }
    last_ns_ = time_ns;
    length_ns_ =
        sample.weight_ns < 2 * period_ns_ ? period_ns_ : sample.weight_ns;
  }

  std::vector<FlameSlice> Finish() {
    Close(0, last_ns_ + length_ns_);
    // Samples of the same instant leave slices without length.
    std::erase_if(slices_, [](const FlameSlice& slice) {
      return slice.end_ns <= slice.start_ns;
    });
    return std::move(slices_);
  }

 private:
  // Reads `stack` into path_. Returns how many of the outermost frames are
  // those of the stack before it.
  size_t ReadPath(StackId stack) {
    while (stacks_depth(stack) > kMaxFlameDepth) stack = stacks_.parent(stack);
    path_.resize(stacks_depth(stack), model::kEmptyStack);
    size_t depth = path_.size();
    for (; depth > 0 && path_[depth - 1] != stack; --depth) {
      path_[depth - 1] = stack;
      stack = stacks_.parent(stack);
    }
    return depth;
  }

  FrameId FrameAt(size_t depth) const { return stacks_.leaf(path_[depth]); }

  uint32_t stacks_depth(StackId stack) const {
    return stack == model::kEmptyStack ? 0 : stacks_.depth(stack);
  }

  bool IsSame(FrameId a, FrameId b) const {
    if (a == b) return true;
    const model::Frame& x = stacks_.frame(a);
    const model::Frame& y = stacks_.frame(b);
    return x.function == y.function && x.module == y.module;
  }

  // Ends what is open at `depth` and deeper.
  void Close(size_t depth, TimeNs time_ns) {
    const TimeNs end_ns = std::min(time_ns, last_ns_ + length_ns_);
    for (size_t i = depth; i < open_.size(); ++i) {
      slices_[open_[i]].end_ns = end_ns;
    }
    open_.resize(std::min(depth, open_.size()));
  }

  const StackTable& stacks_;
  const DurationNs period_ns_;
  std::vector<FlameSlice> slices_;
  std::vector<size_t> open_;           // into slices_, outermost first
  std::vector<StackId> path_;          // down to each frame of the last sample
  TimeNs last_ns_ = 0;                 // of the last sample
  DurationNs length_ns_ = period_ns_;  // of its slices
};

}  // namespace

std::vector<FlameSlice> MakeFlameSlices(
    const StackTable& stacks, std::span<const model::StackSample> samples,
    DurationNs period_ns) {
  Builder builder(stacks, period_ns);
  for (const model::StackSample& sample : samples) builder.Add(sample);
  return builder.Finish();
}

}  // namespace kymo::timeline
