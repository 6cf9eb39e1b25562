// The recording of a child, with this process in the part of the child: it maps
// the arena that its environment names, and writes chunks. Long, because its
// cases share that.
#include "backends/stream/child_session.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/stream/raw/raw_file.h"
#include "gtest/gtest.h"
#include "kymo/memory.h"
#include "profiler/base/clock.h"
#include "profiler/base/memory_category.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/plugin/kept_recording.h"
#include "profiler/plugin/last_records.h"
#include "profiler/plugin/target_setup.h"
#include "profiler/plugin/window_reducer.h"
#include "profiler/record/tool_variables.h"

namespace kymo::stream {
namespace {

using model::Loss;
using record::Arena;
using record::ChunkState;
using record::FullPolicy;
using record::SlotKind;

class ChildSessionTest : public testing::Test {
 protected:
  ChildSessionTest() {
    settings_.target_path = "/bin/true";
    settings_.arena_bytes = 8 * record::kChunkBytes;
    settings_.scratch_dir = testing::TempDir();
    std::filesystem::remove(RawPath());
  }
  ~ChildSessionTest() override { arena_.Unmap(); }

  static std::string RawPath() { return testing::TempDir() + "/kymo.raw"; }

  void Start() {
    session_ = NewChildSession(settings_);
    TargetSetup setup;
    ASSERT_TRUE(session_->Prepare(&setup).ok());
    EXPECT_EQ(setup.obstacle, "");
    arena_path_ = setup.environment[record::kArenaVariable];
    EXPECT_EQ(arena_path_.find("/proc/" + std::to_string(getpid()) + "/fd/"),
              0u);
    const int fd = open(arena_path_.c_str(), O_RDWR | O_CLOEXEC);
    arena_ = Arena::Attach(fd);
    close(fd);
    ASSERT_TRUE(arena_.valid());
    EXPECT_EQ(arena_.header().recording, 0u);
    // The target has ended long ago, as far as the session knows.
    ASSERT_TRUE(session_->Start(kPid).ok());
    EXPECT_EQ(arena_.header().recording, 1u);
    record::ProcessEntry* const process = arena_.AddProcess();
    process->attach_monotonic_ns = MonotonicNs();
    process->pid.store(kPid);
    stream_ = arena_.AddStream(kPid, kPid + 1);
  }

  // A chunk with one range.
  uint32_t AddChunk(std::string_view name, bool sealed = true) {
    uint64_t ticket = 0;
    const uint32_t chunk = arena_.AcquireChunk(stream_, 0, &ticket);
    record::Slot& slot = arena_.slots(chunk)[0];
    slot.name = arena_.InternName(name);
    slot.kind_scope_depth = record::PackKind(SlotKind::kRange, 0, 0);
    const uint64_t begin = ReadTicks(arena_.clock_source());
    slot.end.store(begin + 1);
    slot.begin.store(begin);
    if (sealed) arena_.SealChunk(chunk);
    return chunk;
  }
  ChunkState StateOf(uint32_t chunk) const {
    return record::OwnerState(arena_.word(chunk).owner.load());
  }

  std::optional<KeptRecording> Collect() {
    auto collected = session_->Collect(shard_);
    EXPECT_TRUE(collected.ok()) << collected.status();
    return collected->kept;
  }
  std::vector<std::string> Names(const model::TraceShard& shard) const {
    std::vector<std::string> names;
    for (const model::NameId name : shard.block.name) {
      names.emplace_back(shard.strings.Get(name));
    }
    return names;
  }

  static constexpr int32_t kPid = 0x3ffffff;  // more than there can be
  ChildSettings settings_;
  std::unique_ptr<ActivitySession> session_;
  std::string arena_path_;
  Arena arena_;
  uint32_t stream_ = 0;
  model::TraceShard shard_;
};

using Texts = std::vector<std::string>;

TEST_F(ChildSessionTest, TheTargetSeesWhatIsToBeRecorded) {
  settings_.flags = record::kGateHeap | record::kGateHeapSampled;
  settings_.heap_sample_interval = 4'096;
  Start();
  EXPECT_EQ(arena_.header().record_flags, settings_.flags);
  EXPECT_EQ(arena_.header().heap_sample_interval, 4'096u);
  ASSERT_EQ(arena_.start_count(), 1u);
  EXPECT_EQ(arena_.start(0).pid, kPid);
  EXPECT_EQ(arena_.NameText(arena_.start(0).program), "/bin/true");
  ASSERT_TRUE(session_->Stop().ok());
  EXPECT_EQ(arena_.header().recording, 0u);
  Collect();
  EXPECT_EQ(shard_.memory_sample_interval, 4'096.0);
  EXPECT_TRUE(session_->Remarks().empty());
}

TEST_F(ChildSessionTest, PagesAreMadeForATargetThatRecords) {
  settings_.arena_bytes = 256 * record::kChunkBytes;
  Start();
  const auto chunks_in_memory = [&] {
    struct stat info = {};
    EXPECT_EQ(stat(arena_path_.c_str(), &info), 0);
    return static_cast<uint64_t>(info.st_blocks) * 512 / record::kChunkBytes;
  };
  // Two, and what stands before the chunks.
  EXPECT_LT(chunks_in_memory(), 8u);
  session_->Poll();
  EXPECT_LT(chunks_in_memory(), 8u);
  AddChunk("range");
  session_->Poll();
  EXPECT_GE(chunks_in_memory(), 64u);
  ASSERT_TRUE(session_->Stop().ok());
  Collect();
  EXPECT_LT(chunks_in_memory(), 8u) << "given back";
}

TEST_F(ChildSessionTest, RecordsUntilItsEndAreCollected) {
  Start();
  const TimeNs begin_ns = MonotonicNs() + EpochOffsetNs();
  const uint32_t sealed = AddChunk("sealed");
  session_->Poll();
  EXPECT_EQ(StateOf(sealed), ChunkState::kFree);
  AddChunk("later");
  AddChunk("owned", /*sealed=*/false);
  ASSERT_TRUE(session_->Stop().ok());
  const TimeNs end_ns = MonotonicNs() + EpochOffsetNs();
  AddChunk("of a process that goes on");
  EXPECT_FALSE(Collect().has_value());
  EXPECT_EQ(Names(shard_), (Texts{"sealed", "later", "owned"}));
  constexpr TimeNs kError = 100'000;  // of the clock's two anchors
  for (const TimeNs t : shard_.block.start_ns) {
    EXPECT_GE(t, begin_ns - kError);
    EXPECT_LE(t, end_ns + kError);
  }
  ASSERT_EQ(shard_.processes.size(), 1u);
  EXPECT_EQ(shard_.processes[0].pid, kPid);
  EXPECT_FALSE(shard_.ledger.AnythingLost());
  EXPECT_FALSE(std::filesystem::exists(RawPath()));
}

TEST_F(ChildSessionTest, WithoutDrainingChunksStayWhereTheyAre) {
  settings_.policy = FullPolicy::kStop;
  Start();
  const uint32_t chunk = AddChunk("sealed");
  session_->Poll();
  EXPECT_EQ(StateOf(chunk), ChunkState::kSealed);
  ASSERT_TRUE(session_->Stop().ok());
  EXPECT_FALSE(Collect().has_value());
  EXPECT_EQ(Names(shard_), (Texts{"sealed"}));
}

TEST_F(ChildSessionTest, ARecordingThatIsTooLargeStaysInAFile) {
  settings_.max_memory = 1;
  Start();
  AddChunk("range");
  ASSERT_TRUE(session_->Stop().ok());
  const std::optional<KeptRecording> kept = Collect();
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(shard_.block.size(), 0u);
  EXPECT_EQ(kept->path, RawPath());
  EXPECT_EQ(kept->why,
            "a trace of the 0 MiB of records would take 0 MiB of memory, more "
            "than the 0 MiB that may be taken (--cpu_max_memory)");
  EXPECT_EQ(kept->window_bytes, uint64_t{4} << 20);
  EXPECT_EQ(kept->read_flag, "--raw_windows=always");
  const auto windows = kept->open(kept->window_bytes);
  ASSERT_TRUE(windows.ok()) << windows.status();
  EXPECT_TRUE((*windows)->Notes().empty());
  auto window = (*windows)->Next();
  ASSERT_TRUE(window.ok());
  EXPECT_EQ(Names(window->shard), (Texts{"range"}));
  EXPECT_TRUE(window->is_last);
}

// A chunk with two slots takes 96 bytes in the file, and a trace of them 240.
// The sums of one block take 128.
TEST_F(ChildSessionTest, HeapsThatAreTooLargeAreFoldedIfTheirSumsFit) {
  settings_.flags = record::kGateHeap;
  settings_.fold_heap_above = 0;
  std::string_view says;
  const auto is_kept = [&](uint64_t max_memory) {
    settings_.max_memory = max_memory;
    Start();
    arena_.InternName(says);
    record::Slot* const slots = arena_.slots(AddChunk("", /*sealed=*/false));
    slots[0].kind_scope_depth = record::PackKind(SlotKind::kAllocation, 0, 0);
    slots[1].kind_scope_depth = record::PackKind(SlotKind::kFree, 0, 0);
    slots[1].end.store(slots[0].end.load());
    slots[1].begin.store(slots[0].begin.load() + 1);
    EXPECT_TRUE(session_->Stop().ok());
    shard_ = model::TraceShard();
    const bool kept = Collect().has_value();
    EXPECT_EQ(shard_.folded_memory != nullptr,
              !kept && settings_.heap_sample_interval == 0 && says.empty());
    arena_.Unmap();
    return kept;
  };
  EXPECT_TRUE(is_kept(127));
  EXPECT_FALSE(is_kept(128));
  EXPECT_FALSE(is_kept(240));
  settings_.heap_sample_interval = 512;  // samples are not folded
  EXPECT_TRUE(is_kept(239));
  EXPECT_FALSE(is_kept(240));
  settings_.heap_sample_interval = 0;
  // Nor are heaps of which the program says what they are for.
  for (const char* const name : {kMemoryCategoryInstant, kMemoryScopeInstant}) {
    says = name;
    EXPECT_TRUE(is_kept(239));
    EXPECT_FALSE(is_kept(240));
  }
}

// A device's driver may give ranges to a program that has none itself.
TEST_F(ChildSessionTest, FoldedHeapsKeepWhatRangesOfOthersNeed) {
  settings_.flags = record::kGateHeap;
  settings_.fold_heap_above = 0;
  for (const bool others : {false, true}) {
    settings_.others_record_ranges = others;
    Start();
    record::Slot& slot = arena_.slots(AddChunk("", /*sealed=*/false))[0];
    slot.kind_scope_depth = record::PackKind(SlotKind::kAllocation, 0, 0);
    ASSERT_TRUE(session_->Stop().ok());
    shard_ = model::TraceShard();
    Collect();
    ASSERT_NE(shard_.folded_memory, nullptr);
    ASSERT_EQ(shard_.folded_memory->heaps.size(), 1u);
    EXPECT_EQ(shard_.folded_memory->heaps[0].threads.empty(), !others);
    arena_.Unmap();
  }
}

// This process has not used Kymo before, so its children have not.
TEST_F(ChildSessionTest, ReportsOfMemoryMayBeAProgramsFirstUseOfKymo) {
  settings_.flags = record::kGateMemory;
  Start();
  const auto run = [&](void (*use)()) {
    const pid_t pid = fork();
    if (pid == 0) {
      setenv(record::kArenaVariable, arena_path_.c_str(), 1);
      use();
      _exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  };
  run([] { ReportMemoryUsage(nullptr, 4'096); });
  run([] { ReportOutOfMemory(100); });
  run([] { SetMemoryCategory(nullptr, 1, MemoryCategory::kInput); });
  run([] { IncrementMemoryVersion(nullptr, 1); });
  run([] { MemoryCategoryScope scope(MemoryCategory::kInput); });
  ASSERT_TRUE(session_->Stop().ok());
  Collect();
  EXPECT_EQ(shard_.memory.size(), 2u);
  Texts names = Names(shard_);
  std::sort(names.begin(), names.end());
  Texts expected = {kMemoryCategoryInstant, kMemoryVersionInstant,
                    kMemoryScopeInstant, kMemoryScopeInstant};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names, expected);
}

TEST_F(ChildSessionTest, ARawFileHasEverythingInTheEnd) {
  settings_.keep_raw = true;
  settings_.flags = record::kGateHeap;
  Start();
  auto raw = ReadRawFile(RawPath());
  ASSERT_TRUE(raw.ok()) << raw.status();
  EXPECT_FALSE(raw->is_complete);
  AddChunk("drained");
  session_->Poll();
  AddChunk("owned", /*sealed=*/false);
  raw = ReadRawFile(RawPath());
  EXPECT_EQ(Names(raw->shard), (Texts{"drained", "owned"}));
  ASSERT_TRUE(session_->Stop().ok());
  Collect();
  EXPECT_EQ(Names(shard_), (Texts{"drained", "owned"}));
  raw = ReadRawFile(RawPath());
  EXPECT_TRUE(raw->is_complete);
  EXPECT_EQ(Names(raw->shard), (Texts{"drained", "owned"}));
  session_ = nullptr;
  EXPECT_TRUE(std::filesystem::exists(RawPath()));
}

// As when a launcher kills a job.
TEST_F(ChildSessionTest, AnotherProcessSavesTheRecordsOfOneThatWasKilled) {
  settings_.last_records = std::make_shared<LastRecords>();
  Start();
  ASSERT_EQ(settings_.last_records->savers.size(), 1u);
  EXPECT_EQ(settings_.last_records->descriptors.size(), 2u);
  int orders[2];
  ASSERT_EQ(pipe(orders), 0);
  const pid_t saver = fork();
  if (saver == 0) {
    close(orders[1]);
    char order;
    static_cast<void>(!read(orders[0], &order, 1));
    settings_.last_records->savers[0]();
    _exit(0);
  }
  AddChunk("drained");
  AddChunk("drained, too");
  session_->Poll();
  AddChunk("sealed");
  AddChunk("owned", /*sealed=*/false);
  close(orders[0]);
  close(orders[1]);
  waitpid(saver, nullptr, 0);
  const auto raw = ReadRawFile(RawPath());
  ASSERT_TRUE(raw.ok()) << raw.status();
  EXPECT_FALSE(raw->is_complete);
  EXPECT_EQ(raw->cut_bytes, 0u);
  EXPECT_EQ(Names(raw->shard),
            (Texts{"drained", "drained, too", "sealed", "owned"}));
  ASSERT_TRUE(session_->Stop().ok());
}

TEST_F(ChildSessionTest, OnlyAFlightRecorderIsDumped) {
  const std::string path = testing::TempDir() + "/dump.raw";
  Start();
  EXPECT_EQ(session_->Dump(path).message(),
            "only a flight recorder can be dumped: record with "
            "--flight_recorder=30s, or with --cpu_keep_raw, whose file has all "
            "of it in the end");
  arena_.Unmap();
  settings_.policy = FullPolicy::kOverwrite;
  settings_.flight = FlightLimit{.keep_ns = 3'600 * kNsPerSecond};
  Start();
  AddChunk("first");
  AddChunk("second", /*sealed=*/false);
  arena_.stream(stream_).overwritten.store(3);
  session_->Poll();
  ASSERT_TRUE(session_->Dump(path).ok());
  const auto raw = ReadRawFile(path);
  ASSERT_TRUE(raw.ok()) << raw.status();
  EXPECT_TRUE(raw->is_complete);
  EXPECT_EQ(Names(raw->shard), (Texts{"first", "second"}));
  // The user asked for a time, so what was overwritten is missing.
  EXPECT_EQ(raw->shard.ledger.Get(Loss::kEventsDroppedArenaFull), 3u);
  ASSERT_TRUE(session_->Stop().ok());
  Collect();
  EXPECT_EQ(Names(shard_), (Texts{"first", "second"}));
  EXPECT_EQ(shard_.ledger.Get(Loss::kEventsDroppedArenaFull), 3u);
}

TEST_F(ChildSessionTest, AFlightRecorderLeavesOutWhatIsOlder) {
  settings_.policy = FullPolicy::kOverwrite;
  settings_.flight = FlightLimit{.keep_ns = 1};
  Start();
  AddChunk("older than a nanosecond");
  usleep(2'000);
  const std::string path = testing::TempDir() + "/dump.raw";
  ASSERT_TRUE(session_->Dump(path).ok());
  EXPECT_EQ(ReadRawFile(path)->shard.block.size(), 0u);
  ASSERT_TRUE(session_->Stop().ok());
  Collect();
  EXPECT_EQ(shard_.block.size(), 0u);
  // Where a size is kept, age does not matter.
  arena_.Unmap();
  settings_.flight = FlightLimit{.bytes = 1 << 20};
  Start();
  AddChunk("old");
  usleep(2'000);
  ASSERT_TRUE(session_->Stop().ok());
  Collect();
  EXPECT_EQ(Names(shard_), (Texts{"old"}));
}

// Adds up what windows have that the shard has not.
struct OldValues : WindowReducer {
  absl::Status Add(TraceWindow window, WindowLosses losses) override {
    if (losses == WindowLosses::kAreInShard) return absl::OkStatus();
    for (const model::CounterSample& counter : window.shard.counters) {
      values.push_back(counter.value);
    }
    instants += window.shard.block.size();
    return absl::OkStatus();
  }
  std::vector<double> values;
  uint64_t instants = 0;
};

// Of instants, too, each is in the shard or counted.
TEST_F(ChildSessionTest, OldCounterValuesAreAddedUpAndCounted) {
  const auto old = std::make_shared<OldValues>();
  settings_.reducer = old;
  // Adding up begins at three quarters of half of it.
  settings_.max_disk = 64 * sizeof(record::Slot);
  Start();
  constexpr int kChunks = 40;
  for (int i = 0; i < kChunks; ++i) {
    uint64_t ticket = 0;
    uint32_t chunk = record::kNoChunk;
    // While the disk is full, chunks stay in the arena.
    while ((chunk = arena_.AcquireChunk(stream_, 0, &ticket)) ==
           record::kNoChunk) {
      session_->Poll();
    }
    record::Slot* const slots = arena_.slots(chunk);
    for (const SlotKind kind : {SlotKind::kCounter, SlotKind::kInstant}) {
      record::Slot& slot = slots[kind == SlotKind::kCounter ? 0 : 1];
      slot.name = arena_.InternName("queue");
      slot.kind_scope_depth = record::PackKind(kind, 0, 0);
      slot.end.store(std::bit_cast<uint64_t>(1.0 * i));
      slot.begin.store(ReadTicks(arena_.clock_source()));
    }
    arena_.SealChunk(chunk);
    session_->Poll();
  }
  ASSERT_TRUE(session_->Stop().ok());
  Collect();
  std::vector<double> values = old->values;
  for (const model::CounterSample& counter : shard_.counters) {
    values.push_back(counter.value);
  }
  ASSERT_EQ(values.size(), size_t{kChunks});
  for (int i = 0; i < kChunks; ++i) EXPECT_EQ(values[i], i);
  EXPECT_GT(old->values.size(), 0u);
  EXPECT_EQ(shard_.ledger.Get(Loss::kCounterValuesSummed), old->values.size());
  EXPECT_EQ(shard_.ledger.Get(Loss::kEventsOverwritten), old->instants);
  EXPECT_EQ(shard_.block.size() + old->instants, size_t{kChunks});
  EXPECT_FALSE(shard_.ledger.AnythingLost());
}

// A program that never attaches is in the samples. If its heap was wanted, that
// is lost.
TEST_F(ChildSessionTest, ProgramsThatAreSampledAnywayAreNotLost) {
  auto sampled = std::make_shared<SampledProcesses>();
  settings_.sampled = sampled;
  const auto unrecorded = [&](bool all, record::RecordFlags flags) {
    sampled->all = all;
    settings_.flags = flags;
    Start();
    arena_.AddStart(kPid - 1, "/none", MonotonicNs() - 10 * kNsPerSecond);
    EXPECT_TRUE(session_->Stop().ok());
    shard_ = model::TraceShard();
    Collect();
    const std::string remark = session_->Remarks().at(0);
    EXPECT_EQ(remark.find("/none was sampled only") == 0, all) << remark;
    arena_.Unmap();
    return shard_.ledger.Get(Loss::kProcessesNotRecorded);
  };
  EXPECT_EQ(unrecorded(true, 0), 0u);
  EXPECT_EQ(unrecorded(false, 0), 1u);
  EXPECT_EQ(unrecorded(true, record::kGateHeap), 1u);
}

}  // namespace
}  // namespace kymo::stream
