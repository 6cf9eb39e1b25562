// waits_section.h - what threads waited for, in summary.json.
//
//   "waits": {
//     "idle_ns": 900000000,
//     "min_wait_ns": 100000,            shorter waits are in sums, and in no
//                                       range
//     "blocked_ns": {"lock": 1210000000, "read": 400000000},
//                                       of waits that are not idle
//     "places": [{"where": "Cache::Get", "kind": "lock", "is_idle": false,
//                 "count": 4120, "wait_ns": 1210000000,
//                 "longest_ns": 310000, "stack": ["main", "Cache::Get"]}],
//     "place_count": 1,
//     "locks": [{"pid": 7, "object": "0x5581 app.cc:40", "count": 4120,
//                "wait_ns": 1210000000, "longest_ns": 310000}],
//     "lock_count": 1,
//     "ranges": [{"name": "step", "count": 1, "duration_ns": 2000000000,
//                 "cpu_ns": 700000000, "runnable_ns": 90000000,
//                 "blocked_ns": {"lock": 1210000000}}],
//     "range_count": 1}
//
// Places, locks and names of ranges with the longest waits come first: at most
// 1000 places and locks, and kMaxAverages names. The counts are of all.
// profiler/analysis/waits.h says what is counted.
#ifndef KYMO_EXPORTERS_SUMMARY_WAITS_SECTION_H_
#define KYMO_EXPORTERS_SUMMARY_WAITS_SECTION_H_

#include "profiler/model/trace.h"
#include "profiler/text/json_writer.h"

namespace kymo {

// Writes the member, or nothing if the trace has no waits.
void WriteWaits(const model::Trace& trace, json::JsonWriter& json);

}  // namespace kymo

#endif  // KYMO_EXPORTERS_SUMMARY_WAITS_SECTION_H_
