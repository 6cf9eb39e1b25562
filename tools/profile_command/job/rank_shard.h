// rank_shard.h - what a rank's trace says of the rank, where MPI does not.
//
//   recording.AddShard(RankShard({.rank = 3, .size = 8, .host = "node1",
//                                 .pid = child.pid(),
//                                 .start_ns = recording.start_ns(),
//                                 .end_ns = recording.end_ns()}, clocks));
//
// Two instants `job rank` of the program's first process, where the recording
// begins and ends: `rank`, `size`, `host`. And an instant `job clock` for each
// reading: `mono_ns`, `offset_ns`, `bound_ns`, as backends/mpi has them in
// `MPI clock`.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_SHARD_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_SHARD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/analysis/ranks/mpi_calls.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"
#include "tools/profile_command/job/rank_link.h"

namespace kymo::tools {

struct RankOfTrace {
  int64_t rank = 0;
  int64_t size = 1;
  std::string host;
  int64_t pid = 0;
  // Of the recording. Readings from before or after count for these times.
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
};

model::TraceShard RankShard(const RankOfTrace& rank,
                            const std::vector<ClockReading>& clocks);

// `wait_status` is that of wait().
analysis::RankEnd EndOf(int wait_status, TimeNs time_ns);

// An instant `rank end` when the program ended: `rank`, `signal` (0: none
// killed it), `status`.
model::TraceShard RankEndShard(const RankOfTrace& rank,
                               const analysis::RankEnd& end);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_SHARD_H_
