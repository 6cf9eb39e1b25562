// symbolizer.h - names for the stacks of a recording.
//
// Each distinct place is looked up once: debug information first (functions,
// inlined calls, lines), then the symbol tables, else "module+0x1f3a". Runs
// after the target has ended.
#ifndef KYMO_BACKENDS_SAMPLING_SYMBOLIZER_H_
#define KYMO_BACKENDS_SAMPLING_SYMBOLIZER_H_

#include <string>
#include <vector>

#include "backends/sampling/elf_module.h"
#include "backends/sampling/raw_stacks.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/trace_shard.h"

namespace kymo::sampling {

// The readable form of a mangled C++ name; any other name as it is.
std::string Demangle(const char* name);

struct NamedFrame {
  std::string function;
  uint64_t address = 0;  // in the module; unresolved: the function's, if known
  std::string file;
  uint32_t line = 0;
  bool is_inlined = false;
  bool is_resolved = true;
};

// Names places of one module, outermost first; never empty.
class ModuleSymbolizer {
 public:
  explicit ModuleSymbolizer(const ElfModule& module);
  ~ModuleSymbolizer();

  std::vector<NamedFrame> Name(uint64_t address);

 private:
  struct Tables;

  const ElfModule& module_;
  std::unique_ptr<Tables> tables_;  // null: nothing to look in
};

// Adds every stack to the shard; the result maps raw ids to the shard's.
// Counts the frames that stay without a name.
std::vector<model::StackId> SymbolizeStacks(const RawStacks& stacks,
                                            const ModuleTable& modules,
                                            model::TraceShard& shard);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_SYMBOLIZER_H_
