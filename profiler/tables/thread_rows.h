// thread_rows.h - the threads of a trace: its tracks without their lanes.
//
//   const ThreadRows threads = FindThreads(trace);
//   threads.of_track[track]           // kNoThread of a device's stream
//   threads.rows[0].times->blocked_ns()
#ifndef KYMO_PROFILER_TABLES_THREAD_ROWS_H_
#define KYMO_PROFILER_TABLES_THREAD_ROWS_H_

#include <cstdint>
#include <vector>

#include "profiler/model/records.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace.h"

namespace kymo::tables {

inline constexpr uint32_t kNoThread = ~uint32_t{0};
inline constexpr uint32_t kNoProcess = ~uint32_t{0};

struct ThreadRow {
  model::TrackIndex track = 0;                      // the first lane
  const model::ThreadTimes* times = nullptr;        // null: not recorded
  const model::AllocationCounts* counts = nullptr;  // null: not counted
};

struct ThreadRows {
  std::vector<ThreadRow> rows;     // by track
  std::vector<uint32_t> of_track;  // index in `rows`, or kNoThread
  std::vector<uint32_t> lane;      // by track: 0, and 1 and on of its lanes
  std::vector<uint32_t> process;   // by track: its last one, or kNoProcess
};

ThreadRows FindThreads(const model::Trace& trace);

}  // namespace kymo::tables

#endif  // KYMO_PROFILER_TABLES_THREAD_ROWS_H_
