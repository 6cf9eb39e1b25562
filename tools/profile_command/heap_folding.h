// heap_folding.h - whether sums of the heap's records are enough.
//
//   options.settings = command.settings;
//   KYMO_RETURN_IF_ERROR(SetHeapFolding(command, backends, options));
//
// All files of a default run can be made of sums, except the single allocations
// in trace.json, of which there are at most chrome_memory_events. So a heap
// with more records is folded (memory_fold_above). It is not folded if an
// exporter wants single records, or if an activity is recorded whose events may
// enclose allocations.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_HEAP_FOLDING_H_
#define KYMO_TOOLS_PROFILE_COMMAND_HEAP_FOLDING_H_

#include "absl/status/status.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/registry.h"
#include "tools/profile_command/options.h"

namespace kymo::tools {

// Adds the setting to `options`, unless the command gives it. Backends are
// asked only if the command records memory. kInvalidArgument: the command wants
// sums, and something that needs single records.
absl::Status SetHeapFolding(const ProfileCommand& command,
                            const BackendRegistry& backends,
                            SessionOptions& options);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_HEAP_FOLDING_H_
