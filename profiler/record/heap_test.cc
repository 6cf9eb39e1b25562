// Tests the records, counts and samples of an allocator's hooks. Addresses are
// made up: the recorder never follows them.
#include "profiler/record/heap.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "profiler/record/host/own_host.h"
#include "profiler/record/test_records.h"

namespace kymo::record {
namespace {

const void* Block(uint64_t address) {
  return reinterpret_cast<const void*>(address);
}

uint64_t BytesOf(const Record& record) {
  return uint64_t{record.flags} << 32 | record.device;
}

HeapSource SourceOf(const Record& record) {
  return static_cast<HeapSource>(record.scope);
}

class HeapTest : public RecordTest {
 protected:
  HeapTest() : RecordTest(kRangesOff | kGateHeap) {}
};

TEST_F(HeapTest, AllocationsAndFreesHaveAddressBytesAndTime) {
  const uint32_t bits = GateBits();
  ASSERT_EQ(bits, kGateHeap);
  const uint64_t before = HeapTicks();
  OnAllocation(Block(0x1000), 64, nullptr, bits);
  OnAllocation(Block(0x2000), 0x5'0000'0007, nullptr, bits);
  OnAllocation(Block(0x3000), 0, nullptr, bits);
  OnFree(nullptr, bits);
  OnFree(Block(0x1000), bits);
  const uint64_t after = HeapTicks();
  OnFree(Block(0x2000), bits, before);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 5u);
  const struct {
    SlotKind kind;
    uint64_t address;
    uint64_t bytes;
  } expected[] = {{SlotKind::kAllocation, 0x1000, 64},
                  {SlotKind::kAllocation, 0x2000, 0x5'0000'0007},
                  {SlotKind::kAllocation, 0x3000, 0},
                  {SlotKind::kFree, 0x1000, 0},
                  {SlotKind::kFree, 0x2000, 0}};
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].kind, expected[i].kind) << i;
    EXPECT_EQ(records[i].end, expected[i].address) << i;
    EXPECT_EQ(BytesOf(records[i]), expected[i].bytes) << i;
    EXPECT_EQ(SourceOf(records[i]), HeapSource::kHeap) << i;
    EXPECT_EQ(records[i].depth, 0u);
    EXPECT_EQ(records[i].extra_slots, 0u) << i;
    EXPECT_GE(records[i].begin, before) << i;
    EXPECT_LE(records[i].begin, after) << i;
  }
  EXPECT_EQ(records[4].begin, before);
}

TEST_F(HeapTest, MappingsConsistOfWholePages) {
  const uint64_t before = HeapTicks();
  for (const size_t bytes : {0, 1, 4096, 4097}) {
    OnMap(Block(0x10000), bytes, nullptr, kGateHeap);
    OnUnmap(Block(0x10000), bytes);
  }
  OnUnmap(Block(0x20000), 1, before);
  {
    // The recorder's own mappings.
    const Busy busy;
    OnMap(Block(0x30000), 1, nullptr, kGateHeap);
    OnUnmap(Block(0x30000), 1);
  }
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 9u);
  const uint64_t expected[] = {0, 4096, 4096, 8192};
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(records[i].kind,
              i % 2 == 0 ? SlotKind::kAllocation : SlotKind::kFree);
    EXPECT_EQ(BytesOf(records[i]), expected[i / 2]) << i;
    EXPECT_EQ(records[i].end, 0x10000u);
    EXPECT_EQ(SourceOf(records[i]), HeapSource::kMapped);
    EXPECT_GE(records[i].begin, before);
  }
  EXPECT_EQ(records[8].end, 0x20000u);
  EXPECT_EQ(records[8].begin, before);
}

TEST_F(HeapTest, HeapsThatTheHooksDoNotSeeAreCounted) {
  const std::atomic<uint64_t>& count =
      ProcessArena()->header().heaps_not_watched;
  const uint64_t before = count.load();
  CountHeapNotWatched();
  EXPECT_EQ(count.load(), before + 1);
  Stop();
}

class HeapStacksTest : public RecordTest {
 protected:
  HeapStacksTest() : RecordTest(kRangesOff | kGateHeap | kGateHeapStacks) {
    SetStackCapture([](const void* frame, uint64_t* pcs, uint64_t) noexcept {
      frame_ = frame;
      for (uint64_t i = 0; i < frames_; ++i) pcs[i] = 1000 + i;
      errno = EIO;
      return frames_;
    });
  }
  ~HeapStacksTest() override { SetStackCapture(nullptr); }

  static inline const void* frame_ = nullptr;
  static inline uint64_t frames_ = 0;
};

TEST_F(HeapStacksTest, AllocationsHaveTheirCallersStack) {
  const uint32_t bits = GateBits();
  // A header of 8 bytes and 8 for each frame, in slots of 32.
  const struct {
    uint64_t frames;
    uint32_t slots;
  } cases[] = {{0, 1}, {3, 1}, {4, 2}, {7, 2}, {8, 3}};
  for (const auto& one : cases) {
    frames_ = one.frames;
    frame_ = nullptr;
    OnAllocation(Block(0x1000), 8, &frames_, bits);
    EXPECT_EQ(frame_, &frames_);
    OnFree(Block(0x1000), bits);
  }
  frames_ = 2;
  OnMap(Block(0x8000), 8, &frames_, bits);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 11u);
  for (size_t i = 0; i < 10; ++i) {
    const bool is_free = i % 2 == 1;
    EXPECT_EQ(records[i].frames, is_free ? 0 : cases[i / 2].frames) << i;
    EXPECT_EQ(records[i].extra_slots, is_free ? 0 : cases[i / 2].slots) << i;
  }
  EXPECT_EQ(records[10].frames, 2u);
  EXPECT_EQ(SourceOf(records[10]), HeapSource::kMapped);
}

TEST_F(HeapStacksTest, AFailedAllocationIsARecordAtNoAddress) {
  frames_ = 2;
  errno = ENOMEM;
  OnAllocation(nullptr, 0x7'0000'0001, &frames_, GateBits());
  EXPECT_EQ(errno, ENOMEM);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].kind, SlotKind::kAllocation);
  EXPECT_EQ(records[0].end, 0u);
  EXPECT_EQ(BytesOf(records[0]), 0x7'0000'0001u);
  EXPECT_EQ(records[0].frames, 2u);
}

class HeapCountsTest : public RecordTest {
 protected:
  HeapCountsTest() : RecordTest(kRangesOff | kGateHeapCounts) {}
};

TEST_F(HeapCountsTest, AThreadHasThreeNumbersAndNoRecords) {
  const uint32_t bits = GateBits();
  ASSERT_EQ(bits, kGateHeapCounts);
  const auto use_heap = [bits](int allocations) {
    {
      // In the recorder, before the thread is registered.
      const Busy busy;
      OnFree(Block(0x1000), bits);
      EXPECT_EQ(ThreadHeapCounts(), nullptr);
    }
    for (int i = 0; i < allocations; ++i) {
      OnAllocation(Block(0x1000), 100 + i, nullptr, bits);
    }
    OnAllocation(nullptr, 1000, nullptr, bits);
    OnFree(nullptr, bits);
    OnFree(Block(0x1000), bits);
    const HeapCounts* const counts = ThreadHeapCounts();
    ASSERT_NE(counts, nullptr);
    EXPECT_EQ(counts->allocations.load(), allocations);
    EXPECT_EQ(counts->allocated_bytes.load(),
              100 * allocations + allocations * (allocations - 1) / 2);
    EXPECT_EQ(counts->frees.load(), 1u);
  };
  std::thread([&] { use_heap(3); }).join();
  std::thread([&] { use_heap(5); }).join();
  EXPECT_EQ(Stop().size(), 0u);
}

// --- samples ---

// A generator and distances as heap.h describes them: xorshift64* (Vigna, "An
// experimental exploration of Marsaglia's xorshift generators, scrambled"), and
// the inverse of an exponential distribution.
int64_t ExpectedDistance(uint64_t& state, double interval) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  const uint64_t random = state * 2685821657736338717u;
  const double uniform =
      std::ldexp(static_cast<double>((random >> 11) + 1), -53);
  return static_cast<int64_t>(-std::log(uniform) * interval) + 1;
}

class HeapSamplesTest : public RecordTest {
 protected:
  static constexpr uint64_t kInterval = 1'000'000;

  HeapSamplesTest()
      : RecordTest(kRangesOff | kGateHeap | kGateHeapSampled, kInterval) {}

  static std::atomic<uint64_t>& Interval() {
    return ProcessArena()->header().heap_sample_interval;
  }
};

TEST_F(HeapSamplesTest, DistancesAreExponential) {
  const uint32_t bits = GateBits();
  ASSERT_EQ(bits, kGateHeap | kGateHeapSampled);
  uint64_t state = 1;
  heap_sampling = {.bytes_until_sample = -1, .random = 1};
  // 0 stands for 1.
  for (const uint64_t interval : {kInterval, uint64_t{1}, uint64_t{0}}) {
    Interval().store(interval);
    for (int i = 0; i < 300; ++i) {
      OnAllocation(Block(0x1000), 8, nullptr, bits);
      ASSERT_EQ(heap_sampling.bytes_until_sample,
                ExpectedDistance(state, interval == 0 ? 1 : interval))
          << i;
      OnFree(Block(0x1000), bits);
    }
  }
  // The first state of the generator after 1, by hand.
  heap_sampling = {.bytes_until_sample = -1, .random = 1};
  OnAllocation(Block(0x1000), 8, nullptr, bits);
  OnFree(Block(0x1000), bits);
  EXPECT_EQ(heap_sampling.random, 0x2000001u);
  EXPECT_EQ(Stop().size(), 1802u);
}

TEST_F(HeapSamplesTest, ADistanceIsNeverBeyondItsType) {
  const uint32_t bits = GateBits();
  Interval().store(~uint64_t{0});
  heap_sampling = {.bytes_until_sample = -1, .random = 1};
  constexpr int64_t kMost = int64_t{1} << 62;
  int at_most = 0;
  for (int i = 0; i < 100; ++i) {
    OnAllocation(Block(0x1000), 8, nullptr, bits);
    OnFree(Block(0x1000), bits);
    ASSERT_GT(heap_sampling.bytes_until_sample, 0);
    ASSERT_LE(heap_sampling.bytes_until_sample, kMost);
    at_most += heap_sampling.bytes_until_sample == kMost;
  }
  // exp(-1/4) of them: 78.
  EXPECT_GT(at_most, 60);
  EXPECT_LT(at_most, 95);
  Stop();
}

TEST_F(HeapSamplesTest, EveryByteCountsTowardsTheNextSample) {
  const auto left_after = [](size_t bytes, bool is_due) {
    constexpr int64_t kBefore = 1000;
    heap_sampling = {.bytes_until_sample = kBefore, .random = 1};
    EXPECT_EQ(IsSampleDue(bytes), is_due) << bytes;
    return kBefore - heap_sampling.bytes_until_sample;
  };
  EXPECT_EQ(left_after(0, false), 1);
  EXPECT_EQ(left_after(1, false), 1);
  EXPECT_EQ(left_after(1000, false), 1000);
  EXPECT_EQ(left_after(1001, true), 1001);
  constexpr size_t kMost = size_t{1} << 40;
  EXPECT_EQ(left_after(kMost, true), kMost);
  EXPECT_EQ(left_after(kMost + 1, true), kMost);
  EXPECT_EQ(left_after(~size_t{0}, true), kMost);
  Stop();
}

TEST_F(HeapSamplesTest, AThreadBeginsWithADistanceOfItsOwn) {
  const uint32_t bits = GateBits();
  Interval().store(uint64_t{1} << 40);
  std::set<uint64_t> states;
  for (int i = 0; i < 4; ++i) {
    std::thread([&] {
      ASSERT_TRUE(IsSampleDue(8)) << "the first allocation asks";
      OnAllocation(Block(0x1000), 8, nullptr, bits);
      EXPECT_GE(heap_sampling.bytes_until_sample, 0);
      EXPECT_FALSE(IsSampleDue(8));
      states.insert(heap_sampling.random);
    }).join();
  }
  EXPECT_EQ(states.size(), 4u);
  EXPECT_EQ(states.count(0), 0u);
  EXPECT_FALSE(MayBeSampled(Block(0x1000)));
  // A first block that is longer than any distance is sampled.
  Interval().store(1);
  std::thread([&] {
    ASSERT_TRUE(IsSampleDue(size_t{1} << 30));
    OnAllocation(Block(0x1000), size_t{1} << 30, nullptr, bits);
    EXPECT_GT(heap_sampling.bytes_until_sample, 0);
  }).join();
  EXPECT_TRUE(MayBeSampled(Block(0x1000)));
  OnFree(Block(0x1000), bits);
  EXPECT_FALSE(MayBeSampled(Block(0x1000)));
  EXPECT_EQ(Stop().size(), 2u);
}

TEST_F(HeapSamplesTest, AFailedAllocationDoesNotBringTheNextSampleNearer) {
  const uint32_t bits = GateBits();
  heap_sampling = {.bytes_until_sample = -5, .random = 1};
  OnAllocation(nullptr, 5, nullptr, bits);
  uint64_t state = 1;
  EXPECT_EQ(heap_sampling.bytes_until_sample,
            ExpectedDistance(state, kInterval));
  // Before the thread's first sample there is nothing to set right.
  heap_sampling = {.bytes_until_sample = -5, .random = 0};
  OnAllocation(nullptr, 5, nullptr, bits);
  EXPECT_EQ(heap_sampling.bytes_until_sample, -5);
  // Nor where nothing is sampled.
  heap_sampling = {.bytes_until_sample = -5, .random = 1};
  OnOutOfMemory(5, nullptr, kGateHeap);
  EXPECT_EQ(heap_sampling.bytes_until_sample, -5);
  OnOutOfMemory(5, nullptr, kGateHeapCounts);
  EXPECT_EQ(Stop().size(), 3u);
}

const void* BlockOfHash(uint64_t hash) { return Block(OfHash(hash)); }

TEST_F(HeapSamplesTest, BlocksThatFindNoPlaceAreCountedAndNotRecorded) {
  const uint32_t bits = GateBits();
  // All of the last place of the set, whose neighbours are the first ones.
  constexpr uint64_t kPlace = ~uint64_t{0} << (64 - 18);
  constexpr uint64_t kFit = 32;
  const std::atomic<uint64_t>& lost =
      ProcessArena()->header().heap_samples_lost;
  const uint64_t before = lost.load();
  heap_sampling = {.bytes_until_sample = 0, .random = 1};
  EXPECT_FALSE(MayBeSampled(BlockOfHash(kPlace)));
  for (uint64_t i = 0; i < kFit; ++i) {
    OnAllocation(BlockOfHash(kPlace | i), 8, nullptr, bits);
  }
  EXPECT_EQ(lost.load(), before);
  OnAllocation(BlockOfHash(kPlace | kFit), 8, nullptr, bits);
  EXPECT_EQ(lost.load(), before + 1);
  // A block of the same place of the filter, which was not sampled.
  EXPECT_TRUE(MayBeSampled(BlockOfHash(kPlace | kFit)));
  OnFree(BlockOfHash(kPlace | kFit), bits);
  EXPECT_FALSE(MayBeSampled(BlockOfHash(kPlace - (uint64_t{1} << 48))));
  for (uint64_t i = 0; i < kFit; ++i) {
    EXPECT_TRUE(MayBeSampled(BlockOfHash(kPlace)));
    OnFree(BlockOfHash(kPlace | i), bits);
  }
  EXPECT_FALSE(MayBeSampled(BlockOfHash(kPlace)));
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 2 * kFit);
  for (uint64_t i = 0; i < kFit; ++i) {
    EXPECT_EQ(records[i].kind, SlotKind::kAllocation);
    EXPECT_EQ(records[kFit + i].kind, SlotKind::kFree);
    EXPECT_EQ(records[kFit + i].end,
              reinterpret_cast<uint64_t>(BlockOfHash(kPlace | i)));
  }
}

// Their frees came between two recordings, where nobody sees them.
TEST_F(HeapSamplesTest, BlocksOfAnEarlierRecordingTakeNoRoom) {
  const uint32_t bits = GateBits();
  const std::atomic<uint64_t>& lost =
      ProcessArena()->header().heap_samples_lost;
  const uint64_t before = lost.load();
  for (int recording = 0; recording < 100; ++recording) {
    OnAllocation(Block(0x1000), 8, nullptr, bits);
  }
  EXPECT_EQ(lost.load(), before);
  OnFree(Block(0x1000), bits);
  OnFree(Block(0x1000), bits);
  EXPECT_FALSE(MayBeSampled(Block(0x1000)));
  EXPECT_EQ(Stop().size(), 102u);
}

// realloc reports a free when the allocator may have given the block away.
TEST_F(HeapSamplesTest, ABlockIsKnownWhoseAddressIsReportedAsFreedLate) {
  const uint32_t bits = GateBits();
  OnAllocation(Block(0x1000), 8, nullptr, bits);
  OnAllocation(Block(0x1000), 8, nullptr, bits);
  OnFree(Block(0x1000), bits);
  EXPECT_TRUE(MayBeSampled(Block(0x1000)));
  OnFree(Block(0x1000), bits);
  EXPECT_FALSE(MayBeSampled(Block(0x1000)));
  EXPECT_EQ(Stop().size(), 4u);
}

}  // namespace
}  // namespace kymo::record
