// check_report.h - the findings of --check, of files and of their trace.
//
//   const CheckReport report(loaded);
//   report.Text(TextFormat::kText);
//   report.is_clean()
//
//   error    truncated              1  byte 4711
//            the file ends within an event
//   warning  launch_missing        12  gemm at 1.500ms on stream 7 of process 1
//            no call of the runtime has the correlation id of this device work
//   2 findings in trace.json (5012 events): 1 error, 1 warning, 0 notes
#ifndef KYMO_TOOLS_REPORT_COMMAND_CHECK_REPORT_H_
#define KYMO_TOOLS_REPORT_COMMAND_CHECK_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "importers/load/load.h"
#include "profiler/plugin/trace_importer.h"
#include "tools/report_command/data_text.h"

namespace kymo::tools {

// How many kinds of findings and losses the files have, without notes on files.
size_t CountFindings(const LoadedTrace& loaded);

class CheckReport {
 public:
  explicit CheckReport(const LoadedTrace& loaded);

  // Nothing but notes.
  bool is_clean() const;

  std::string Text(TextFormat format) const;

 private:
  struct Line {
    ImportFinding::Severity severity;
    std::string rule;
    uint64_t count;
    std::string place;
    std::string message;
    std::string file;  // empty: the trace of all files
  };

  size_t CountOf(ImportFinding::Severity severity) const;
  std::string PlainText() const;
  DataTable Data() const;

  std::vector<Line> lines_;  // worst first
  std::string files_;
  std::string contents_;  // "2 events, 1 sample"
  size_t event_count_ = 0;
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_CHECK_REPORT_H_
