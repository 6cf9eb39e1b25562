// stack_symbolizer.h - turns captured return addresses into stacks of a shard.
//
//   ModuleTable modules;
//   AddressSpace space;
//   AddOwnMappings(modules, space);                 // process_mappings.h
//   StackSymbolizer symbolizer(&modules, &shard);
//   record.stack = symbolizer.Add({pcs, count}, space);
//
// `pcs` is what unwind::CaptureStack gives. All entries have the form of return
// addresses, so each is named by the byte before it. Inlined calls become
// frames of their own.
//
// Cost: one probe for each address that differs from the stack before it, and
//   one for each of its frames, about 10 ns each. A new address in a module
//   whose debug information is loaded takes microseconds. The first address of
//   a module reads its tables, which stay in memory as long as this object.
//   Memory grows with distinct addresses and stacks only.
//
// Threads: none. `modules` and `shard` are borrowed and may grow meanwhile.
#ifndef KYMO_PROFILER_SYMBOLIZE_STACK_SYMBOLIZER_H_
#define KYMO_PROFILER_SYMBOLIZE_STACK_SYMBOLIZER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/trace_shard.h"
#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/code_place.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/frame_maker.h"
#include "profiler/symbolize/module_symbolizer.h"

namespace kymo::symbolize {

class StackSymbolizer {
 public:
  StackSymbolizer(const ModuleTable* modules, model::TraceShard* shard)
      : modules_(*modules), stacks_(shard->stacks), maker_(shard) {}

  // Returns the empty stack for no addresses. An address outside of `space`
  // becomes a frame without a name.
  //
  // A space is identified by its own address in memory. One space is one
  // process: once an address was looked up in it, what the space held there
  // must stay true.
  model::StackId Add(std::span<const uint64_t> pcs_innermost_first,
                     const AddressSpace& space);

 private:
  using Pc = std::pair<const AddressSpace*, uint64_t>;
  // Of frames_, outermost first.
  struct FrameRange {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  // A frame of the previous stack, and the stack that ends with that frame.
  struct Step {
    uint64_t pc;
    model::StackId stack;
  };

  FrameRange FramesAt(const CodePlace& place);

  const ModuleTable& modules_;
  model::StackTable& stacks_;
  FrameMaker maker_;
  std::map<ModuleId, ModuleSymbolizer> symbolizers_;
  std::vector<model::FrameId> frames_;
  absl::flat_hash_map<CodePlace, FrameRange> of_places_;
  absl::flat_hash_map<Pc, FrameRange> of_pcs_;
  const AddressSpace* last_space_ = nullptr;
  std::vector<Step> last_path_;  // outermost first
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STACK_SYMBOLIZER_H_
