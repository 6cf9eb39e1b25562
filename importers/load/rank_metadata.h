// rank_metadata.h - the rank of a file that says it in its metadata only.
//
//   if (const std::optional<RankMetadata> of = FindRankMetadata(shards)) ...
//
// PyTorch writes `distributedInfo` into the traces of distributed programs.
#ifndef KYMO_IMPORTERS_LOAD_RANK_METADATA_H_
#define KYMO_IMPORTERS_LOAD_RANK_METADATA_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "profiler/model/records.h"
#include "profiler/model/trace_shard.h"

namespace kymo {

struct RankMetadata {
  int64_t rank = 0;
  int64_t size = 0;    // of the job, more than 1
  std::string host;    // empty: not known
  model::Track track;  // of the first thread, without its name
};

// Nothing: the file is of no rank, or of no thread.
std::optional<RankMetadata> FindRankMetadata(
    std::span<const model::TraceShard> shards);

}  // namespace kymo

#endif  // KYMO_IMPORTERS_LOAD_RANK_METADATA_H_
