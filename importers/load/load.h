// load.h - load files of any tool as one trace.
//
//   kymo::ImporterRegistry importers;   // RegisterBuiltinImporters() fills it
//   absl::StatusOr<kymo::LoadedTrace> loaded =
//       kymo::Load({"rank0.json.gz", "rank1.json.gz"}, {}, importers);
//   if (!loaded.ok()) return loaded.status();
//   Print(loaded->trace.event_count());
//
// Processes of different files are different processes. A pid that an earlier
// file has becomes a free one, and logical thread ids are counted on. Each
// process carries the name of its file. Devices keep their numbers. Correlation
// ids stay, because they belong to a process. Times are as the files say, but
// ranks of a job that measured their clocks are put on one (rank_clocks.h). The
// trace is PyTorch's (profiler/model/recorded_by.h) if all of its files are.
//
// Threads: any, concurrently. Errors: those of the importers, with the path.
#ifndef KYMO_IMPORTERS_LOAD_LOAD_H_
#define KYMO_IMPORTERS_LOAD_LOAD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/trace_importer.h"
#include "profiler/plugin/trace_windows.h"

namespace kymo {

struct LoadOptions {
  std::string importer;  // empty: the importer that knows the file's beginning
  ImportOptions import;
};

struct LoadedFile {
  std::string path;
  std::string importer;
  std::vector<ImportFinding> findings;
  std::map<int64_t, int64_t> pids;  // changed pids: the file's -> the trace's
};

struct LoadedTrace {
  model::Trace trace;
  std::vector<LoadedFile> files;
  // Two of the files that are no ranks of one job, and of which one had ended
  // when the other began: most often separate runs, whose numbers the trace
  // adds up. Indices into `files`.
  std::optional<std::pair<size_t, size_t>> separate;
};

// Loads the files. REQUIRES: at least one path.
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
