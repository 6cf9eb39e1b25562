// Logs in which bytes were changed, cut or repeated. Whatever they hold,
// decoding gives a shard whose parts fit together.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "backends/cupti/decode/decode.h"
#include "backends/cupti/log/test_log.h"

namespace kymo::cupti {
namespace {

// A few records of every kind.
std::vector<std::byte> WholeLog() {
  TestLog log;
  log.Device(0, "A100");
  log.Context(1, 0);
  AnchorRecord anchor = {};
  anchor.clock = LogClock::kCupti;
  anchor.log_ns = 500;
  anchor.monotonic_ns = 700;
  log.Add(RecordKind::kAnchor, anchor);
  for (uint32_t i = 1; i < 12; ++i) {
    const uint64_t at = 1000 * i;
    log.Call("cudaLaunchKernel_v7000", i, at, at + 300);
    log.Kernel("_Z4axpyfPf", i, at + 400, at + 900);
  }
  CopyRecord copy = {};
  copy.start = 20'000;
  copy.end = 21'000;
  log.Add(RecordKind::kCopy, copy);
  log.Add(RecordKind::kSet, SetRecord{.start = 1, .end = 2});
  log.Add(RecordKind::kSync, SyncRecord{.start = 5, .end = 6, .type = 2});
  log.Add(RecordKind::kEvent, EventRecord{.time = 5});
  log.Add(RecordKind::kGraph, GraphRecord{.start = 5, .end = 9});
  MemoryRecord memory = {};
  memory.time = 7;
  memory.operation = 1;
  memory.memory_kind = 3;
  log.Add(RecordKind::kMemory, memory);
  log.Add(RecordKind::kPool, PoolRecord{.time = 8});
  log.Add(RecordKind::kUnified, UnifiedRecord{.start = 9, .counter = 4});
  log.Add(RecordKind::kOverhead, OverheadRecord{.start = 3, .end = 4});
  log.Add(RecordKind::kStream, StreamRecord{});
  log.Add(RecordKind::kExternal, ExternalRecord{.id = 5});
  log.Add(RecordKind::kLoss, LossRecord{.count = 1});
  MarkerRecord marker = {};
  marker.time = 100;
  marker.id = 1;
  marker.phase = kMarkerStart;
  marker.thread = 42;
  marker.domain = 1;
  log.Add(RecordKind::kMarker, marker, "step");
  log.Add(RecordKind::kMarkerData,
          MarkerDataRecord{.payload = 5, .id = 1, .category = 2});
  marker.time = 200;
  marker.phase = kMarkerEnd;
  log.Add(RecordKind::kMarker, marker);
  log.Add(RecordKind::kName,
          NameRecord{.object = NamedObject::kThread, .thread = 42}, "main");
  log.Add(RecordKind::kRefused, RefusedRecord{.kind = 25}, "memory: no");
  anchor.log_ns = 30'000;
  anchor.monotonic_ns = 30'300;
  log.Add(RecordKind::kAnchor, anchor);
  const auto bytes = log.bytes();
  return {bytes.begin(), bytes.end()};
}

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  void Mutate(std::vector<std::byte>& log) {
    for (size_t n = 1 + Below(8); n > 0 && !log.empty(); --n) {
      const size_t at = Below(log.size());
      switch (Below(5)) {
        case 0:
          log[at] = static_cast<std::byte>(Below(256));
          break;
        case 1:
          log.resize(at);
          break;
        case 2:  // a word that easily breaks a size or a time
          if (at / 8 * 8 + 8 <= log.size()) {
            const uint64_t words[] = {0, ~uint64_t{0}, uint64_t{1} << 63,
                                      0x7fffffffffffffff, 0xffff};
            memcpy(&log[at / 8 * 8], &words[Below(5)], 8);
          }
          break;
        case 3:
          log.erase(log.begin() + at,
                    log.begin() + std::min(at + 8 * Below(9), log.size()));
          break;
        default: {
          const std::vector<std::byte> part(
              log.begin() + at,
              log.begin() + std::min(at + 8 * Below(30), log.size()));
          log.insert(log.begin() + Below(log.size()), part.begin(), part.end());
        }
      }
    }
  }

 private:
  size_t Below(size_t n) { return random_() % n; }

  std::mt19937_64 random_;
};

void Check(const model::TraceShard& shard) {
  for (const model::Track& track : shard.tracks) {
    EXPECT_LT(Index(track.name), shard.strings.size());
  }
  for (const model::TrackEvents& events : shard.events) {
    EXPECT_LT(events.track, shard.tracks.size());
    EXPECT_EQ(events.end_ns.size(), events.size());
    EXPECT_EQ(events.name.size(), events.size());
    EXPECT_EQ(events.type.size(), events.size());
    EXPECT_EQ(events.scope.size(), events.size());
    EXPECT_EQ(events.flags.size(), events.size());
    EXPECT_TRUE(std::is_sorted(events.start_ns.begin(), events.start_ns.end()));
    for (const model::NameId name : events.name) {
      EXPECT_LT(Index(name), shard.strings.size());
    }
    for (const model::DetailIndex detail : events.detail) {
      if (detail == model::kNoDetail) continue;
      ASSERT_LT(detail, shard.details.size());
      EXPECT_LE(shard.details[detail].args_begin,
                shard.details[detail].args_end);
      EXPECT_LE(shard.details[detail].args_end, shard.args.size());
    }
  }
  for (const model::MemoryRecord& record : shard.memory) {
    EXPECT_LT(record.track, shard.tracks.size());
  }
  for (const model::CounterSample& counter : shard.counters) {
    EXPECT_LT(counter.track, shard.tracks.size());
  }
}

TEST(DecodeMutationTest, AnyBytesMakeATrace) {
  const std::vector<std::byte> whole = WholeLog();
  // For a longer run by hand: KYMO_MUTATION_SECONDS=600.
  const char* const seconds = getenv("KYMO_MUTATION_SECONDS");
  const auto end =
      std::chrono::steady_clock::now() +
      std::chrono::seconds(seconds == nullptr ? 10 : atoi(seconds));
  const uint64_t last = seconds == nullptr ? 20'000 : ~uint64_t{0};
  // The seeds are the same each time; a slow machine tries fewer.
  uint64_t seed = 1;
  for (; seed < last && std::chrono::steady_clock::now() < end; ++seed) {
    std::vector<std::byte> log = whole;
    Mutator(seed).Mutate(log);
    // Memory of exactly that size, so that asan sees reads beyond it.
    const std::vector<std::byte> exact(log);
    model::TraceShard shard;
    DecodeLog({.pid = 42}, exact, {.epoch_offset_ns = 1000}, shard);
    Check(shard);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(seed, 200u);
}

}  // namespace
}  // namespace kymo::cupti
