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
// everything in it. If that does not fit either, short ranges are folded
// (fold_ranges.h), by as much as the file is too large and then ever more, as
// long as the file gets smaller. options.notes then says so. A file that cannot
// be made small enough is written as small as it got, and options.notes says
// that too. The file's other form, of an earlier run, is removed.
//
// The result does not depend on the number of threads. Cost: each attempt that
// does not fit ends at 16 times the size. Folds are multiplied by 2, 4, 8 and
// so on at least: a million events take 8 attempts at most, mostly 2 or 3.
#ifndef KYMO_EXPORTERS_TIMELINE_BOUNDED_FILE_H_
#define KYMO_EXPORTERS_TIMELINE_BOUNDED_FILE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo::timeline {

struct BoundedFile {
  std::string name;        // of the plain file
  uint64_t max_bytes = 0;  // 0: any number
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
  uint64_t folded_ranges = 0;  // of the trace that is given
};

// Writes the file to `sink`, which the caller commits. May be called several
// times.
using WriteText = std::function<absl::Status(
    const model::Trace& trace, const FileForm& form, ByteSink& sink)>;

// Returns the name of the file.
absl::StatusOr<std::string> WriteBounded(const BoundedFile& file,
                                         const model::Trace& trace,
                                         const ExportOptions& options,
                                         OutputDirectory& out,
                                         const WriteText& write);

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_BOUNDED_FILE_H_
