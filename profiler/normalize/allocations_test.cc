#include "profiler/normalize/allocations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kymo {
namespace {

using model::kNoMemory;
using model::Loss;
using model::MemoryEvent;
using model::MemoryRecord;
using model::MemorySource;
using model::TraceData;
using model::TrackIndex;
using ::testing::ElementsAre;

MemoryRecord Allocate(TrackIndex track, TimeNs time_ns, uint64_t address,
                      int64_t bytes) {
  return {.track = track,
          .source = MemorySource::kHeap,
          .time_ns = time_ns,
          .address = address,
          .bytes = bytes};
}

MemoryRecord Free(TrackIndex track, TimeNs time_ns, uint64_t address) {
  return {.track = track,
          .event = MemoryEvent::kFreeOfUnknown,
          .source = MemorySource::kHeap,
          .time_ns = time_ns,
          .address = address};
}

// Two threads of process 1, one of process 2.
TraceData Paired(std::initializer_list<MemoryRecord> records,
                 const ProgramReplacements& replacements = {}) {
  TraceData data;
  data.tracks = {{.pid = 1, .id = 1}, {.pid = 1, .id = 2}, {.pid = 2, .id = 3}};
  data.memory.assign(records.begin(), records.end());
  PairAllocations(data, replacements);
  return data;
}

std::vector<int64_t> BytesOf(const TraceData& data) {
  std::vector<int64_t> bytes;
  for (const MemoryRecord& record : data.memory) bytes.push_back(record.bytes);
  return bytes;
}
std::vector<int64_t> TotalsOf(const TraceData& data) {
  std::vector<int64_t> totals;
  for (const MemoryRecord& record : data.memory) {
    totals.push_back(record.total_allocated);
  }
  return totals;
}

std::vector<model::MemoryIndex> PartnersOf(const TraceData& data) {
  std::vector<model::MemoryIndex> partners;
  for (const MemoryRecord& record : data.memory) {
    partners.push_back(record.partner);
  }
  return partners;
}

// One address may be in use on two devices at a time.
TEST(AllocationsTest, ReportsPairOnTheirDevice) {
  const auto report = [](TimeNs time_ns, int64_t bytes, int8_t device) {
    return MemoryRecord{.track = 0,
                        .device_type = 1,
                        .device_index = device,
                        .time_ns = time_ns,
                        .address = 0x100,
                        .bytes = bytes};
  };
  const TraceData data = Paired({report(10, 8, 0), report(20, 8, 1),
                                 report(30, -8, 0), report(40, -8, 1)});
  EXPECT_EQ(data.memory[0].partner, 2);
  EXPECT_EQ(data.memory[1].partner, 3);
  EXPECT_EQ(data.memory[2].partner, 0);
  EXPECT_EQ(data.memory[3].partner, 1);
  EXPECT_EQ(data.ledger.Get(Loss::kFreesNotSeen), 0);
}

TEST(AllocationsTest, AFreeOnAnotherThreadGetsTheBytesOfItsBlock) {
  const TraceData data =
      Paired({Allocate(0, 10, 0x100, 64), Allocate(0, 30, 0x200, 8),
              Free(1, 20, 0x100)});
  EXPECT_THAT(BytesOf(data), ElementsAre(64, 8, -64));
  EXPECT_THAT(TotalsOf(data), ElementsAre(64, 8, 0));
  EXPECT_EQ(data.memory[0].partner, 2u);
  EXPECT_EQ(data.memory[2].partner, 0u);
  EXPECT_EQ(data.memory[1].partner, kNoMemory);
  EXPECT_EQ(data.memory[2].event, MemoryEvent::kAllocation);
}

TEST(AllocationsTest, AnAddressMayComeAgain) {
  const TraceData data =
      Paired({Allocate(0, 10, 0x100, 64), Free(0, 10, 0x100),
              Allocate(0, 11, 0x100, 32), Free(0, 12, 0x100)});
  EXPECT_THAT(BytesOf(data), ElementsAre(64, -64, 32, -32));
  EXPECT_EQ(data.ledger.Get(Loss::kFreesNotSeen), 0u);
}

TEST(AllocationsTest, FreesOfBlocksFromBeforeAreCountedAndLeftOut) {
  const TraceData data = Paired({Free(0, 5, 0x900), Allocate(0, 10, 0x100, 64),
                                 Free(0, 11, 0x100), Free(1, 12, 0x100)});
  EXPECT_THAT(BytesOf(data), ElementsAre(64, -64));
  EXPECT_EQ(data.memory[0].partner, 1u);
  EXPECT_EQ(data.memory[1].partner, 0u);
  EXPECT_EQ(data.ledger.Get(Loss::kFreesOfUnknownBlocks), 2u);
}

TEST(AllocationsTest, ABlockWhoseFreeWasNotSeenEndsWithTheNextAtItsAddress) {
  const TraceData data =
      Paired({Allocate(0, 10, 0x100, 64), Allocate(0, 20, 0x100, 8)});
  EXPECT_EQ(data.ledger.Get(Loss::kFreesNotSeen), 1u);
  EXPECT_EQ(data.memory[0].partner, 1u);
  EXPECT_EQ(data.memory[1].partner, kNoMemory);
  EXPECT_THAT(TotalsOf(data), ElementsAre(64, 8));
}

TEST(AllocationsTest, ProcessesAndExecsHaveHeapsOfTheirOwn) {
  const TraceData forked =
      Paired({Allocate(0, 10, 0x100, 64), Free(2, 11, 0x100)});
  EXPECT_EQ(forked.ledger.Get(Loss::kFreesOfUnknownBlocks), 1u);
  const TraceData executed =
      Paired({Allocate(0, 10, 0x100, 64), Allocate(0, 11, 0x200, 16),
              Allocate(0, 12, 0x300, 2), Free(0, 13, 0x300), Free(0, 29, 0x200),
              Allocate(0, 30, 0x100, 8), Allocate(0, 31, 0x200, 1),
              Allocate(0, 50, 0x400, 4)},
             {{1, {20, 40}}});
  EXPECT_EQ(executed.ledger.Get(Loss::kFreesNotSeen), 0u);
  EXPECT_EQ(executed.ledger.Get(Loss::kFreesOfUnknownBlocks), 1u);
  EXPECT_THAT(TotalsOf(executed), ElementsAre(64, 80, 82, 80, 8, 9, 4));
  // The first allocation of the next program ends all blocks.
  EXPECT_THAT(PartnersOf(executed), ElementsAre(4, 4, 3, 2, 6, 6, kNoMemory));
}

TEST(AllocationsTest, ReportsKeepTheirBytesAndTotals) {
  TraceData data = Paired({
      {.time_ns = 1, .address = 0x10, .bytes = 8, .total_allocated = 108},
      {.time_ns = 2, .address = 0x10, .bytes = -8, .total_allocated = 100},
      {.time_ns = 3, .address = 0x10, .bytes = -8, .total_allocated = 92},
  });
  EXPECT_THAT(BytesOf(data), ElementsAre(8, -8, -8));
  EXPECT_THAT(TotalsOf(data), ElementsAre(108, 100, 92));
  EXPECT_EQ(data.memory[1].partner, 0u);
  EXPECT_EQ(data.memory[2].partner, kNoMemory);
}

TEST(AllocationsTest, SampledTotalsAreThoseOfAllThatTheSamplesStandFor) {
  TraceData data;
  data.tracks = {{.pid = 1, .id = 1}};
  data.memory_sample_interval = 1000;
  data.memory = {Allocate(0, 1, 0x10, 100), Allocate(0, 2, 0x20, 100000)};
  PairAllocations(data);
  // A sample of 100 bytes stands for 1 / (1 - exp(-0.1)) of its kind.
  EXPECT_THAT(TotalsOf(data), ElementsAre(1051, 101051));
}

TEST(AllocationsTest, ManyThreadsComeOutAsOneHeap) {
  std::mt19937_64 random(1);
  TraceData data;
  std::vector<std::vector<MemoryRecord>> threads(8);
  std::vector<std::pair<uint64_t, int64_t>> live;
  int64_t total = 0;
  for (TimeNs now = 1; now <= 300'000; ++now) {
    std::vector<MemoryRecord>& thread = threads[random() % threads.size()];
    const TrackIndex track = static_cast<TrackIndex>(&thread - &threads[0]);
    if (live.size() > 1000 || (!live.empty() && random() % 2 == 0)) {
      std::swap(live[random() % live.size()], live.back());
      thread.push_back(Free(track, now, live.back().first));
      total -= live.back().second;
      live.pop_back();
    } else {
      // An address that no live block has.
      uint64_t address = 16 * (1 + random() % 4096);
      while (std::any_of(live.begin(), live.end(),
                         [&](const auto& b) { return b.first == address; })) {
        address = 16 * (1 + random() % 4096);
      }
      const int64_t bytes = 1 + static_cast<int64_t>(random() % 100);
      thread.push_back(Allocate(track, now, address, bytes));
      live.push_back({address, bytes});
      total += bytes;
    }
  }
  for (size_t t = 0; t < threads.size(); ++t) {
    data.tracks.push_back({.pid = 1, .id = static_cast<int64_t>(t)});
    data.memory.insert(data.memory.end(), threads[t].begin(), threads[t].end());
  }
  PairAllocations(data);
  const MemoryRecord& last = *std::max_element(
      data.memory.begin(), data.memory.end(),
      [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  EXPECT_EQ(last.total_allocated, total);
  EXPECT_EQ(data.ledger.Get(Loss::kFreesNotSeen), 0u);
  EXPECT_EQ(data.ledger.Get(Loss::kFreesOfUnknownBlocks), 0u);
  EXPECT_EQ(std::count_if(data.memory.begin(), data.memory.end(),
                          [](const auto& r) {
                            return r.bytes > 0 && r.partner == kNoMemory;
                          }),
            static_cast<std::ptrdiff_t>(live.size()));
}

TEST(AllocationsTest, PartsDoNotChangeTheResult) {
  const auto paired = [](size_t records_per_part) {
    std::mt19937_64 random(7);
    TraceData data;
    data.tracks = {{.pid = 1, .id = 1}};
    for (TimeNs now = 1; now <= 5'000; ++now) {
      const uint64_t address = 16 * (1 + random() % 100);
      data.memory.push_back(random() % 3 == 0 ? Free(0, now, address)
                                              : Allocate(0, now, address, 8));
    }
    PairAllocations(data, {}, records_per_part);
    std::vector<std::pair<uint32_t, int64_t>> result;
    for (const MemoryRecord& record : data.memory) {
      result.push_back({record.partner, record.total_allocated});
    }
    EXPECT_GT(data.ledger.Get(Loss::kFreesNotSeen), 100u);
    EXPECT_GT(data.ledger.Get(Loss::kFreesOfUnknownBlocks), 100u);
    return result;
  };
  const auto whole = paired(kRecordsPerPart);
  EXPECT_EQ(paired(1'000), whole);
  EXPECT_EQ(paired(7), whole);
}

// Mappings say their bytes. Parts of one, and unmaps of others, free nothing.
TEST(AllocationsTest, MappingsAreFreedAsAWhole) {
  const auto mapping = [](TimeNs time_ns, uint64_t address, int64_t bytes) {
    return MemoryRecord{.source = MemorySource::kMapped,
                        .time_ns = time_ns,
                        .address = address,
                        .bytes = bytes};
  };
  const TraceData data =
      Paired({mapping(1, 0x1000, 8'192),
              mapping(2, 0x1000, -4'096),
              mapping(3, 0x1000, -8'192),
              mapping(4, 0x1000, -8'192),
              mapping(5, 0x2000, 64),
              mapping(6, 0x2000, 32),
              {.event = MemoryEvent::kOutOfMemory,
               .source = MemorySource::kMapped,
               .time_ns = 7,
               .address = 0x2000,
               .bytes = 1},
              {.source = MemorySource::kMapped, .time_ns = 8, .bytes = 5}});
  EXPECT_THAT(BytesOf(data), ElementsAre(8'192, -8'192, 64, 32, 1, 5));
  EXPECT_THAT(TotalsOf(data), ElementsAre(8'192, 0, 64, 32, 0, 37));
  EXPECT_EQ(data.memory[0].partner, 1u);
  EXPECT_EQ(data.memory[2].partner, 3u);
  EXPECT_EQ(data.memory[3].partner, kNoMemory);
  EXPECT_EQ(data.ledger.Get(Loss::kFreesOfUnknownBlocks), 2u);
  EXPECT_EQ(data.ledger.Get(Loss::kFreesNotSeen), 1u);
}

}  // namespace
}  // namespace kymo
