// chrome_importer.h - the `chrome` importer: Chrome trace JSON, Kineto's
// dialect of it, and Kymo's own trace.json.
//
//   const auto importer = NewChromeImporter();
//   KYMO_ASSIGN_OR_RETURN(ImportedTrace imported,
//                         importer->Import("trace.json.gz", {}));
//   KYMO_ASSIGN_OR_RETURN(
//       model::Trace trace,
//       Normalize(std::move(imported.shards),
//                 {.start_ns = imported.start_ns, .end_ns = imported.end_ns}));
//
// Files are plain or gzip; their content tells which. A file is an object with
// traceEvents, or only that list, which may lack its end. If a file is cut off,
// every complete event is kept.
//
//   in the file             | in the trace
//   X, B with E             | ranges; without end: open
//   b with e (S with F)     | asynchronous ranges
//   i                       | instants; [memory], [OutOfMemory]: memory records
//   C                       | counters, one per member of args
//   M                       | names of processes and threads
//   s, f of fwdbwd          | which thread ran the forward operations
//   s, f of ac2g            | nothing: launches go by correlation ids
//                           | (and the names that Kineto had for both before)
//   other members           | metadata, as JSON
//   Spans, Record Window End| the window of the recording
//
// event_args.h lists what becomes of args. Unknown categories become operations
// of the host with the argument "cat". Everything else is counted in the
// findings and in the ledger (kEventsNotImported).
//
// Cost: parsing is parallel. Memory is the shard's and about 40 MiB.
#ifndef KYMO_IMPORTERS_CHROME_CHROME_IMPORTER_H_
#define KYMO_IMPORTERS_CHROME_CHROME_IMPORTER_H_

#include <memory>

#include "profiler/plugin/trace_importer.h"

namespace kymo {

std::unique_ptr<TraceImporter> NewChromeImporter();

}  // namespace kymo

#endif  // KYMO_IMPORTERS_CHROME_CHROME_IMPORTER_H_
