// report_manual.h - what `kymo report` says of itself.
#ifndef KYMO_TOOLS_REPORT_COMMAND_REPORT_MANUAL_H_
#define KYMO_TOOLS_REPORT_COMMAND_REPORT_MANUAL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "profiler/plugin/registry.h"
#include "tools/command_line/manual.h"

namespace kymo::tools {

// The registries outlive it.
Manual MakeReportManual(const ImporterRegistry& importers,
                        const ExporterRegistry& exporters);

// The page that --help=TOPIC prints (tools/command_line/manual.h).
absl::StatusOr<std::string> ReportManual(std::string_view topic,
                                         const ImporterRegistry& importers,
                                         const ExporterRegistry& exporters);

// The list that --list prints: every analysis, importer and exporter.
std::string ReportList(const ImporterRegistry& importers,
                       const ExporterRegistry& exporters);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_REPORT_MANUAL_H_
