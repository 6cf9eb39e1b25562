// chrome_importer.h - `chrome`: Chrome trace JSON, Kineto's dialect of it and
// Kymo's own trace.json.
//
//   const auto importer = NewChromeImporter();
//   KYMO_ASSIGN_OR_RETURN(ImportedTrace imported,
//                         importer->Import("trace.json.gz", {}));
//   KYMO_ASSIGN_OR_RETURN(
//       model::Trace trace,
//       Normalize(std::move(imported.shards),
//                 {.start_ns = imported.start_ns, .end_ns = imported.end_ns}));
//
// Plain or gzip, told by content; an object with traceEvents, or that list
// alone, which may lack its end. Of a file that is cut off every complete event
// is kept.
//
//   in the file             | in the trace
//   X, B with E             | ranges; without end: open
//   b with e (S with F)     | asynchronous ranges
//   i                       | instants; [memory], [OutOfMemory]: memory records
//   C                       | counters, one per member of args
//   M                       | names of processes and threads
//   s, f of fwdbwd          | which thread ran the forward operations
//   s, f of ac2g            | nothing: launches go by correlation ids
//   other members           | metadata, as JSON
//   Spans, Record Window End| the window of the recording
//
// event_args.h says what becomes of args. Unknown categories are operations of
// the host with the argument "cat". Anything else is counted in the findings
// and the ledger (kEventsNotImported).
//
// Cost: parsing is parallel; memory is the shard's and some 40 MiB.
#ifndef KYMO_IMPORTERS_CHROME_CHROME_IMPORTER_H_
#define KYMO_IMPORTERS_CHROME_CHROME_IMPORTER_H_

#include <memory>

#include "profiler/plugin/trace_importer.h"

namespace kymo {

std::unique_ptr<TraceImporter> NewChromeImporter();

}  // namespace kymo

#endif  // KYMO_IMPORTERS_CHROME_CHROME_IMPORTER_H_
