// heap_folding.h - whether sums of the heap's records are enough.
//
//   options.settings = command.settings;
//   KYMO_RETURN_IF_ERROR(
//       SetHeapFolding(command, backends, exporters, options));
//
// Each exporter says how many records of the heap its files show one by one
// (TraceExporter::HeapRecordsNeeded). A heap with more records is folded
// (memory_fold_above). It is not folded if an exporter needs each record.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_HEAP_FOLDING_H_
#define KYMO_TOOLS_PROFILE_COMMAND_HEAP_FOLDING_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/registry.h"
#include "tools/profile_command/options.h"

namespace kymo::tools {

// Adds the setting to `options`, unless the command gives it, and says there
// whether ranges of other backends may enclose allocations. Backends are asked
// only if the heap may be folded. kInvalidArgument: the command wants sums, and
// something that needs single records.
// REQUIRES: the exporters of the command are in `exporters`.
absl::Status SetHeapFolding(const ProfileCommand& command,
                            const BackendRegistry& backends,
                            const ExporterRegistry& exporters,
                            SessionOptions& options);

// Whether one of the backends records ranges of threads, and not in the
// threads' streams: neither samples nor counters nor sums.
bool OthersRecordRanges(const std::vector<std::string>& backends);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_HEAP_FOLDING_H_
