// raw_stack_names.h - finds names for all stacks of a recording at once.
//
// Looks up each distinct place once, module by module, and frees the memory of
// one module's debug information before it reads the next. Runs after the
// target has ended.
#ifndef KYMO_PROFILER_SYMBOLIZE_RAW_STACK_NAMES_H_
#define KYMO_PROFILER_SYMBOLIZE_RAW_STACK_NAMES_H_

#include <span>
#include <string>
#include <vector>

#include "profiler/model/stack_table.h"
#include "profiler/model/trace_shard.h"
#include "profiler/symbolize/code_place.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/jit/jit_names.h"
#include "profiler/symbolize/raw_stacks.h"

namespace kymo::symbolize {

// Adds every stack to the shard. The result maps raw ids to the shard's ids.
// Frames of Kymo's hooks are left out, but for those in which a stack ends.
// Frames that stay without a name are counted.
//
// A stack with places in memory counts as the one that has the names that these
// had (jit_names.h): stack i as settled[i]. Beyond the end of `settled`, stacks
// are what they are.
//
// `remarks` gets what was missing of the files, and what to do.
struct SettledStacks {
  std::span<const JitNames::Frame> frames;
  std::span<const RawStackId> settled;
};
std::vector<model::StackId> SymbolizeStacks(
    const RawStacks& stacks, const ModuleTable& modules,
    model::TraceShard& shard, const SettledStacks& jit = {},
    std::vector<std::string>* remarks = nullptr);

// Before main, the loader calls the constructors of Kymo's preloaded runtime.
// If a whole stack is of that, it becomes one place, "[Kymo] start", and the
// result is true: nothing in it is the program's.
bool NameOwnStart(ModuleTable& modules, std::vector<CodePlace>& leaf_first);

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_RAW_STACK_NAMES_H_
