#include "profiler/symbolize/raw_stack_names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/base/parallel.h"
#include "profiler/symbolize/frame_maker.h"
#include "profiler/symbolize/kernel/kernel_symbols.h"
#include "profiler/symbolize/module_symbolizer.h"

namespace kymo::symbolize {
namespace {

using FramesByAddress = std::map<uint64_t, FrameMaker::Frames>;

// The places of one module, and what files say of them.
struct ModulePlaces {
  std::vector<uint64_t> addresses;               // distinct, sorted
  std::vector<std::vector<NamedFrame>> names;    // of a file's, by place
  size_t missing_debug_files = 0;                // .dwo
  std::shared_ptr<const KernelSymbols> symbols;  // of the kernel's
};

// Kymo's preloaded libraries stand between the program and the functions that
// they have hooks of: of libc, and of MPI.
bool IsOfRuntime(const ElfModule& module) {
  return module.short_name().starts_with("libkymo_runtime");
}
bool IsOfMpi(const ElfModule& module) {
  return module.short_name().starts_with("libkymo_mpi");
}
bool IsOfCalls(const ElfModule& module) {
  return module.short_name().starts_with("libkymo_calls");
}

// What the program would do without Kymo has no frame of a hook in its stack:
// nobody looks for these. What Kymo itself does in MPI_Init and MPI_Finalize,
// to measure clocks, keeps the functions that begin it.
bool IsHook(const ElfModule& module, std::span<const NamedFrame> names) {
  if (IsOfRuntime(module)) return true;
  return IsOfMpi(module) &&
         std::ranges::none_of(names, [](const NamedFrame& frame) {
           return frame.function.find("AfterInit") != std::string::npos ||
                  frame.function.find("BeforeFinalize") != std::string::npos;
         });
}

// What Kymo does beside the program is one function: nobody needs to know its
// parts.
std::vector<NamedFrame> KymosOwn() { return {{.function = "[Kymo]"}}; }

// Says in the names whose functions they are. Installed libraries have none.
void MarkAsKymos(std::vector<NamedFrame>& names) {
  if (std::ranges::none_of(names, &NamedFrame::is_resolved)) {
    names = KymosOwn();
    return;
  }
  for (NamedFrame& frame : names) {
    if (!frame.function.empty()) frame.function.insert(0, "[Kymo] ");
  }
}

// Whether no file says anything of the module's places.
bool IsWithoutFile(ModuleId module) {
  return module == ModuleTable::kTruncated || module == ModuleTable::kCut ||
         module == ModuleTable::kNamed || module == ModuleTable::kJit;
}

// Reads what files say of the module's places. REQUIRES: it has some.
void ReadNames(ModuleId module, const ModuleTable& modules,
               ModulePlaces& places) {
  if (module == ModuleTable::kKernel) {
    places.symbols = KernelSymbols::OfThisMachine(places.addresses.back());
    return;
  }
  const ElfModule& file = modules.module(module);
  if (IsOfRuntime(file) || IsOfCalls(file)) {
    places.names.assign(places.addresses.size(), KymosOwn());
    return;
  }
  ModuleSymbolizer symbolizer(file, places.addresses);
  for (const uint64_t address : places.addresses) {
    places.names.push_back(symbolizer.Name(address));
    if (IsOfMpi(file)) MarkAsKymos(places.names.back());
  }
  places.missing_debug_files = symbolizer.missing_debug_files();
}

// What was missing of the files, and what to do. REQUIRES: names were read.
std::vector<std::string> RemarksOn(std::span<const ModuleId> files,
                                   const ModuleTable& modules,
                                   std::span<const ModulePlaces> places) {
  constexpr size_t kMostOfAKind = 3;
  std::set<std::string> lost, split;
  std::vector<std::string> remarks;
  for (const ModuleId file : files) {
    const ElfModule& module = modules.module(file);
    const std::string& path = module.path();
    if (module.is_lost() && lost.size() < kMostOfAKind &&
        lost.insert(path).second) {
      remarks.push_back(
          path +
          " was replaced or deleted before it could be read, so its functions "
          "have no names and its callers may be missing; of a process that "
          "runs, root can still read it");
    }
    if (const size_t missing = places[file].missing_debug_files;
        missing > 0 && split.size() < kMostOfAKind &&
        split.insert(path).second) {
      remarks.push_back(
          "of the debug information of " + path + ", " +
          std::to_string(missing) + (missing == 1 ? " file" : " files") +
          " (.dwo of -gsplit-dwarf) could not be found, so calls that were "
          "inlined are not shown; keep .dwo files where the compiler wrote "
          "them, or build without -gsplit-dwarf");
    }
  }
  return remarks;
}

// What a file says of a place; nothing if no file says anything.
std::span<const NamedFrame> NamesOf(const ModulePlaces& places,
                                    uint64_t address) {
  if (places.names.empty()) return {};
  return places.names[std::ranges::lower_bound(places.addresses, address) -
                      places.addresses.begin()];
}

FramesByAddress MakeFrames(ModuleId module, const ModulePlaces& places,
                           const ModuleTable& modules, FrameMaker& maker) {
  FramesByAddress frames;
  if (module == ModuleTable::kKernel) {
    for (const uint64_t address : places.addresses) {
      frames[address] = maker.MakeKernel(*places.symbols, address);
    }
    return frames;
  }
  if (module == ModuleTable::kTruncated || module == ModuleTable::kCut) {
    const NamedFrame mark = {.function = modules.module(module).path()};
    frames[places.addresses.front()] =
        maker.MakeNamed({&mark, 1}, /*module=*/mark.function);
    return frames;
  }
  if (module == ModuleTable::kNamed) {
    for (const uint64_t address : places.addresses) {
      const NamedPlace place = modules.named_places().place(address);
      const NamedFrame frame = {.function = std::string(place.function),
                                .file = std::string(place.file),
                                .line = place.line};
      frames[address] = maker.MakeNamed({&frame, 1}, place.file);
    }
    return frames;
  }
  for (size_t i = 0; i < places.addresses.size(); ++i) {
    frames[places.addresses[i]] =
        maker.MakeNamed(places.names[i], modules.module(module).path());
  }
  return frames;
}

FramesByAddress MakeJitFrames(const std::vector<uint64_t>& numbers,
                              std::span<const JitNames::Frame> known,
                              FrameMaker& maker) {
  FramesByAddress frames;
  for (const uint64_t number : numbers) {
    const JitNames::Frame& frame = known[number];
    frames[number] = maker.MakeNamed({&frame.frame, 1}, frame.module);
  }
  return frames;
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
                                            const SettledStacks& jit,
                                            std::vector<std::string>* remarks) {
  const auto& nodes = stacks.nodes();
  const auto stands_for_itself = [&](size_t i) {
    return i >= jit.settled.size() || jit.settled[i] == i;
  };
  const Places places(nodes, stands_for_itself);
  std::vector<ModulePlaces> of_modules(modules.size());
  for (const CodePlace& place : places.list()) {
    of_modules[place.module].addresses.push_back(place.address);
  }
  std::vector<ModuleId> files;
  for (ModuleId module = 0; module < of_modules.size(); ++module) {
    std::vector<uint64_t>& addresses = of_modules[module].addresses;
    std::sort(addresses.begin(), addresses.end());
    if (!addresses.empty() && !IsWithoutFile(module)) files.push_back(module);
  }
  ParallelJobs(files.size(), [&](size_t i) {
    ReadNames(files[i], modules, of_modules[files[i]]);
  });
  if (remarks != nullptr) *remarks = RemarksOn(files, modules, of_modules);
  // In the order of modules, so that frames have the same numbers each time.
  FrameMaker maker(&shard);
  std::vector<FramesByAddress> frames(modules.size());
  for (ModuleId module = 0; module < modules.size(); ++module) {
    const ModulePlaces& its = of_modules[module];
    if (its.addresses.empty()) continue;
    frames[module] = module == ModuleTable::kJit
                         ? MakeJitFrames(its.addresses, jit.frames, maker)
                         : MakeFrames(module, its, modules, maker);
  }
  struct Named {
    const FrameMaker::Frames* frames;
    bool is_hook;
  };
  std::vector<Named> named;  // by place
  for (const CodePlace& place : places.list()) {
    named.push_back({&frames[place.module].find(place.address)->second,
                     IsHook(modules.module(place.module),
                            NamesOf(of_modules[place.module], place.address))});
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

// The loader calls other libraries' constructors, too. So what counts is the
// outermost function that is not the loader's own.
bool NameOwnStart(ModuleTable& modules, std::vector<CodePlace>& leaf_first) {
  const auto outermost = std::ranges::find_if(
      leaf_first.rbegin(), leaf_first.rend(), [&](const CodePlace& place) {
        return !modules.module(place.module).short_name().starts_with("ld-");
      });
  if (outermost == leaf_first.rbegin() || outermost == leaf_first.rend()) {
    return false;
  }
  const ElfModule& module = modules.module(outermost->module);
  if (!IsOfRuntime(module)) return false;
  const uint64_t start = modules.named_places().Intern(
      {.function = "[Kymo] start", .file = module.path()});
  leaf_first = {{ModuleTable::kNamed, start}};
  return true;
}

}  // namespace kymo::symbolize
