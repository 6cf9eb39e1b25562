// load_trace.h - traces on disk, as if they had just been recorded.
//
//   #include "kymo/load_trace.h"
//
//   absl::StatusOr<kymo::SavedTrace> saved =
//       kymo::LoadTrace({"rank0.pt.trace.json.gz"});
//   if (!saved.ok()) return saved.status();
//   std::cout << saved->profile->key_averages().table(
//       {.sort_by = "self_cpu_time_total"});
//
// Chrome's and Kineto's JSON, databases of nvprof and Nsight Systems, and raw
// files of Kymo, known by their content. Several files become one trace:
// processes stay apart and are named after their file; clocks are as the files
// state them. What a trace does not say (memory, FLOPs, stacks, shapes), the
// results do not have; docs/report.md lists it.
//
// Errors:  kNotFound, kPermissionDenied   a file cannot be read
//          kInvalidArgument               no importer knows it, or it is broken
//                                         where nothing can be saved of it; the
//                                         message says where
//          kResourceExhausted             over a limit of the options
//   A file that is cut off or wrong in places is no error: `files` and the
//   trace's ledger say what is missing.
// Threads: may be called from several threads at a time.
#ifndef KYMO_PROFILER_API_LOAD_TRACE_H_
#define KYMO_PROFILER_API_LOAD_TRACE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importers/load/load.h"
#include "profiler/library/profile_cycle.h"

namespace kymo {

struct SavedTrace {
  // Averages, events, tables and exports, like those of a session.
  std::unique_ptr<ProfileCycle> profile;
  // What each file was, and what is wrong with it.
  std::vector<LoadedFile> files;
};

absl::StatusOr<SavedTrace> LoadTrace(const std::vector<std::string>& paths,
                                     const LoadOptions& options = {});

}  // namespace kymo

#endif  // KYMO_PROFILER_API_LOAD_TRACE_H_
