// raw_stack_names.h - names for all the stacks of a recording at once.
//
// Each distinct place is looked up once, module by module: what one module's
// debug information takes in memory is given back before the next. Runs after
// the target has ended.
#ifndef KYMO_PROFILER_SYMBOLIZE_RAW_STACK_NAMES_H_
#define KYMO_PROFILER_SYMBOLIZE_RAW_STACK_NAMES_H_

#include <vector>

#include "profiler/model/stack_table.h"
#include "profiler/model/trace_shard.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/raw_stacks.h"

namespace kymo::symbolize {

// Adds every stack to the shard; the result maps raw ids to the shard's.
// Counts the frames that stay without a name.
std::vector<model::StackId> SymbolizeStacks(const RawStacks& stacks,
                                            const ModuleTable& modules,
                                            model::TraceShard& shard);

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_RAW_STACK_NAMES_H_
