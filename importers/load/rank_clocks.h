// rank_clocks.h - puts the files of a job's ranks on one clock.
//
//   AlignRanks(files);   // a RankFile for each file
//
// Each rank has recorded how far its clock is from rank 0's, at the start and
// at the end (backends/mpi; without MPI, tools/profile_command/job). Between
// the two, a clock drifts along a line. The times of each file become those of
// the lowest rank among the files.
//
// A file of which only its metadata says so (rank_metadata.h) is of a rank,
// too, if there is another one; then it gets the instant `job rank`.
//
// A file without such a measurement is put on that clock by the messages of its
// rank (message_clocks.h). If these do not tell, the file stays as it is, since
// the clocks of machines differ by milliseconds or more. Both is a finding, and
// drawn: a range beside the rank's thread, as long as the clock is uncertain.
#ifndef KYMO_IMPORTERS_LOAD_RANK_CLOCKS_H_
#define KYMO_IMPORTERS_LOAD_RANK_CLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "importers/load/clock_line.h"
#include "profiler/base/time.h"
#include "profiler/model/move_times.h"
#include "profiler/model/records.h"
#include "profiler/model/trace_shard.h"
#include "profiler/plugin/trace_importer.h"

namespace kymo {

// What a file says of its rank.
struct RankClock {
  int64_t rank = 0;
  std::string host;
  model::Track track;  // of the thread that said so, without its name
  std::vector<ClockPoint> points;  // by time
  int64_t told_size = 0;           // of the job, if only metadata says so
};

// Nothing: the shards are of no rank, or of several.
std::optional<RankClock> FindRankClock(
    std::span<const model::TraceShard> shards);

// A file's parts that alignment changes.
struct RankFile {
  std::span<model::TraceShard> shards;
  std::vector<ImportFinding>* findings = nullptr;
  // Of the recording, 0: not known.
  TimeNs* start_ns = nullptr;
  TimeNs* end_ns = nullptr;
};

// Files that are of no rank stay as they are. Returns further shards: what is
// drawn.
std::vector<model::TraceShard> AlignRanks(std::span<const RankFile> files);

}  // namespace kymo

#endif  // KYMO_IMPORTERS_LOAD_RANK_CLOCKS_H_
