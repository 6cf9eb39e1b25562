#include "profiler/symbolize/frame_maker.h"

#include "profiler/model/loss_ledger.h"

namespace kymo::symbolize {

FrameMaker::Frames FrameMaker::MakeNamed(std::span<const NamedFrame> frames,
                                         std::string_view module) {
  const model::NameId path = shard_.strings.Intern(module);
  Frames made;
  for (const NamedFrame& frame : frames) made.push_back(Add(frame, path));
  return made;
}

FrameMaker::Frames FrameMaker::MakeKernel(const KernelSymbols& symbols,
                                          uint64_t address) {
  const model::NameId module = shard_.strings.Intern("[kernel]");
  const std::optional<KernelSymbol> symbol = symbols.Find(address);
  const bool found = symbol.has_value();
  return {Add({.function = found ? shard_.strings.Intern(symbol->name) : module,
               .module = module,
               .address = found ? symbol->address : 0,
               .is_kernel = true,
               .is_resolved = found})};
}

model::FrameId FrameMaker::Add(const NamedFrame& frame, model::NameId module) {
  return Add({.function = shard_.strings.Intern(frame.function),
              .file = shard_.strings.Intern(frame.file),
              .module = module,
              .line = frame.line,
              .address = frame.address,
              .is_inlined = frame.is_inlined,
              .is_resolved = frame.is_resolved});
}

model::FrameId FrameMaker::Add(const model::Frame& frame) {
  const size_t before = shard_.stacks.frame_count();
  const model::FrameId id = shard_.stacks.AddFrame(frame);
  if (!frame.is_resolved && shard_.stacks.frame_count() > before) {
    shard_.ledger.Add(model::Loss::kFramesUnresolved, 1);
  }
  return id;
}

}  // namespace kymo::symbolize
