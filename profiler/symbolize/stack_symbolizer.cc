#include "profiler/symbolize/stack_symbolizer.h"

namespace kymo::symbolize {

model::StackId StackSymbolizer::Add(
    std::span<const uint64_t> pcs_innermost_first, const AddressSpace& space) {
  const size_t depth = pcs_innermost_first.size();
  if (last_space_ != &space) last_path_.clear();
  last_space_ = &space;
  size_t same = 0;
  while (same < depth && same < last_path_.size() &&
         last_path_[same].pc == pcs_innermost_first[depth - 1 - same]) {
    ++same;
  }
  last_path_.resize(same);
  model::StackId stack =
      same == 0 ? model::kEmptyStack : last_path_.back().stack;
  for (size_t i = same; i < depth; ++i) {
    const uint64_t pc = pcs_innermost_first[depth - 1 - i];
    const auto [at, is_new] = of_pcs_.try_emplace({&space, pc});
    if (is_new) at->second = FramesAt(PlaceOf(space, pc - 1));
    for (uint32_t f = at->second.begin; f < at->second.end; ++f) {
      stack = stacks_.Push(stack, frames_[f]);
    }
    last_path_.push_back({pc, stack});
  }
  return stack;
}

StackSymbolizer::FrameRange StackSymbolizer::FramesAt(const CodePlace& place) {
  const auto [at, is_new] = of_places_.try_emplace(place);
  if (is_new) {
    ModuleSymbolizer& symbolizer =
        symbolizers_.try_emplace(place.module, modules_.module(place.module))
            .first->second;
    const FrameMaker::Frames frames = maker_.Make(symbolizer, place.address);
    at->second.begin = static_cast<uint32_t>(frames_.size());
    frames_.insert(frames_.end(), frames.begin(), frames.end());
    at->second.end = static_cast<uint32_t>(frames_.size());
  }
  return at->second;
}

}  // namespace kymo::symbolize
