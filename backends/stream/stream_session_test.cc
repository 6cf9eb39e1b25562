#include "backends/stream/stream_session.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "backends/stream/raw/raw_file.h"
#include "gtest/gtest.h"
#include "kymo/record_function.h"
#include "profiler/base/clock.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/records.h"
#include "profiler/model/trace_shard.h"
#include "profiler/plugin/shared_parts.h"
#include "profiler/plugin/target_setup.h"
#include "profiler/plugin/window_reducer.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/tool_variables.h"

namespace kymo::stream {
namespace {

const StreamRequest kRanges = {.ranges = true};
const StreamRequest kNvtx = {.flags = record::kGateNvtx,
                             .libraries = {{.variable = "NVTX_TOOL"}}};

class StreamSessionTest : public testing::Test {
 protected:
  StreamSessionTest() { options_.shared = std::make_shared<SharedParts>(); }

  std::unique_ptr<ActivitySession> New(const StreamRequest& request) const {
    auto session = NewStreamSession(options_, request);
    EXPECT_TRUE(session.ok()) << session.status();
    return *std::move(session);
  }

  static absl::Status Start(ActivitySession& session) {
    absl::Status status = session.Prepare(nullptr);
    return status.ok() ? session.Start(getpid()) : status;
  }

  // Stops the session; the number of its ranges.
  static size_t Collect(ActivitySession& session) {
    EXPECT_TRUE(session.Stop().ok());
    model::TraceShard shard;
    EXPECT_TRUE(session.Collect(shard).ok());
    return shard.block.size();
  }

  static void Record() { KYMO_RECORD_FUNCTION("work"); }

  SessionOptions options_;
};

TEST_F(StreamSessionTest, TheFirstThatCollectsGetsTheRecordsOfAll) {
  const auto nvtx = New(kNvtx);
  const auto cpu = New(kRanges);
  ASSERT_TRUE(Start(*nvtx).ok());
  ASSERT_TRUE(Start(*cpu).ok());
  Record();
  EXPECT_EQ(Collect(*nvtx), 1u);
  EXPECT_EQ(Collect(*cpu), 0u);
}

TEST_F(StreamSessionTest, WithoutARequestForRangesThereAreNone) {
  const auto nvtx = New(kNvtx);
  ASSERT_TRUE(Start(*nvtx).ok());
  Record();
  EXPECT_EQ(Collect(*nvtx), 0u);
}

TEST_F(StreamSessionTest, AFailureIsTheFailureOfEach) {
  SessionOptions others;
  const auto other = *NewStreamSession(others, kRanges);
  ASSERT_TRUE(Start(*other).ok());
  const auto cpu = New(kRanges);
  const auto nvtx = New(kNvtx);
  const absl::Status status = Start(*cpu);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(Start(*nvtx), status);
}

TEST_F(StreamSessionTest, TheSessionWithTheRangesSwitchesForAll) {
  const auto cpu = New(kRanges);
  const auto nvtx = New(kNvtx);
  ASSERT_TRUE(Start(*cpu).ok());
  ASSERT_TRUE(Start(*nvtx).ok());
  EXPECT_TRUE(absl::IsUnimplemented(nvtx->SetCollecting(false)));
  EXPECT_TRUE(cpu->SetCollecting(false).ok());
  Record();
  EXPECT_TRUE(cpu->SetCollecting(true).ok());
  Record();
  EXPECT_EQ(Collect(*cpu), 1u);
}

// One of them polls and switches, or there would be two collectors.
TEST_F(StreamSessionTest, WithoutRangesTheFirstSwitchesForAll) {
  const auto nvtx = New(kNvtx);
  const auto itt = New({.flags = record::kGateItt});
  ASSERT_TRUE(Start(*nvtx).ok());
  ASSERT_TRUE(Start(*itt).ok());
  EXPECT_TRUE(nvtx->SetCollecting(false).ok());
  EXPECT_TRUE(absl::IsUnimplemented(itt->SetCollecting(true)));
}

TEST_F(StreamSessionTest, AnotherLeadsWhenTheLeaderIsLeftOut) {
  const auto nvtx = New(kNvtx);
  auto cpu = New(kRanges);
  ASSERT_TRUE(Start(*nvtx).ok());
  ASSERT_TRUE(Start(*cpu).ok());
  EXPECT_TRUE(absl::IsUnimplemented(nvtx->SetCollecting(false)));
  cpu = nullptr;
  EXPECT_TRUE(nvtx->SetCollecting(false).ok());
}

// A poll of the recording of a child notes the time in its raw file.
TEST_F(StreamSessionTest, OneSessionPollsWhicheverAreThere) {
  options_.target = TargetKind::kChildProcess;
  options_.target_path = "/bin/true";
  options_.scratch_dir = testing::TempDir();
  options_.settings = {{"cpu_keep_raw", "1"}, {"cpu_arena_mib", "1"}};
  // The time stands at the end of the file, behind the arena.
  const auto raw = [&] {
    std::ifstream file(options_.scratch_dir + "/kymo.raw", std::ios::binary);
    file.seekg(-2048, std::ios::end);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto changes = [&](ActivitySession& session, int polls) {
    const std::string before = raw();
    EXPECT_EQ(before.size(), 2048u);
    for (int i = 0; i < polls; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      session.Poll();
      if (raw() != before) return true;
    }
    return false;
  };
  constexpr int kFew = 10, kMany = 5'000;
  auto nvtx = New(kNvtx);
  const auto itt = New({.flags = record::kGateItt});
  auto cpu = New(kRanges);
  TargetSetup setup;
  for (ActivitySession* const session : {nvtx.get(), itt.get(), cpu.get()}) {
    ASSERT_TRUE(session->Prepare(&setup).ok());
    ASSERT_TRUE(session->Start(getpid()).ok());
  }
  EXPECT_TRUE(changes(*cpu, kMany));
  EXPECT_FALSE(changes(*nvtx, kFew));
  cpu = nullptr;
  EXPECT_TRUE(changes(*nvtx, kMany));
  EXPECT_FALSE(changes(*itt, kFew));
  nvtx = nullptr;
  EXPECT_TRUE(changes(*itt, kMany));
}

// What a sanitizer maps is over any limit.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(StreamSessionTest, ARecordingThatCannotBeCollectedIsTheErrorOfEach) {
  const auto nvtx = New(kNvtx);
  const auto cpu = New(kRanges);
  const auto memory = New({.flags = record::kGateMemory});
  const auto itt = New({.flags = record::kGateItt});
  const auto all = {nvtx.get(), cpu.get(), memory.get(), itt.get()};
  for (ActivitySession* const session : all) {
    ASSERT_TRUE(Start(*session).ok());
  }
  for (int i = 0; i < 300'000; ++i) Record();  // 9.6 MB
  for (ActivitySession* const session : all) {
    ASSERT_TRUE(session->Stop().ok());
  }
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
  const rlimit nothing_more = {.rlim_cur = 1, .rlim_max = limit.rlim_max};
  bool throws = false;
  model::TraceShard shard;
  setrlimit(RLIMIT_AS, &nothing_more);
  try {
    nvtx->Collect(shard).IgnoreError();
  } catch (const std::exception&) {  // it gets no memory, or no thread
    throws = true;
  }
  setrlimit(RLIMIT_AS, &limit);
  EXPECT_TRUE(throws);
  for (ActivitySession* const session : {cpu.get(), memory.get(), itt.get()}) {
    model::TraceShard none;
    EXPECT_EQ(session->Collect(none).status(),
              absl::ResourceExhaustedError("could not be collected"));
    EXPECT_EQ(none.block.size(), 0u);
  }
}
#endif

TEST_F(StreamSessionTest, ASessionThatEndsEarlyLeavesNothingOn) {
  {
    const auto cpu = New(kRanges);
    const auto nvtx = New(kNvtx);
    ASSERT_TRUE(Start(*cpu).ok());
    ASSERT_TRUE(Start(*nvtx).ok());
  }
  const auto next = New(kRanges);
  ASSERT_TRUE(Start(*next).ok());
  Record();
  EXPECT_EQ(Collect(*next), 1u);
}

TEST_F(StreamSessionTest, AChildGetsTheLibrariesOfAll) {
  options_.target = TargetKind::kChildProcess;
  options_.target_path = "/bin/true";
  options_.scratch_dir = testing::TempDir();
  const auto cpu = New(kRanges);
  const auto memory = New({.flags = record::kGateMemory, .watches_heap = true});
  const auto nvtx = New(kNvtx);
  TargetSetup setup;
  ASSERT_TRUE(cpu->Prepare(&setup).ok());
  ASSERT_TRUE(memory->Prepare(&setup).ok());
  ASSERT_TRUE(nvtx->Prepare(&setup).ok());
  EXPECT_TRUE(setup.watches_heap);
  ASSERT_EQ(setup.libraries.size(), 1u);
  EXPECT_EQ(setup.libraries[0].variable, "NVTX_TOOL");
}

TEST_F(StreamSessionTest, WithinAProcessThereIsNoCollector) {
  const auto message = [&](const char* name, const char* value) {
    options_.settings = {{name, value}};
    return std::string(NewStreamSession(options_, kRanges).status().message());
  };
  EXPECT_EQ(message("cpu_arena_mib", "4097"),
            "cpu_arena_mib is '4097'; within a process it is at most 4096");
  EXPECT_EQ(message("cpu_arena_mib", "4096"), "");
  EXPECT_EQ(message("cpu_when_full", "drain"),
            "cpu_when_full=drain needs a collector: it is for //tools:profile; "
            "within a process it takes one of: overwrite, stop");
  options_.target = TargetKind::kChildProcess;
  EXPECT_EQ(message("cpu_when_full", "drain"), "");
}

TEST_F(StreamSessionTest, WhatIsSwitchedOffIsNotRecorded) {
  const auto cpu = New(kRanges);
  ASSERT_TRUE(Start(*cpu).ok());
  EXPECT_TRUE(cpu->SetCollecting(true).ok());  // it is on
  Record();
  EXPECT_TRUE(cpu->SetCollecting(false).ok());
  EXPECT_TRUE(cpu->SetCollecting(false).ok());
  Record();
  EXPECT_EQ(cpu->Dump("/none").message(),
            "only a session that keeps the newest can be dumped: start it with "
            "the setting cpu_when_full=overwrite");
  EXPECT_EQ(Collect(*cpu), 1u);
  EXPECT_TRUE(cpu->Remarks().empty());
}

TEST_F(StreamSessionTest, ADumpHasTheSessionsOwnRecords) {
  options_.settings = {{"cpu_when_full", "overwrite"}};
  const auto cpu = New(kRanges);
  ASSERT_TRUE(Start(*cpu).ok());
  Record();
  Record();
  EXPECT_TRUE(cpu->SetCollecting(false).ok());
  Record();
  EXPECT_TRUE(cpu->SetCollecting(true).ok());
  Record();
  const std::string path = testing::TempDir() + "/session.raw";
  ASSERT_TRUE(cpu->Dump(path).ok());
  const auto raw = ReadRawFile(path);
  ASSERT_TRUE(raw.ok()) << raw.status();
  EXPECT_TRUE(raw->is_complete);
  EXPECT_EQ(raw->shard.block.size(), 3u);
  EXPECT_EQ(Collect(*cpu), 3u);
}

class CountingReducer : public WindowReducer {
 public:
  absl::Status Add(TraceWindow window, WindowLosses) override {
    for (const uint8_t flags : window.shard.block.flags) {
      events += (flags & model::kEventRepeated) == 0;
    }
    return absl::OkStatus();
  }
  uint64_t events = 0;
};

// A child that records `chunks` whole chunks, while 1 MiB of disk may be taken,
// and another one for what is in the arena. The number of its ranges in the
// shard.
uint64_t RecordChild(const StreamRequest& request, bool others_record_ranges,
                     int chunks, std::shared_ptr<CountingReducer> reducer) {
  SessionOptions options = {.target = TargetKind::kChildProcess,
                            .target_path = "/bin/true",
                            .settings = {{"cpu_max_disk", "2MiB"}},
                            .scratch_dir = testing::TempDir(),
                            .shared = std::make_shared<SharedParts>()};
  const auto session = *NewStreamSession(options, request);
  // The caller knows it when all sessions are there.
  const auto facts = RecordingFacts::Of(options.shared);
  facts->reducer = std::move(reducer);
  facts->others_record_ranges = others_record_ranges;
  TargetSetup setup;
  EXPECT_TRUE(session->Prepare(&setup).ok());
  const int fd = open(setup.environment[record::kArenaVariable].c_str(),
                      O_RDWR | O_CLOEXEC);
  record::Arena arena = record::Arena::Attach(fd);
  close(fd);
  EXPECT_TRUE(session->Start(getpid()).ok());
  const uint32_t stream = arena.AddStream(getpid(), getpid());
  for (int i = 0; i < chunks; ++i) {
    uint64_t ticket = 0;
    const uint32_t chunk = arena.AcquireChunk(stream, 0, &ticket);
    for (uint32_t slot = 0; slot < record::kSlotsPerChunk; ++slot) {
      record::Slot& range = arena.slots(chunk)[slot];
      range.kind_scope_depth = record::PackKind(record::SlotKind::kRange, 0, 0);
      const uint64_t ticks = ReadTicks(arena.clock_source());
      range.end.store(ticks);
      range.begin.store(ticks);
    }
    arena.SealChunk(chunk);
    session->Poll();
  }
  EXPECT_TRUE(session->Stop().ok());
  model::TraceShard shard;
  EXPECT_TRUE(session->Collect(shard).ok());
  EXPECT_EQ(
      shard.block.size() + shard.ledger.Get(model::Loss::kEventsOverwritten) +
          shard.ledger.Get(model::Loss::kDrainBytesLost) / sizeof(record::Slot),
      static_cast<uint64_t>(chunks) * record::kSlotsPerChunk);
  arena.Unmap();
  return shard.block.size();
}

TEST_F(StreamSessionTest, TheOldestRangesOfALongRecordingAreAddedUp) {
  constexpr int kChunks = 14;  // of 16 that the disk has room for
  constexpr uint64_t kEvents = uint64_t{kChunks} * record::kSlotsPerChunk;
  const auto reducer = std::make_shared<CountingReducer>();
  const uint64_t left = RecordChild(kRanges, false, kChunks, reducer);
  EXPECT_LE(left, kEvents * 12 / 14);
  EXPECT_GT(left, kEvents / 2);
  EXPECT_EQ(reducer->events, kEvents);
}

// Their answers need single records.
TEST_F(StreamSessionTest, RecordingsOfDevicesAndStacksAreNotAddedUp) {
  const auto reducer = std::make_shared<CountingReducer>();
  constexpr uint64_t kEvents = uint64_t{14} * record::kSlotsPerChunk;
  EXPECT_EQ(RecordChild(kRanges, true, 14, reducer), kEvents);
  EXPECT_EQ(RecordChild({.ranges = true, .flags = record::kGateStacks}, false,
                        14, reducer),
            kEvents);
  EXPECT_EQ(reducer->events, 0u);
}

TEST_F(StreamSessionTest, AVariableThatIsTakenIsRefused) {
  options_.target = TargetKind::kChildProcess;
  const auto nvtx = New(kNvtx);
  TargetSetup setup;
  setup.environment["NVTX_TOOL"] = "libcupti.so";
  EXPECT_EQ(nvtx->Prepare(&setup).message(),
            "another activity has set NVTX_TOOL, as cuda_markers=1 does: leave "
            "one of the two out");
}

}  // namespace
}  // namespace kymo::stream
