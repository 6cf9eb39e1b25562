// chrome_exporter.h - `chrome`: Chrome trace JSON in Kineto's dialect.
//
// Writes trace.json, or trace.json.gz with options.gzip, for Perfetto,
// chrome://tracing, HolisticTraceAnalysis and PyTorch's TensorBoard plugin.
//
//   pid, tid              | what stands there
//   process, thread       | ranges (ph X), instants (i), counters (C), memory
//                         | records ([memory], [OutOfMemory])
//   process, synthetic    | a further lane of ranges that overlap on a thread
//   process, synthetic    | a thread's waits (cat thread_wait; wait_slices.h),
//                         | sorted directly below the thread
//   process, synthetic    | a thread's samples as a flame chart (cat
//                         | cpu_sample), sorted directly below the thread
//   device, stream        | ranges of device streams
//
// The data of operations is in their args, under PyTorch's keys (event_args.h).
// Flows of category fwdbwd lead from forward operations to the backward ones of
// the same sequence number (forward_backward.h).
//
// Memory in use is a counter of its process, per kind of memory. The setting
// chrome_memory_events (default 1,000,000; -1: no limit) limits the records of
// the heap. If a trace has more, only the counters are written, and the member
// "kymo_heap_records_left_out" says how many records are missing.
//
// Within options.max_bytes, a file that is too large becomes trace.json.gz. If
// that is too large as well, short ranges are folded (bounded_file.h), short
// slices of flame charts and waits are left out, and memory becomes counters.
//
// Times are us after baseTimeNanoseconds with three decimals. Names are
// escaped, never altered. Overlapping lanes, waits and flame charts get thread
// ids that nothing else has; all ids fit 31 bits.
//
// Samples, waits and stacks of allocations also stand in members of their own,
// from which Kymo reads them back whole (exact_records.h).
//
// A flame chart joins consecutive samples of a thread: a frame's slice lasts
// from the first sample to one sampling period after the last sample that
// shares the stack down to it, or to the next sample if that comes earlier. A
// gap of more than 1.5 periods ends all slices.
#ifndef KYMO_EXPORTERS_CHROME_CHROME_EXPORTER_H_
#define KYMO_EXPORTERS_CHROME_CHROME_EXPORTER_H_

#include <memory>

#include "profiler/plugin/trace_exporter.h"

namespace kymo {

std::unique_ptr<TraceExporter> NewChromeExporter();

}  // namespace kymo

#endif  // KYMO_EXPORTERS_CHROME_CHROME_EXPORTER_H_
