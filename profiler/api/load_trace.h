// load_trace.h - load saved traces and ask them what you would ask a session.
//
//   absl::StatusOr<kymo::SavedTrace> saved =
//       kymo::LoadTrace({"rank0.pt.trace.json.gz"});
//   if (!saved.ok()) return saved.status();
//   std::cout << saved->profile->key_averages().table(
//       {.sort_by = "self_cpu_time_total"});
//
// It reads Chrome's and Kineto's JSON, databases of nvprof and Nsight Systems,
// and raw files of Kymo. It knows the format by the content of the file.
//
// Several files become one trace. Their processes stay apart and are named
// after their file. Times are as the files say; clocks are not aligned. Results
// lack what a trace does not have (memory, FLOPs, stacks, shapes);
// docs/report.md lists it.
//
// Threads: any, concurrently.
// Errors:  kNotFound, kPermissionDenied: a file cannot be read.
//   kInvalidArgument: no importer knows the file, or nothing of it can be read;
//   the message says where it is broken.
//   kResourceExhausted: the file is over a limit of the options.
//   A file that is cut off or wrong in places is no error: `files` and the
//   trace's ledger say what is missing.
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
  // For each file its format, and what is wrong with it.
  std::vector<LoadedFile> files;
};

// Loads the files as one trace.
absl::StatusOr<SavedTrace> LoadTrace(const std::vector<std::string>& paths,
                                     const LoadOptions& options = {});

}  // namespace kymo

#endif  // KYMO_PROFILER_API_LOAD_TRACE_H_
