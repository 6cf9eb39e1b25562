#include "profiler/symbolize/stack_symbolizer.h"

#include <algorithm>
#include <map>

#include "profiler/base/parallel.h"
#include "profiler/symbolize/frame_maker.h"

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
    stack = stacks_.Push(stack, PlaceAt(space, pc));
    last_path_.push_back({pc, stack});
  }
  return stack;
}

model::FrameId StackSymbolizer::PlaceAt(const AddressSpace& space,
                                        uint64_t pc) {
  const auto [at, is_new] = of_pcs_.try_emplace({&space, pc});
  if (!is_new) return at->second;
  const CodePlace place = PlaceOf(space, pc - 1);
  const auto [of_place, is_new_place] = of_places_.try_emplace(
      place, model::FrameId{static_cast<uint32_t>(places_.size())});
  if (is_new_place) places_.push_back(place);
  at->second = of_place->second;
  return at->second;
}

std::vector<std::vector<NamedFrame>> StackSymbolizer::NamePlaces() const {
  std::map<ModuleId, std::vector<uint32_t>> of_modules;
  for (uint32_t i = 0; i < places_.size(); ++i) {
    of_modules[places_[i].module].push_back(i);
  }
  std::vector<ModuleId> in_use;
  for (auto& [module, places] : of_modules) {
    in_use.push_back(module);
    // What a file says of neighbours lies close together.
    std::ranges::sort(places, {},
                      [this](uint32_t i) { return places_[i].address; });
  }
  std::vector<std::vector<NamedFrame>> names(places_.size());
  ParallelJobs(in_use.size(), [&](size_t job) {
    const std::vector<uint32_t>& places = of_modules.at(in_use[job]);
    std::vector<uint64_t> addresses;
    for (const uint32_t i : places) addresses.push_back(places_[i].address);
    ModuleSymbolizer symbolizer(modules_.module(in_use[job]), addresses);
    for (const uint32_t i : places) {
      names[i] = symbolizer.Name(places_[i].address);
    }
  });
  return names;
}

std::vector<model::StackId> StackSymbolizer::Name(model::TraceShard& shard) {
  of_places_ = {};
  of_pcs_ = {};
  last_space_ = nullptr;
  last_path_ = std::vector<Step>();
  stacks_.FreeIndex();
  std::vector<std::vector<NamedFrame>> names = NamePlaces();
  FrameMaker maker(&shard);
  std::vector<FrameMaker::Frames> frames;
  for (size_t i = 0; i < places_.size(); ++i) {
    frames.push_back(
        maker.MakeNamed(names[i], modules_.module(places_[i].module).path()));
    names[i] = std::vector<NamedFrame>();
  }
  std::vector<model::StackId> ids(stacks_.stack_count(), model::kEmptyStack);
  for (uint32_t i = 1; i < ids.size(); ++i) {
    const model::StackId number{i};
    model::StackId id = ids[Index(stacks_.parent(number))];
    for (const model::FrameId frame : frames[Index(stacks_.leaf(number))]) {
      id = shard.stacks.Push(id, frame);
    }
    ids[i] = id;
  }
  return ids;
}

}  // namespace kymo::symbolize
