// deliver.h - a finished trace as tables and files.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_DELIVER_H_
#define KYMO_TOOLS_PROFILE_COMMAND_DELIVER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/analysis/averages/window_sums.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/sink.h"
#include "tools/profile_command/options.h"

namespace kymo::tools {

// The tables (annotated ranges, sampled functions; whichever there are) and
// below them what was lost.
absl::StatusOr<std::string> Tables(const model::Trace& trace,
                                   const ProfileCommand& command);

// The second of them alone; empty where there are no samples.
absl::StatusOr<std::string> SamplesTable(const model::Trace& trace,
                                         const ProfileCommand& command);

// key_averages.txt.
absl::Status WriteTables(const std::string& tables, OutputDirectory& out);

// key_averages.txt, summary.json and the exporters' files. Goes on after a
// failure; the first is returned, and every file is complete or absent. Adds to
// `notices` what the user should know of files that are there.
absl::Status WriteFiles(const model::Trace& trace, const std::string& tables,
                        const ProfileCommand& command,
                        const ExporterRegistry& exporters, OutputDirectory& out,
                        std::vector<std::string>& notices);

// The exporters' files alone, of a recording that is larger than memory.
absl::Status ExportSums(const analysis::WindowSums& sums,
                        const ProfileCommand& command,
                        const ExporterRegistry& exporters,
                        OutputDirectory& out);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_DELIVER_H_
