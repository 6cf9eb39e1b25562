// findings_section.h - what a performance engineer would say first, in
// summary.json.
//
//   "findings": [{
//     "id": "lock_contention",
//     "title": "Threads waited 400 ms for the lock 0x1f, in 2 waits; ...",
//     "next_step": "Hold the lock for a shorter time, or ...",
//     "time_ns": 400000000,             what is at stake; or "bytes"
//     "share": 0.4,                     of the run; of the peak; of the data
//     "evidence": {
//       "kind": "interval",             or event, stack, row, counter
//       "name": "Get",                  of the event, function, row, counter
//       "table": "locks",               that has the row of this name
//       "track": 3,                     position among the trace's tracks
//       "pid": 7, "tid": 8,             or "device" and "stream"
//       "begin_ns": 100000000, "duration_ns": 300000000,
//       "frames": ["main", "Cache::Get"]}}]
//
// Ranked: the one with most at stake is first. Of the members of `evidence`,
// only `kind` and `name` are always there; an interval and an event have a
// track and times, a stack has frames, a row has a table, a counter has a
// track.
//
// Tracks are counted in the order of the trace, threads and streams together;
// report.html has the same order. Times count from FirstTimeNs
// (profiler/analysis/first_time.h), as in report.html. Frames are functions,
// the outermost first. Titles and names are texts of the target as they are.
//
// `table` is an analysis of `report` (waits, locks, threads, device_kernels,
// device_idle) or a member of summary.json (key_averages, sampled_functions,
// memory, ledger). docs/findings.md describes each id.
#ifndef KYMO_EXPORTERS_SUMMARY_FINDINGS_SECTION_H_
#define KYMO_EXPORTERS_SUMMARY_FINDINGS_SECTION_H_

#include "profiler/analysis/memory/lazy_profiles.h"
#include "profiler/analysis/ranks/lazy_job.h"
#include "profiler/model/trace.h"
#include "profiler/text/json_writer.h"

namespace kymo {

// Writes the member; its list may be empty.
void WriteFindings(const model::Trace& trace,
                   const analysis::LazyMemoryProfiles& memory,
                   const analysis::LazyJobOfRanks& ranks,
                   json::JsonWriter& json);

}  // namespace kymo

#endif  // KYMO_EXPORTERS_SUMMARY_FINDINGS_SECTION_H_
