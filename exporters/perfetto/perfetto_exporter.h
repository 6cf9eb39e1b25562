// perfetto_exporter.h - `perfetto`: Perfetto's own format, for ui.perfetto.dev.
//
// Writes trace.pftrace, or trace.pftrace.gz with options.gzip. A range takes
// about 36 bytes; times are exact to the nanosecond. A file that is larger than
// options.max_bytes is compressed. If it is still too large, short ranges are
// folded (bounded_file.h), and short slices of samples and short waits are left
// out.
//
//   where                        | what it shows
//   process, thread              | ranges, instants; their arguments
//                                | (event_args.h); flows (flows.h)
//     lane 2, ...                | ranges that overlap others of the thread
//     asynchronous               | ranges that ended on another thread
//     samples                    | a sampled thread's functions as slices
//     counters                   | the program's counters
//   process                      | memory in use, as counters
//   GPU n, Stream m              | ranges of device streams
//   Recording                    | one slice for the recording's window, with
//                                | metadata and losses as arguments
//
// The states of threads that waited are the viewer's own (state_packets.h).
//
// Samples are also written as PerfSamples with call stacks, from which the
// viewer makes flame graphs (sample_packets.h). Single memory records are not
// written, only their sums over time.
//
// Times count from the earliest time of the trace. A ClockSnapshot says which
// wall time that is. Names are kept as they are, except for bytes that are not
// UTF-8 (profiler/text/utf8.h). The file is one packet sequence. Interned data
// comes before the packets that use it, so a file can be read while it is
// written, and it can be cut between any two packets.
#ifndef KYMO_EXPORTERS_PERFETTO_PERFETTO_EXPORTER_H_
#define KYMO_EXPORTERS_PERFETTO_PERFETTO_EXPORTER_H_

#include <memory>

#include "profiler/plugin/trace_exporter.h"

namespace kymo {

std::unique_ptr<TraceExporter> NewPerfettoExporter();

}  // namespace kymo

#endif  // KYMO_EXPORTERS_PERFETTO_PERFETTO_EXPORTER_H_
