#include "kymo/load_trace.h"

#include <utility>

#include "absl/status/status.h"
#include "importers/builtin/builtin_importers.h"
#include "importers/load/recorded_options.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/registry.h"

namespace kymo {

absl::StatusOr<SavedTrace> LoadTrace(const std::vector<std::string>& paths,
                                     const LoadOptions& options) {
  if (paths.empty()) {
    return absl::InvalidArgumentError("no file to load a trace from");
  }
  ImporterRegistry importers;
  KYMO_RETURN_IF_ERROR(RegisterBuiltinImporters(importers));
  KYMO_ASSIGN_OR_RETURN(LoadedTrace loaded, Load(paths, options, importers));
  const RecordedOptions recorded = RecordedOptionsOf(loaded.trace);
  ProfileOptions as_recorded;
  as_recorded.profile_memory = recorded.profile_memory;
  as_recorded.with_flops = recorded.with_flops;
  as_recorded.with_stack = recorded.with_stack;
  as_recorded.use_device = recorded.use_device;
  return SavedTrace{
      std::make_unique<ProfileCycle>(1, /*trace_id=*/"", as_recorded,
                                     std::move(loaded.trace), ProfilerStats()),
      std::move(loaded.files)};
}

}  // namespace kymo
