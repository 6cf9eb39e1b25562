// perfetto_exporter.h - `perfetto`: Perfetto's own format, for ui.perfetto.dev.
//
// Writes trace.pftrace, or trace.pftrace.gz with options.gzip: about 36 bytes a
// range, exact to the nanosecond.
//
//   where                        | what stands there
//   process, thread              | ranges, instants; their arguments
//                                | (event_args.h); flows (flows.h)
//     lane 2, ...                | ranges that overlap others of the thread
//     asynchronous               | ranges that ended elsewhere
//     samples                    | a sampled thread's functions as slices
//     counters                   | the program's
//   process                      | memory in use, as counters
//   GPU n, Stream m              | ranges of device streams
//   Recording                    | one slice for the recording's window, with
//                                | metadata and losses as arguments
//
// Samples are written as PerfSamples with call stacks, too: the viewer makes
// flame graphs of them (sample_packets.h). Single memory records are not
// written; their sums over time are.
//
// Times count from the earliest in the trace, and a ClockSnapshot says which
// wall time that is. Names are never altered but for bytes that are not UTF-8
// (profiler/text/utf8.h). There is one packet sequence; what is interned
// stands before everything that uses it, so that the file may be read as it is
// written, and cut off anywhere between packets.
#ifndef KYMO_EXPORTERS_PERFETTO_PERFETTO_EXPORTER_H_
#define KYMO_EXPORTERS_PERFETTO_PERFETTO_EXPORTER_H_

#include <memory>

#include "profiler/plugin/trace_exporter.h"

namespace kymo {

std::unique_ptr<TraceExporter> NewPerfettoExporter();

}  // namespace kymo

#endif  // KYMO_EXPORTERS_PERFETTO_PERFETTO_EXPORTER_H_
