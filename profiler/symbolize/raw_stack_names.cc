#include "profiler/symbolize/raw_stack_names.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "profiler/symbolize/frame_maker.h"
#include "profiler/symbolize/kernel_symbols.h"
#include "profiler/symbolize/module_symbolizer.h"

namespace kymo::symbolize {
namespace {

using FramesByAddress = std::map<uint64_t, FrameMaker::Frames>;

// Makes the frames of one module. `addresses` must be sorted and not empty.
FramesByAddress MakeFrames(ModuleId module,
                           const std::vector<uint64_t>& addresses,
                           const ModuleTable& modules, FrameMaker& maker) {
  FramesByAddress frames;
  if (module == ModuleTable::kKernel) {
    const std::shared_ptr<const KernelSymbols> symbols =
        KernelSymbols::OfThisMachine(addresses.back());
    for (const uint64_t address : addresses) {
      frames[address] = maker.MakeKernel(*symbols, address);
    }
    return frames;
  }
  if (module == ModuleTable::kTruncated || module == ModuleTable::kCut) {
    const std::string& mark = modules.module(module).path();
    frames[addresses.front()] =
        maker.MakeNamed({.function = mark}, /*module=*/mark);
    return frames;
  }
  if (module == ModuleTable::kNamed) {
    for (const uint64_t address : addresses) {
      const NamedPlace place = modules.named_places().place(address);
      frames[address] =
          maker.MakeNamed({.function = std::string(place.function),
                           .file = std::string(place.file),
                           .line = place.line},
                          place.file);
    }
    return frames;
  }
  ModuleSymbolizer symbolizer(modules.module(module));
  for (const uint64_t address : addresses) {
    frames[address] = maker.Make(symbolizer, address);
  }
  return frames;
}

FramesByAddress MakeJitFrames(const std::vector<uint64_t>& numbers,
                              std::span<const JitNames::Frame> known,
                              FrameMaker& maker) {
  FramesByAddress frames;
  for (const uint64_t number : numbers) {
    const JitNames::Frame& frame = known[number];
    frames[number] = maker.MakeNamed(frame.frame, frame.module);
  }
  return frames;
}

// Kymo's preloaded library stands between the program and the functions of libc
// that it has hooks of. Nobody looks for these frames.
bool IsHooks(const ElfModule& module) {
  return module.short_name().starts_with("libkymo_runtime");
}

// The distinct places of stacks. There are few, even of a million nodes.
class Places {
 public:
  // Of the nodes for which is_wanted(i) holds.
  template <typename IsWanted>
  Places(const std::vector<RawStacks::Node>& nodes, const IsWanted& is_wanted)
      : of_nodes_(nodes.size()) {
    absl::flat_hash_map<CodePlace, uint32_t> numbers;
    for (size_t i = 1; i < nodes.size(); ++i) {
      if (!is_wanted(i)) continue;
      const auto [at, is_new] = numbers.try_emplace(
          nodes[i].place, static_cast<uint32_t>(list_.size()));
      if (is_new) list_.push_back(nodes[i].place);
      of_nodes_[i] = at->second;
    }
  }

  const std::vector<CodePlace>& list() const { return list_; }
  // In the list. REQUIRES: the node is wanted.
  uint32_t OfNode(size_t node) const { return of_nodes_[node]; }

 private:
  std::vector<CodePlace> list_;
  std::vector<uint32_t> of_nodes_;
};

}  // namespace

std::vector<model::StackId> SymbolizeStacks(const RawStacks& stacks,
                                            const ModuleTable& modules,
                                            model::TraceShard& shard,
                                            const SettledStacks& jit) {
  const auto& nodes = stacks.nodes();
  const auto stands_for_itself = [&](size_t i) {
    return i >= jit.settled.size() || jit.settled[i] == i;
  };
  const Places places(nodes, stands_for_itself);
  std::vector<std::vector<uint64_t>> addresses(modules.size());
  for (const CodePlace& place : places.list()) {
    addresses[place.module].push_back(place.address);
  }
  FrameMaker maker(&shard);
  std::vector<FramesByAddress> frames(modules.size());
  for (ModuleId module = 0; module < modules.size(); ++module) {
    auto& distinct = addresses[module];
    std::sort(distinct.begin(), distinct.end());
    if (distinct.empty()) continue;
    frames[module] = module == ModuleTable::kJit
                         ? MakeJitFrames(distinct, jit.frames, maker)
                         : MakeFrames(module, distinct, modules, maker);
  }
  struct Named {
    const FrameMaker::Frames* frames;
    bool is_hook;
  };
  std::vector<Named> named;  // by place
  for (const CodePlace& place : places.list()) {
    named.push_back({&frames[place.module].find(place.address)->second,
                     IsHooks(modules.module(place.module))});
  }
  std::vector<model::StackId> ids(nodes.size(), model::kEmptyStack);
  // As part of a longer stack.
  std::vector<model::StackId> callers(nodes.size(), model::kEmptyStack);
  for (size_t i = 1; i < nodes.size(); ++i) {
    if (!stands_for_itself(i)) continue;
    model::StackId id = callers[nodes[i].parent];
    callers[i] = id;
    const Named& place = named[places.OfNode(i)];
    for (const model::FrameId frame : *place.frames) {
      id = shard.stacks.Push(id, frame);
    }
    ids[i] = id;
    if (!place.is_hook) callers[i] = id;
  }
  for (size_t i = 1; i < jit.settled.size(); ++i) {
    ids[i] = ids[jit.settled[i]];
  }
  return ids;
}

}  // namespace kymo::symbolize
