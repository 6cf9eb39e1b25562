// Tests what sessions may not have at a time, and what they are refused with.
#include <errno.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/host/copies.h"
#include "profiler/record/host/host.h"
#include "profiler/record/host/own_host.h"
#include "profiler/record/range.h"

namespace kymo::record {

// Copies that cannot share a host with this one, each with a host that nobody
// may call: { version, size of HostApi, host }.
struct StrangeCopy {
  uint32_t version = kHostVersion;
  uint32_t api_bytes = sizeof(HostApi);
  uint64_t host = 1;
};
extern constinit const StrangeCopy strange_copies[2] = {
    {.version = kHostVersion + 1}, {.api_bytes = sizeof(HostApi) + 8}};

namespace {

// The notes of these copies; see copies.cc.
asm(R"(
  .pushsection .note.kymo, "a", %note
  .balign 4
  .long 8, 4, 2
  .ascii "Kymo\0\0\0\0"
  .long _ZN4kymo6record14strange_copiesE - .
  .long 8, 4, 2
  .ascii "Kymo\0\0\0\0"
  .long _ZN4kymo6record14strange_copiesE + 16 - .
  .popsection
)");

TEST(CopiesTest, ThoseOfOtherVersionsAreLeftAlone) {
  EXPECT_EQ(&Host(), OwnHost());
  EXPECT_EQ(HostOfCopies(), OwnHost());
  const HostApi other = *OwnHost();
  EXPECT_EQ(OfferHost(&other), OwnHost());
  EXPECT_EQ(SetHost(&other), OwnHost());
  for (const StrangeCopy& copy : strange_copies) EXPECT_EQ(copy.host, 1u);
  char file[4096] = "unknown";
  EXPECT_TRUE(FindOtherVersion(file, sizeof(file)));
  EXPECT_STRNE(file, "unknown");
}

class SessionLimitsTest : public testing::Test {
 protected:
  void SetUp() override { (void)Host(); }

  static void End(SessionId id) {
    EXPECT_EQ(StopSession(id), 0);
    EXPECT_EQ(ReleaseSession(id), 0);
  }
};

TEST_F(SessionLimitsTest, SessionsThatNobodyHasReadTakeAPlace) {
  std::vector<SessionId> ids(kMaxSessions);
  for (SessionId& id : ids) {
    ASSERT_EQ(StartSession({.scope = SessionScope::kThread}, &id), 0);
    EXPECT_EQ(StopSession(id), 0);
  }
  EXPECT_EQ(ids.back(), ids.front() + kMaxSessions - 1);
  SessionId more = kNoSession;
  EXPECT_EQ(StartSession({}, &more), ENOSPC);
  EXPECT_EQ(more, kNoSession);
  EXPECT_EQ(ReleaseSession(ids[5]), 0);
  EXPECT_EQ(StartSession({}, &more), 0);
  End(more);
  ids.erase(ids.begin() + 5);
  for (const SessionId id : ids) EXPECT_EQ(ReleaseSession(id), 0);
}

TEST_F(SessionLimitsTest, TheHeapIsWatchedInOneWay) {
  // What a second thread's session gets beside this one.
  const auto beside = [](RecordFlags flags, uint64_t interval,
                         const SessionRequest& other) {
    SessionId first = kNoSession, second = kNoSession;
    EXPECT_EQ(StartSession({.scope = SessionScope::kThread,
                            .flags = flags,
                            .heap_sample_interval = interval},
                           &first),
              0);
    uint64_t is = 0;
    EXPECT_EQ(HeapMode(&is), flags & kHeapModeFlags);
    EXPECT_EQ(is, interval);
    int error = 0;
    std::thread([&] {
      SessionRequest request = other;
      request.scope = SessionScope::kThread;
      error = StartSession(request, &second);
      if (error == 0) End(second);
    }).join();
    End(first);
    return error;
  };
  constexpr RecordFlags kSampled = kGateHeap | kGateHeapSampled;
  EXPECT_EQ(beside(kGateHeap, 0, {.flags = kGateHeap}), 0);
  EXPECT_EQ(beside(kGateHeap, 0, {.flags = kGateInputs}), 0);
  EXPECT_EQ(beside(kGateInputs, 0, {.flags = kGateHeapCounts}), 0);
  EXPECT_EQ(beside(kGateHeap, 0, {.flags = kGateHeapCounts}), ENOTSUP);
  EXPECT_EQ(beside(kGateHeapCounts, 0, {.flags = kSampled}), ENOTSUP);
  EXPECT_EQ(
      beside(kSampled, 100, {.flags = kSampled, .heap_sample_interval = 100}),
      0);
  EXPECT_EQ(
      beside(kSampled, 100, {.flags = kSampled, .heap_sample_interval = 101}),
      ENOTSUP);
  // Where nothing is sampled an interval means nothing.
  EXPECT_EQ(
      beside(kGateHeap, 0, {.flags = kGateHeap, .heap_sample_interval = 101}),
      0);
}

TEST_F(SessionLimitsTest, AFlagThatNobodyKnowsIsIgnored) {
  SessionId id = kNoSession;
  ASSERT_EQ(StartSession({.flags = kGateInputs | 1u << 30}, &id), 0);
  EXPECT_EQ(GateBits(), kGateOn | kGateInputs);
  End(id);
  EXPECT_EQ(SetSessionEnabled(id, true), EINVAL);
}

// Copies of the library in one process share them. Whoever changes one raises
// kHostVersion.
TEST_F(SessionLimitsTest, TheBitsOfGatesStayWhatTheyAre) {
  EXPECT_EQ(kHostVersion, 9u);
  EXPECT_EQ(kMaxSessions, 64u);
  const uint32_t bits[] = {kGateOn,         kGateUnresolved, kGateObserved,
                           kGateInputs,     kGateStacks,     kGateModules,
                           kGateMemory,     kGateHeap,       kGateHeapSampled,
                           kGateHeapStacks, kGateHeapCounts, kGateMapped,
                           kGateNvtx,       kGateItt,        kRangesOff,
                           kGateNode,       kGateOverloads};
  uint32_t expected = 1;
  for (const uint32_t bit : bits) {
    EXPECT_EQ(bit, expected);
    expected *= 2;
  }
  EXPECT_EQ(kGateOff, 0);
  EXPECT_EQ(kAllRecordFlags, 0x17ff8u);
  EXPECT_EQ(kHeapModeFlags, 0x580u);
  EXPECT_EQ(kMemoryFlags, 0x5c0u);
  EXPECT_EQ(kNotForPlainRanges, 0x17fe8u);
  EXPECT_EQ(SessionScope{0}, SessionScope::kThread);
  EXPECT_EQ(SessionScope{1}, SessionScope::kProcess);
}

// The first session that has nothing beside it decides.
TEST_F(SessionLimitsTest, ASessionHasAsMuchMemoryAsItAskedFor) {
  const auto kept_with = [](uint64_t bytes, FullPolicy policy) {
    SessionId id = kNoSession, other = kNoSession;
    EXPECT_EQ(StartSession({.scope = SessionScope::kThread,
                            .chunk_bytes_total = bytes,
                            .policy = policy},
                           &id),
              0);
    std::thread([&] {
      EXPECT_EQ(
          StartSession({.scope = SessionScope::kThread, .chunk_bytes_total = 0},
                       &other),
          0);
      EXPECT_EQ(ProcessArena()->policy(), policy);
      ExchangeThreadSession(id);
      for (uint32_t i = 0; i < 4 * kSlotsPerChunk; ++i) {
        OpenRange range;
        BeginRange(range, "range", RecordScope::kFunction);
        EndRange(range);
      }
    }).join();
    EXPECT_EQ(StopSession(id), 0);
    size_t kept = 0;
    ChunkReader reader(*ProcessArena());
    reader.ReadSession(
        {.session = id, .pid = getpid()},
        [&](const ChunkView& view) { kept += view.slots.size(); });
    reader.Release({.session = id, .pid = getpid()},
                   /*collector_records=*/false);
    EXPECT_EQ(ReleaseSession(id), 0);
    End(other);
    return kept;
  };
  EXPECT_EQ(kept_with(2 * kChunkBytes, FullPolicy::kStop), 2 * kSlotsPerChunk);
  EXPECT_EQ(kept_with(3 * kChunkBytes, FullPolicy::kOverwrite),
            3 * kSlotsPerChunk);
  EXPECT_EQ(kept_with(100 * kChunkBytes, FullPolicy::kStop),
            4 * kSlotsPerChunk);
}

TEST_F(SessionLimitsTest, ThreadsThatFindNoStreamAreCounted) {
  SessionId id = kNoSession;
  ASSERT_EQ(StartSession({}, &id), 0);
  ArenaHeader& header = ProcessArena()->header();
  const uint32_t streams = header.stream_count.load();
  const uint64_t before = header.events_without_stream.load();
  header.stream_count.store(ProcessArena()->stream_capacity());
  ThreadStream* cache = nullptr;  // cleared when the thread ends
  std::thread([&cache] {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(Host().take_slots(&cache, 1), nullptr);
    }
  }).join();
  header.stream_count.store(streams);
  EXPECT_EQ(header.events_without_stream.load(), before + 3);
  End(id);
}

TEST_F(SessionLimitsTest, HandlersThatInterruptTheRecorderAreCounted) {
  SessionId id = kNoSession;
  ASSERT_EQ(StartSession({}, &id), 0);
  const std::atomic<uint64_t>& dropped =
      ProcessArena()->header().dropped_in_handlers;
  const uint64_t before = dropped.load();
  std::thread([] {
    const Busy busy;
    EXPECT_EQ(Take(1), nullptr);
    EXPECT_EQ(Host().take_slots(&thread_stream, 1), nullptr);
    Host().name_thread(1, "nobody", 6);
    EXPECT_EQ(own_thread.stream, nullptr);
  }).join();
  EXPECT_EQ(dropped.load(), before + 3);
  End(id);
}

}  // namespace
}  // namespace kymo::record
