// load.h - files of any tool as one trace.
//
//   KYMO_ASSIGN_OR_RETURN(LoadedTrace loaded,
//                         Load({"rank0.json.gz", "rank1.json.gz"}, {},
//                              importers));
//
// Processes of different files are different processes: a pid that an earlier
// file has becomes a free one, logical thread ids are counted on, and the
// processes carry the name of their file. Devices keep their numbers, and
// correlation ids need no change, since both are a process's own. Times are
// those that the files state; clocks of several machines are not aligned.
//
// Errors: those of the importers, with the path.
#ifndef KYMO_IMPORTERS_LOAD_LOAD_H_
#define KYMO_IMPORTERS_LOAD_LOAD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/trace_importer.h"
#include "profiler/plugin/trace_windows.h"

namespace kymo {

struct LoadOptions {
  std::string importer;  // empty: by what the file begins with
  ImportOptions import;
};

struct LoadedFile {
  std::string path;
  std::string importer;
  std::vector<ImportFinding> findings;
  std::map<int64_t, int64_t> pids;  // those that changed, from the file's
};

struct LoadedTrace {
  model::Trace trace;
  std::vector<LoadedFile> files;
};

// REQUIRES: at least one path.
absl::StatusOr<LoadedTrace> Load(const std::vector<std::string>& paths,
                                 const LoadOptions& options,
                                 const ImporterRegistry& importers);

// One file in windows, where its importer offers them: its trace would not fit
// into memory, or the options ask for windows. Nothing: Load() reads it.
absl::StatusOr<std::optional<LargeTrace>> OpenLarge(
    const std::string& path, const LoadOptions& options,
    const ImporterRegistry& importers);

}  // namespace kymo

#endif  // KYMO_IMPORTERS_LOAD_LOAD_H_
