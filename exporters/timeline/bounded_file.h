// bounded_file.h - a file of a trace that stays below a number of bytes.
//
//   KYMO_ASSIGN_OR_RETURN(
//       const std::string name,
//       WriteBounded({.name = "trace.json", .max_bytes = 50 << 20}, trace,
//                    options, out,
//                    [](const Trace& trace, const FileForm& form,
//                       ByteSink& sink) { return Write(trace, sink); }));
//
// The file is plain if it fits. Else it is compressed (trace.json.gz), with
// everything in it. What is too large even so loses, one after the other and
// only until it fits:
//
//   1. times of single short ranges: they are folded (fold_ranges.h)
//   2. arguments and other details of short ranges, which are folded, too
//   3. records of all kinds, ever more of them (thin_trace.h)
//   4. the whole file. It has a name, no records and is still too large.
//
// options.notes says what was done, and its ledger counts it. The file's other
// form, of an earlier run, is removed.
//
// Of a large trace, a sample of the events is written first. It tells which
// attempts cannot fit. So most files are written once or twice.
//
// The result does not depend on the number of threads. Cost: each attempt that
// does not fit ends at 16 times the size. Folds are multiplied by 2, 4, 8 and
// so on at least: a million events take 8 attempts at most, mostly 2 or 3.
#ifndef KYMO_EXPORTERS_TIMELINE_BOUNDED_FILE_H_
#define KYMO_EXPORTERS_TIMELINE_BOUNDED_FILE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo::timeline {

struct BoundedFile {
  std::string name;        // of the plain file
  uint64_t max_bytes = 0;  // 0: any number
  // Ranges are neither folded nor left out: the file may then be larger.
  bool keeps_ranges = false;
  // Whether the format's readers take it compressed, too. If not, the file is
  // folded at once.
  bool compresses = true;
  // The writer leaves out more, the larger FileForm::fold is.
  bool obeys_fold = false;
  // No event of the plain file takes fewer bytes. Spares an attempt that cannot
  // fit.
  uint64_t least_event_bytes = 40;
  // The plain file has at least so many bytes. Spares it, too.
  uint64_t least_bytes = 0;
};

// What WriteBounded tells the writer of the file.
struct FileForm {
  std::string name;  // the file's: .gz if it is compressed
  // More than 1: only the part 1 / fold of what can be folded fits.
  size_t fold = 1;
  // Of the trace that is given:
  uint64_t folded_ranges = 0;
  uint64_t without_details = 0;  // folded ranges that had some
  uint64_t left_out = 0;         // records
};

// The trace's ledger, and what the file does not show.
model::LossLedger LedgerOf(const model::Trace& trace, const FileForm& form);

// The names that WriteBounded gives a file that may be compressed.
inline std::vector<std::string> NamesOf(const std::string& plain) {
  return {plain, plain + ".gz"};
}

// Writes the file to `sink`, which the caller commits. May be called several
// times.
using WriteText = std::function<absl::Status(
    const model::Trace& trace, const FileForm& form, ByteSink& sink)>;

// Returns the name of the file; empty if it was left out.
absl::StatusOr<std::string> WriteBounded(const BoundedFile& file,
                                         const model::Trace& trace,
                                         const ExportOptions& options,
                                         OutputDirectory& out,
                                         const WriteText& write);

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_BOUNDED_FILE_H_
