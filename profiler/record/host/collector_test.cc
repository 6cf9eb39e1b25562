// Tests what a process writes into a collector's arena about itself, its
// threads and its code. This process plays both parts: the collector's arena is
// a second mapping of the same memory.
#include <errno.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "profiler/base/clock.h"
#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/host/host.h"
#include "profiler/record/host/own_host.h"
#include "profiler/record/range.h"

namespace kymo::record {
namespace {

void Record(Literal name) {
  if (!IsOn()) return;
  OpenRange range;
  BeginRange(range, name, RecordScope::kFunction);
  EndRange(range);
}

size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// Start, end, offset, inode, path.
using Mapping = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, std::string>;

class CollectorTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    int fd = -1;
    arena_ =
        new Arena(Arena::CreateShared({.capacity_bytes = 64 * kChunkBytes,
                                       .chunk_bytes_total = 64 * kChunkBytes,
                                       .policy = FullPolicy::kDrain,
                                       .clock_source = DetectClockSource()},
                                      &fd));
    ASSERT_TRUE(arena_->valid());
    EXPECT_EQ(AttachToCollector("/nowhere"), ENOENT);
    EXPECT_EQ(AttachToCollector("/dev/null"), EPROTO);
    const size_t descriptors = OpenDescriptors();
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    setenv(kArenaVariable, path.c_str(), 1);
    arena_->header().recording.store(1);
    before_ns_ = MonotonicNs();
    errno = EIO;
    EXPECT_TRUE(IsRecording());
    EXPECT_EQ(errno, EIO);
    after_ns_ = MonotonicNs();
    EXPECT_EQ(OpenDescriptors(), descriptors);
    EXPECT_EQ(AttachToCollector("/nowhere"), 0) << "it is attached";
  }

  // Everything since the last call, as a collector reads it.
  void ReadAll() {
    counts_.clear();
    mappings_.clear();
    ChunkReader(*arena_).ReadAll([this](const ChunkView& view) {
      ForEachRecord(view, [this](const Slot& head,
                                 std::span<const Slot> payload, uint32_t) {
        const SlotKind kind = UnpackKind(head.kind_scope_depth);
        if (kind == SlotKind::kRange) {
          ++counts_[std::string(arena_->NameText(head.name))];
        } else if (kind == SlotKind::kMapping) {
          MappingPayload mapping;
          memcpy(&mapping, payload.data(), sizeof(mapping));
          EXPECT_EQ(UnpackDepth(head.kind_scope_depth), 0u);
          mappings_.emplace_back(
              mapping.start, mapping.end, mapping.file_offset, mapping.inode,
              reinterpret_cast<const char*>(payload.data() + 1));
        }
      });
    });
  }

  // As after each change of what a collector wants.
  static void SetFlags(RecordFlags flags) {
    arena_->header().record_flags.store(flags);
    SetNodeId(-1);  // sets the gates anew
  }

  static const StreamEntry& StreamOf(int32_t tid) {
    uint32_t id = arena_->stream_count();
    while (id > 1 && arena_->stream(id - 1).tid.load() != tid) --id;
    return arena_->stream(id - 1);
  }

  static inline Arena* arena_ = nullptr;
  static inline int64_t before_ns_ = 0;
  static inline int64_t after_ns_ = 0;
  std::map<std::string, int> counts_;
  std::vector<Mapping> mappings_;
};

std::string TextOf(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return std::move(text).str();
}

TEST_F(CollectorTest, AProcessSaysWhoItIs) {
  ASSERT_EQ(arena_->process_count(), 1u);
  const ProcessEntry& entry = arena_->process(0);
  EXPECT_EQ(entry.pid.load(), getpid());
  EXPECT_EQ(entry.parent_pid, getppid());
  EXPECT_GE(entry.attach_monotonic_ns, before_ns_);
  EXPECT_LE(entry.attach_monotonic_ns, after_ns_);
  uint64_t image = 0;
  memcpy(&image, reinterpret_cast<const void*>(getauxval(AT_RANDOM)),
         sizeof(image));
  EXPECT_EQ(entry.image, image);
  EXPECT_EQ(std::string(entry.name) + "\n", TextOf("/proc/self/comm"));
  std::string command_line = TextOf("/proc/self/cmdline");
  command_line.resize(std::size(entry.command_line) - 1);
  EXPECT_EQ(std::string(entry.command_line, command_line.size()), command_line);
}

TEST_F(CollectorTest, AThreadSaysWhoItIs) {
  int32_t tid = 0;
  const auto name = [&tid] {
    char text[17] = {};
    memcpy(text, StreamOf(tid).name, 16);
    return std::string(text);
  };
  std::thread([&] {
    tid = gettid();
    prctl(PR_SET_NAME, "first");
    Record("range");
    const StreamEntry& stream = StreamOf(tid);
    EXPECT_EQ(stream.tid.load(), tid);
    EXPECT_EQ(stream.pid.load(), getpid());
    EXPECT_EQ(stream.process.load(), 1u);
    EXPECT_EQ(stream.logical_thread.load(), LogicalThreadId());
    EXPECT_EQ(name(), "first");
    // It looks again with each chunk, and at its end.
    prctl(PR_SET_NAME, "second");
    EXPECT_EQ(name(), "first");
    for (uint32_t i = 0; i < kSlotsPerChunk; ++i) Record("range");
    EXPECT_EQ(name(), "second");
    prctl(PR_SET_NAME, "last of fifteen");
  }).join();
  EXPECT_EQ(name(), "last of fifteen");
  ReadAll();
  EXPECT_EQ(counts_["range"], static_cast<int>(kSlotsPerChunk) + 1);
}

TEST_F(CollectorTest, AForkedChildIsAProcessOfItsOwn) {
  Record("parent");
  const pid_t child = fork();
  if (child == 0) {
    Record("child");
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  ASSERT_EQ(arena_->process_count(), 2u);
  const ProcessEntry& entry = arena_->process(1);
  EXPECT_EQ(entry.pid.load(), child);
  EXPECT_EQ(entry.parent_pid, getpid());
  EXPECT_EQ(entry.image, arena_->process(0).image);
  EXPECT_EQ(StreamOf(child).process.load(), 2u);
  EXPECT_EQ(StreamOf(child).pid.load(), child);
  ReadAll();
  EXPECT_EQ(counts_["child"], 1);
  EXPECT_EQ(counts_["parent"], 1);
}

std::vector<Mapping> CodeOfThisProcess(uint32_t (*number_at)(uint64_t)) {
  std::vector<Mapping> mappings;
  std::istringstream lines(TextOf("/proc/self/maps"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    uint64_t start = 0, end = 0, offset = 0, inode = 0;
    char dash = 0;
    std::string access, device, path;
    words >> std::hex >> start >> dash >> end >> access >> offset >> device >>
        std::dec >> inode >> std::ws;
    std::getline(words, path);
    const uint64_t mark = uint64_t{number_at(start)} << 48;
    if (access[2] == 'x') {
      mappings.emplace_back(start | mark, end | mark, offset, inode, path);
    }
  }
  return mappings;
}

TEST_F(CollectorTest, TheFirstStackBringsTheProcesssCode) {
  SetStackCapture([](const void*, uint64_t* pcs, uint64_t) noexcept {
    pcs[0] = 1000;
    return uint64_t{1};
  });
  const auto capture = [this] {
    uint64_t pc = 0;
    EXPECT_EQ(Host().capture_stack(nullptr, &pc, 1), 1u);
    EXPECT_EQ(pc, 1000u);
    ReadAll();
    std::sort(mappings_.begin(), mappings_.end());
    return mappings_;
  };
  const std::vector<Mapping> expected =
      CodeOfThisProcess([](uint64_t) -> uint32_t { return 0; });
  ASSERT_GE(expected.size(), 3u);
  EXPECT_EQ(capture(), expected);
  EXPECT_EQ(capture(), std::vector<Mapping>());
  ForgetMappings();
  SetFileNumberAt([](uint64_t address) noexcept {
    return static_cast<uint32_t>(address >> 12 & 0x7fff);
  });
  std::vector<Mapping> numbered = CodeOfThisProcess(
      [](uint64_t address) { return uint32_t(address >> 12 & 0x7fff); });
  std::sort(numbered.begin(), numbered.end());
  EXPECT_EQ(capture(), numbered);
  SetFileNumberAt(nullptr);
  // While another thread has the buffer they wait for a later stack.
  ForgetMappings();
  GetWiped()->maps_buffer_taken.store(1);
  EXPECT_EQ(capture(), std::vector<Mapping>());
  GetWiped()->maps_buffer_taken.store(0);
  EXPECT_EQ(capture(), expected);
  EXPECT_EQ(GetWiped()->maps_buffer_taken.load(), 0u);
  SetStackCapture(nullptr);
}

TEST_F(CollectorTest, GatesSayWhatTheCollectorWants) {
  constexpr RecordFlags kUnknown = 1u << 30;
  SetFlags(kGateNvtx | kGateStacks | kUnknown);
  EXPECT_EQ(GateBits(), kGateOn | kGateNvtx | kGateStacks);
  SetFlags(kRangesOff | kGateNvtx);
  EXPECT_EQ(GateBits(), kGateNvtx);
  EXPECT_FALSE(IsRecording());
  SetFlags(0);
  EXPECT_EQ(GateBits(), kGateOn);
  // A session asks for more, and does not change the collector's arena.
  SessionId id = kNoSession;
  ASSERT_EQ(StartSession({.flags = kGateInputs, .chunk_bytes_total = 0}, &id),
            0);
  EXPECT_EQ(GateBits(), kGateOn | kGateInputs);
  EXPECT_EQ(arena_->policy(), FullPolicy::kDrain);
  EXPECT_EQ(arena_->header().chunk_limit.load(), 64u);
  EXPECT_EQ(StopSession(id), 0);
  EXPECT_EQ(ReleaseSession(id), 0);
  EXPECT_EQ(GateBits(), kGateOn);
}

TEST_F(CollectorTest, SessionsWatchTheHeapAsTheCollectorDoes) {
  const auto mode_of = [](RecordFlags collector, RecordFlags session) {
    SetFlags(collector);
    arena_->header().heap_sample_interval.store(123);
    SessionId id = kNoSession;
    EXPECT_EQ(
        StartSession({.flags = session, .heap_sample_interval = 456}, &id), 0);
    uint64_t interval = 0;
    const RecordFlags mode = HeapMode(&interval);
    EXPECT_EQ(interval, (mode & kGateHeapSampled) == 0        ? 0
                        : (collector & kGateHeapSampled) != 0 ? 123
                                                              : 456);
    EXPECT_EQ(StopSession(id), 0);
    EXPECT_EQ(ReleaseSession(id), 0);
    SetFlags(0);
    return mode;
  };
  constexpr RecordFlags kSampled = kGateHeap | kGateHeapSampled;
  EXPECT_EQ(mode_of(0, 0), 0u);
  EXPECT_EQ(mode_of(0, kSampled), kSampled);
  EXPECT_EQ(mode_of(kGateHeap, kSampled), kGateHeap);
  EXPECT_EQ(mode_of(kSampled, kGateHeapCounts), kSampled);
  EXPECT_EQ(mode_of(kGateHeapCounts, kGateHeap), kGateHeapCounts);
  EXPECT_EQ(mode_of(kSampled, kGateInputs), kSampled);
}

TEST_F(CollectorTest, SessionAndCollectorBothSeeEachRecordOnce) {
  ReadAll();
  SessionId id = kNoSession;
  Record("before");
  ASSERT_EQ(StartSession({.scope = SessionScope::kThread}, &id), 0);
  for (uint32_t i = 0; i < kSlotsPerChunk; ++i) Record("inside");
  std::thread([] { Record("outside"); }).join();
  EXPECT_EQ(StopSession(id), 0);
  Record("after");
  std::map<std::string, uint32_t> seen;
  ChunkReader reader(*ProcessArena());
  reader.ReadSession({id, getpid()}, [&](const ChunkView& view) {
    ForEachRecord(view, [&](const Slot& head, std::span<const Slot>, uint32_t) {
      ++seen[std::string(arena_->NameText(head.name))];
    });
  });
  EXPECT_EQ(seen,
            (std::map<std::string, uint32_t>{{"inside", kSlotsPerChunk}}));
  reader.Release({id, getpid()}, /*collector_records=*/true);
  EXPECT_EQ(ReleaseSession(id), 0);
  ReadAll();
  EXPECT_EQ(counts_, (std::map<std::string, int>{{"before", 1},
                                                 {"inside", kSlotsPerChunk},
                                                 {"outside", 1},
                                                 {"after", 1}}));
}

// With one chunk left, which a new thread fills.
TEST_F(CollectorTest, WhatFindsNoChunkIsCounted) {
  for (const FullPolicy policy : {FullPolicy::kDrain, FullPolicy::kStop}) {
    ReadAll();
    arena_->header().policy.store(static_cast<uint32_t>(policy));
    std::thread([&] {
      arena_->header().free_chunks.store(1);
      for (uint32_t i = 0; i < kSlotsPerChunk; ++i) Record("kept");
      const StreamEntry& stream = StreamOf(gettid());
      EXPECT_EQ(stream.dropped.load(), 0u);
      for (int i = 0; i < 10; ++i) Record("dropped");
      EXPECT_EQ(stream.dropped.load(), 10u);
      arena_->RecountFree();
      Record("kept");
      EXPECT_EQ(Host().take_slots(&thread_stream, kSlotsPerChunk + 1), nullptr);
      EXPECT_EQ(stream.dropped.load(), 11u) << "longer than a chunk";
    }).join();
    ReadAll();
    EXPECT_EQ(counts_,
              (std::map<std::string, int>{{"kept", kSlotsPerChunk + 1}}));
  }
  arena_->header().policy.store(static_cast<uint32_t>(FullPolicy::kDrain));
}

TEST_F(CollectorTest, ARangeOfAFullArenaEndsInItsChunk) {
  ReadAll();
  arena_->header().policy.store(static_cast<uint32_t>(FullPolicy::kStop));
  std::thread([&] {
    arena_->header().free_chunks.store(1);
    OpenRange range;
    BeginRange(range, "open", RecordScope::kFunction);
    for (uint32_t i = 0; i < kSlotsPerChunk; ++i) Record("inner");
    const Slot* const slot = range.slot;
    EXPECT_EQ(slot->end.load(), 0u);
    EndRange(range);
    EXPECT_GE(slot->end.load(), slot->begin.load());
    arena_->RecountFree();
  }).join();
  arena_->header().policy.store(static_cast<uint32_t>(FullPolicy::kDrain));
  ReadAll();
  EXPECT_EQ(counts_["inner"], static_cast<int>(kSlotsPerChunk) - 1);
}

TEST_F(CollectorTest, NamesForThreadsThatNeverRecordMakeRoomForNewOnes) {
  std::atomic<uint64_t>& truncated = arena_->header().texts_truncated;
  const uint64_t before = truncated.load();
  constexpr int32_t kNoThread = 1 << 30;
  for (uint32_t i = 0; i < kMaxThreadsToName; ++i) {
    Host().name_thread(kNoThread + static_cast<int32_t>(i), "name", 4);
  }
  EXPECT_EQ(truncated.load(), before);
  Host().name_thread(kNoThread - 1, "name", 4);
  EXPECT_EQ(truncated.load(), before + 1);
  // The newest stream of a thread is named, not another thread's.
  std::thread([] {
    Record("range");
    const int32_t tid = gettid();
    std::thread([tid] { Host().name_thread(tid, "named", 5); }).join();
    EXPECT_EQ(arena_->NameText(static_cast<uint32_t>(
                  StreamOf(tid).explicit_name.load() - 1)),
              "named");
  }).join();
  for (uint32_t id = 0; id + 1 < arena_->stream_count(); ++id) {
    EXPECT_EQ(arena_->stream(id).explicit_name.load(), 0u) << id;
  }
}

// The last test: from here on the collector has left.
TEST_F(CollectorTest, WhenTheCollectorLeavesTheGatesGoOff) {
  ReadAll();
  Record("before");
  arena_->header().recording.store(0);
  std::thread([] {
    EXPECT_TRUE(IsOn());
    Record("after");
    EXPECT_EQ(GateBits(), kGateOff);
  }).join();
  EXPECT_FALSE(IsRecording());
  ReadAll();
  EXPECT_EQ(counts_, (std::map<std::string, int>{{"before", 1}}));
}

}  // namespace
}  // namespace kymo::record
