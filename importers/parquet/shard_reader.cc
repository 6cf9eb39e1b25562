#include "importers/parquet/shard_reader.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "importers/parquet/shard_tables.h"
#include "profiler/base/status_macros.h"

namespace kymo::parquet_import {

absl::Status Wrong(const parquet::FileReader& file, std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(file.path(), ": the table is damaged: ", std::string(what)));
}

absl::StatusOr<model::TraceShard> ReadShard(const PartFiles& files) {
  Reading reading{.files = files};
  reading.shard.sampling_period_ns = files.Fact("kymo.sampling_period_ns");
  reading.shard.memory_sample_interval =
      files.RealFact("kymo.memory_sample_interval");
  const double interval = reading.shard.memory_sample_interval;
  constexpr double kMostInterval = 1e15;  // bytes
  if (!IsDuration(reading.shard.sampling_period_ns) || !(interval >= 0) ||
      interval > kMostInterval) {
    return absl::InvalidArgumentError(
        "the tables' metadata have an impossible sampling period or interval");
  }
  for (const auto read : {ReadProcesses, ReadTracks, ReadThreads, ReadStacks,
                          ReadArgs, ReadEvents, ReadSamples, ReadCounters,
                          ReadMemory, ReadWaits, ReadLedger, ReadMetadata}) {
    KYMO_RETURN_IF_ERROR(read(reading));
  }
  return std::move(reading.shard);
}

}  // namespace kymo::parquet_import
