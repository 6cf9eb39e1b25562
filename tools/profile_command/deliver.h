// deliver.h - a finished trace as tables and files.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_DELIVER_H_
#define KYMO_TOOLS_PROFILE_COMMAND_DELIVER_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/analysis/averages/window_sums.h"
#include "profiler/analysis/memory/lazy_profiles.h"
#include "profiler/analysis/ranks/lazy_job.h"
#include "profiler/analysis/ranks/rank_sums.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/sink.h"
#include "profiler/plugin/trace_exporter.h"
#include "tools/profile_command/first_screen.h"
#include "tools/profile_command/options.h"
#include "tools/profile_command/progress_line.h"

namespace kymo::tools {

// The trace's metadata, as JSON: the command line and the device, if it is none
// of CUDA's, whose streams readers expect.
std::vector<std::pair<std::string, std::string>> RunMetadata(
    const ProfileCommand& command, const std::string& device);

struct RunTables {
  // key_averages.txt: the tables of annotated ranges, of sampled functions and
  // of memory, if the trace has them, and below them the losses.
  std::string text;
  ScreenTables screen;
};

// `sums` are null, or those of all ranges of a recording whose trace has the
// newest part: then the table of ranges, by name, is theirs. `memory` may be
// null, or is shared with others who show it.
absl::StatusOr<RunTables> MakeTables(
    const model::Trace& trace, const ProfileCommand& command,
    const analysis::WindowSums* sums = nullptr,
    const analysis::LazyMemoryProfiles* memory = nullptr);

// Only the table of sampled functions; empty if there are no samples.
absl::StatusOr<std::string> SamplesTable(const model::Trace& trace,
                                         const ProfileCommand& command);

// key_averages.txt.
absl::Status WriteTables(const std::string& tables, OutputDirectory& out);

// Sums beside a trace; null: there are none.
struct RunSums {
  // Of all ranges of a recording whose trace has the newest part.
  const analysis::WindowSums* recording = nullptr;
  // Of all ranks of a job whose trace has some of them.
  const analysis::RankSums* job = nullptr;
  // Of the trace itself, which the tables show as well.
  const analysis::LazyMemoryProfiles* memory = nullptr;
  // Of a job, likewise.
  const analysis::LazyJobOfRanks* ranks = nullptr;
};

inline constexpr char kTablesFile[] = "key_averages.txt";

// The names of all files that WriteFiles may write, as far as the exporters
// tell.
std::vector<std::string> NamesOfFiles(const ProfileCommand& command,
                                      const ExporterRegistry& exporters);

// Writes summary.json, the exporters' files, and key_averages.txt. `tables`
// makes the text of the last, beside the exporters of a trace that is not
// large. Goes on after a failure, and returns the first one. Every file is
// complete or absent. Adds to `notes` what the user should know about the
// files. The ledger in key_averages.txt and summary.json has the notes, too.
absl::Status WriteFiles(const model::Trace& trace,
                        const std::function<std::string()>& tables,
                        const ProfileCommand& command,
                        const ExporterRegistry& exporters, OutputDirectory& out,
                        ProgressLine& progress, ExportNotes& notes,
                        const RunSums& sums = {});

// Says which part of a recording its trace has, and where the rest is.
std::string AboutNewest(const model::Trace& trace,
                        const analysis::WindowSums& sums,
                        const ProfileCommand& command);

// Writes only the exporters' files, for a recording larger than memory.
absl::Status ExportSums(const analysis::WindowSums& sums,
                        const ProfileCommand& command,
                        const ExporterRegistry& exporters, OutputDirectory& out,
                        ExportNotes& notes);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_DELIVER_H_
