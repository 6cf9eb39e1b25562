#include "backends/stream/decode/arena_shard.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "profiler/model/loss_ledger.h"
#include "profiler/record/arena/arena.h"

namespace kymo::stream {
namespace {

using model::Loss;

// The losses that a session finds which began with `before`.
std::string Losses(const record::Arena& arena, const LossCounters& before) {
  model::TraceShard shard;
  FillShard({.arena = arena,
             .clock = TickConverter(ClockSource::kSystem, {.ticks = 0},
                                    {.ticks = 1}, 0),
             .losses_at_start = before},
            shard);
  std::string text;
  for (size_t i = 0; i < static_cast<size_t>(Loss::kCount); ++i) {
    const uint64_t count = shard.ledger.Get(static_cast<Loss>(i));
    if (count == 0) continue;
    text += std::string(model::LossName(static_cast<Loss>(i))) + "=" +
            std::to_string(count) + " ";
  }
  return text;
}

TEST(ArenaShardTest, LossesAreThoseSinceTheSessionsStart) {
  record::Arena arena = record::Arena::CreateAnonymous(
      {.capacity_bytes = record::kChunkBytes,
       .chunk_bytes_total = record::kChunkBytes});
  ASSERT_TRUE(arena.valid());
  EXPECT_EQ(Losses(arena, {}), "");
  record::ArenaHeader& header = arena.header();
  // Each has a number of its own.
  header.dropped_in_handlers.store(1);
  header.events_without_stream.store(2);
  header.names_lost.store(3);
  header.texts_truncated.store(4);
  header.heap_samples_lost.store(5);
  header.heaps_not_watched.store(6);
  const std::string all = Losses(arena, {});
  for (const auto& [loss, count] :
       {std::pair(Loss::kEventsDroppedInHandlers, 1),
        std::pair(Loss::kEventsDroppedNoStream, 2),
        std::pair(Loss::kNamesDroppedTableFull, 3),
        std::pair(Loss::kArgumentsTruncated, 4),
        std::pair(Loss::kHeapSamplesLost, 5),
        std::pair(Loss::kHeapsNotWatched, 6)}) {
    EXPECT_NE(all.find(std::string(model::LossName(loss)) + "=" +
                       std::to_string(count) + " "),
              all.npos)
        << all;
  }
  // A session that begins now has lost nothing.
  const LossCounters before = ReadLosses(arena);
  EXPECT_EQ(Losses(arena, before), "");
  header.texts_truncated.store(11);
  EXPECT_EQ(Losses(arena, before),
            std::string(model::LossName(Loss::kArgumentsTruncated)) + "=7 ");
  arena.Unmap();
}

}  // namespace
}  // namespace kymo::stream
