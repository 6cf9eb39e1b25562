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
    const auto [at, is_new] = ids_.try_emplace({&space, pc, stack}, stack);
    if (is_new) {
      for (const model::FrameId frame : FramesOf(PlaceOf(space, pc - 1))) {
        at->second = stacks_.Push(at->second, frame);
      }
    }
    stack = at->second;
    last_path_.push_back({pc, stack});
  }
  return stack;
}

const FrameMaker::Frames& StackSymbolizer::FramesOf(const CodePlace& place) {
  const auto [at, is_new] = frames_.try_emplace(place);
  if (is_new) {
    ModuleSymbolizer& symbolizer =
        symbolizers_.try_emplace(place.module, modules_.module(place.module))
            .first->second;
    at->second = maker_.Make(symbolizer, place.address);
  }
  return at->second;
}

}  // namespace kymo::symbolize
