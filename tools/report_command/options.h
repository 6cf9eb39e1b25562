// options.h - the command line of //tools:report.
//
//   report [flags] FILE ...
//
// Flags and files stand in any order. Besides the command's own flags, every
// setting that an importer or exporter declares is a flag of its name.
#ifndef KYMO_TOOLS_REPORT_COMMAND_OPTIONS_H_
#define KYMO_TOOLS_REPORT_COMMAND_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/settings.h"
#include "profiler/query/query.h"
#include "profiler/report/table.h"
#include "tools/report_command/data_text.h"
#include "tools/report_command/event_filter.h"
#include "tools/report_command/row_source.h"
#include "tools/run_diff/fail_if.h"

namespace kymo::tools {

struct ReportCommand {
  std::optional<std::string> help;  // the topic; empty: the short page
  bool list = false;
  bool version = false;
  bool check = false;
  bool diff = false;
  size_t base_files = 1;      // with `diff`: how many of `files` are of base
  std::vector<Limit> limits;  // with `diff`
  std::string append;         // add the trace to this history
  std::string run_name;
  std::string history;  // instead of files
  std::string history_page;
  bool quiet = false;
  TextFormat format = TextFormat::kText;
  std::vector<std::string> analyses;  // instead of the table; names
  std::string sql;                    // instead of the table; "-": a shell
  bool lists_queries = false;
  QueryLimits sql_limits;

  RowOptions rows;
  EventFilter filter;
  report::TableOptions table;  // sort_by "auto": by what the trace has

  std::string importer;  // empty: by the file's content
  int64_t max_unpacked_bytes = 0;

  std::vector<std::string> exporters;
  std::string output_dir;  // empty: made from the first file's name
  bool gzip = false;
  bool view = false;
  uint64_t max_size = 0;             // of all files, in bytes; 0: any number
  int64_t max_file_bytes = 0;        // of a timeline; 0: any number
  SettingMap settings;               // of plugins
  std::vector<std::string> notices;  // what to say about the flags

  std::vector<std::string> files;

  // Of several runs on a side, with limits, or in Markdown: what surely
  // changed.
  bool compares_runs() const {
    return diff && (files.size() != 2 || !limits.empty() ||
                    format == TextFormat::kMarkdown);
  }
};

// Loads exporter libraries that --export names into `exporters`.
// kInvalidArgument for what cannot be: unknown flags (with the nearest one),
// names of plugins, columns, categories, values out of range, no file; the
// errors of exporter_library.h.
absl::StatusOr<ReportCommand> ParseReport(
    const std::vector<std::string>& arguments,
    const ImporterRegistry& importers, ExporterRegistry& exporters);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_OPTIONS_H_
