#include "importers/load/rank_metadata.h"

#include <algorithm>
#include <string_view>

#include "profiler/text/json_member.h"

namespace kymo {
namespace {

// Its JSON; empty if there is none.
std::string_view MetadataText(std::span<const model::TraceShard> shards,
                              std::string_view key) {
  for (const model::TraceShard& shard : shards) {
    for (const model::Metadata& entry : shard.metadata) {
      if (shard.strings.Get(entry.key) == key) {
        return shard.strings.Get(entry.json_value);
      }
    }
  }
  return {};
}

}  // namespace

std::optional<RankMetadata> FindRankMetadata(
    std::span<const model::TraceShard> shards) {
  const std::string_view info = MetadataText(shards, "distributedInfo");
  if (info.empty()) return std::nullopt;
  const std::optional<int64_t> rank = json::IntMember(info, "rank");
  const std::optional<int64_t> size = json::IntMember(info, "world_size");
  if (!rank || !size || *rank < 0 || *size < 2) return std::nullopt;
  for (const model::TraceShard& shard : shards) {
    const auto thread = std::ranges::find(
        shard.tracks, model::TrackKind::kThread, &model::Track::kind);
    if (thread == shard.tracks.end()) continue;
    RankMetadata found = {.rank = *rank, .size = *size};
    found.track = {.pid = thread->pid, .id = thread->id};
    for (const std::string_view key : {"hostname", "host_name", "host name"}) {
      if (!found.host.empty()) break;
      found.host = json::TextOf(MetadataText(shards, key)).value_or("");
    }
    return found;
  }
  return std::nullopt;
}

}  // namespace kymo
