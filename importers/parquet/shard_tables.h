// shard_tables.h - what the tables of a trace become in its shard, table after
// table. shard_reader.cc calls these; others include shard_reader.h.
//
// Each function reads one table and adds its rows to the shard. They run in the
// order of ReadShard: a table comes after those that its columns refer to.
//
// Errors: kInvalidArgument: damaged; the message names the file.
#ifndef KYMO_IMPORTERS_PARQUET_SHARD_TABLES_H_
#define KYMO_IMPORTERS_PARQUET_SHARD_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "importers/parquet/part_files.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/trace_shard.h"

namespace kymo::parquet_import {

// Times of files are within some 140 years of the epoch, so that sums of a few
// do not overflow.
inline constexpr int64_t kMostTime = int64_t{1} << 62;
constexpr bool IsTime(int64_t time_ns) {
  return time_ns > -kMostTime && time_ns < kMostTime;
}
constexpr bool IsDuration(int64_t ns) { return ns >= 0 && ns < kMostTime; }

// A shard while it is made, and what its tables' row numbers mean in it.
struct Reading {
  const PartFiles& files;
  model::TraceShard shard;

  bool has_tracks = false;
  // By the row of `tracks`; without that table, in the order of first use.
  absl::flat_hash_map<int64_t, model::TrackIndex> tracks;
  std::vector<model::StackId> stacks;      // by the row of `stacks`
  std::vector<model::TrackIndex> threads;  // by the row of `threads`

  // The arguments of an event.
  struct EventArgs {
    int64_t event = 0;
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  std::vector<EventArgs> args;  // by event

  std::optional<model::TrackIndex> Track(int64_t row) const {
    const auto it = tracks.find(row);
    if (it == tracks.end()) return std::nullopt;
    return it->second;
  }
  // Without `stacks`, all are empty.
  std::optional<model::StackId> Stack(int64_t row) const {
    if (stacks.empty()) return model::kEmptyStack;
    if (row < 0 || static_cast<uint64_t>(row) >= stacks.size()) {
      return std::nullopt;
    }
    return stacks[static_cast<size_t>(row)];
  }
};

// -1: no device has such a number.
constexpr int32_t AsDevice(int64_t number) {
  return std::in_range<int32_t>(number) ? static_cast<int32_t>(number) : -1;
}

// "PATH: row 7: WHAT".
absl::Status Wrong(const parquet::FileReader& file, std::string_view what);

// read_tracks.cc
absl::Status ReadProcesses(Reading& reading);
absl::Status ReadTracks(Reading& reading);
absl::Status ReadThreads(Reading& reading);

// read_args.cc
absl::Status ReadArgs(Reading& reading);

// read_events.cc
absl::Status ReadEvents(Reading& reading);

// read_stacks.cc
absl::Status ReadStacks(Reading& reading);
absl::Status ReadSamples(Reading& reading);

// read_records.cc
absl::Status ReadCounters(Reading& reading);
absl::Status ReadMemory(Reading& reading);
absl::Status ReadWaits(Reading& reading);
absl::Status ReadLedger(Reading& reading);
absl::Status ReadMetadata(Reading& reading);

}  // namespace kymo::parquet_import

#endif  // KYMO_IMPORTERS_PARQUET_SHARD_TABLES_H_
