// stack_symbolizer.h - turns captured return addresses into stacks of a shard.
//
//   ModuleTable modules;
//   AddressSpace space;
//   AddOwnMappings(modules, space);                 // process_mappings.h
//   StackSymbolizer symbolizer(&modules);
//   record.stack = symbolizer.Add({pcs, count}, space);   // a number
//   const std::vector<model::StackId> ids = symbolizer.Name(shard);
//   record.stack = ids[Index(record.stack)];
//
// `pcs` is what unwind::CaptureStack gives. All entries have the form of return
// addresses, so each is named by the byte before it. Inlined calls become
// frames of their own.
//
// Names are made when all stacks are there, one module after the other on each
// core. So the tables of few modules are in memory at any time, and not
// together with what the reader of the stacks needs.
//
// Cost: Add takes one probe for each address that differs from the stack before
//   it, and one for each of its frames, about 10 ns each. To name an address
//   takes microseconds; the first one of a module reads its tables.
//   Memory grows with distinct addresses and stacks only.
//
// Threads: none; Name uses all cores. `modules` is borrowed and may grow
//   meanwhile.
#ifndef KYMO_PROFILER_SYMBOLIZE_STACK_SYMBOLIZER_H_
#define KYMO_PROFILER_SYMBOLIZE_STACK_SYMBOLIZER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/trace_shard.h"
#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/code_place.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/module_symbolizer.h"

namespace kymo::symbolize {

class StackSymbolizer {
 public:
  explicit StackSymbolizer(const ModuleTable* modules) : modules_(*modules) {}

  // Returns the stack's number, which stands for its id until there are names.
  // Equal stacks have one number. Returns kEmptyStack for no addresses. An
  // address outside of `space` becomes a frame without a name.
  //
  // A space is identified by its own address in memory. One space is one
  // process: once an address was looked up in it, what the space held there
  // must stay true.
  model::StackId Add(std::span<const uint64_t> pcs_innermost_first,
                     const AddressSpace& space);

  // Adds all stacks to the shard; returns their ids there, by number. Stacks
  // that differ in addresses without names may be one. To be called once, after
  // the last Add: it frees what Add needs.
  std::vector<model::StackId> Name(model::TraceShard& shard);

 private:
  using Pc = std::pair<const AddressSpace*, uint64_t>;
  // A frame of the previous stack, and the number of the stack that ends with
  // that frame.
  struct Step {
    uint64_t pc;
    model::StackId stack;
  };

  model::FrameId PlaceAt(const AddressSpace& space, uint64_t pc);
  // What the files say of each place.
  std::vector<std::vector<NamedFrame>> NamePlaces() const;

  const ModuleTable& modules_;
  // Its frames are indices in places_.
  model::StackTable stacks_;
  std::vector<CodePlace> places_;
  absl::flat_hash_map<CodePlace, model::FrameId> of_places_;
  absl::flat_hash_map<Pc, model::FrameId> of_pcs_;
  const AddressSpace* last_space_ = nullptr;
  std::vector<Step> last_path_;  // outermost first
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STACK_SYMBOLIZER_H_
