// threads_section.h - threads and device streams, in summary.json.
//
//   "threads": [{"pid": 7, "tid": 7, "name": "main", "ranges": 22,
//                "instants": 0, "top_level_ns": 2700000000, "samples": 57,
//                "sampled_ns": 57000000}]
//
//   "cpu_limit": {"cpus": 0.5, "quota_ns": 50000000, "period_ns": 100000000,
//                 "periods": 80, "throttled_periods": 41,
//                 "throttled_ns": 3000000000},
//   "kymo_cpu_ns": 40000000
//
// Events that overlap stand on several tracks of a thread or stream, its lanes:
// they are added up. Where the kernel counted, threads have its times, too.
#ifndef KYMO_EXPORTERS_SUMMARY_THREADS_SECTION_H_
#define KYMO_EXPORTERS_SUMMARY_THREADS_SECTION_H_

#include "profiler/analysis/averages/totals.h"
#include "profiler/model/trace.h"
#include "profiler/text/json_writer.h"

namespace kymo {

// The member `threads` or `streams`.
void WriteTracks(const model::Trace& trace, const analysis::Totals& totals,
                 model::TrackKind kind, json::JsonWriter& json);

// The member `cpu_limit`, if there is one (profiler/model/thread_states.h).
void WriteCpuLimit(const model::Trace& trace, json::JsonWriter& json);

// The member `kymo_cpu_ns`, the CPU time of Kymo itself, if it is known.
void WriteKymoCpu(const model::Trace& trace, json::JsonWriter& json);

}  // namespace kymo

#endif  // KYMO_EXPORTERS_SUMMARY_THREADS_SECTION_H_
