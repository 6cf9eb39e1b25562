// frame_maker.h - makes the frames of code places, in the tables of a shard.
//
//   FrameMaker maker(&shard);
//   ModuleSymbolizer symbolizer(module);
//   const FrameMaker::Frames frames =
//       maker.MakeNamed(symbolizer.Name(address), module.path());
//
// One place has several frames where calls were inlined. A frame without a name
// is counted in the shard's ledger, once.
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_FRAME_MAKER_H_
#define KYMO_PROFILER_SYMBOLIZE_FRAME_MAKER_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/model/stack_table.h"
#include "profiler/model/trace_shard.h"
#include "profiler/symbolize/kernel/kernel_symbols.h"
#include "profiler/symbolize/module_symbolizer.h"

namespace kymo::symbolize {

class FrameMaker {
 public:
  using Frames = std::vector<model::FrameId>;  // outermost first, never empty

  // `shard` is borrowed.
  explicit FrameMaker(model::TraceShard* shard) : shard_(*shard) {}

  // The frame of the kernel function around `address`. Its address is the
  // function's beginning, so each function has one frame.
  Frames MakeKernel(const KernelSymbols& symbols, uint64_t address);
  // Frames of one place by their names, or one that says what is missing.
  Frames MakeNamed(std::span<const NamedFrame> frames, std::string_view module);

 private:
  model::FrameId Add(const NamedFrame& frame, model::NameId module);
  model::FrameId Add(const model::Frame& frame);

  model::TraceShard& shard_;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_FRAME_MAKER_H_
