// A hostile target writes anything into the memory that it shares with its
// collector. The collector reads the memory while it changes, and makes a
// trace.
//
// Each round is a child process with the arena mapped, as a real target has it.
// It records sound chunks, so that there is something to break, and overwrites
// words of every part of the arena with numbers that are likely to hurt.
// KYMO_SEED repeats a run.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "gtest/gtest.h"
#include "importers/raw/raw_importer.h"
#include "profiler/base/clock.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"
#include "profiler/normalize/normalize.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/layout.h"
#include "profiler/record/host/host.h"

namespace kymo {
namespace {

using record::Arena;
using record::Slot;
using record::SlotKind;
using Random = std::minstd_rand;

// The target's own mapping of the whole arena, also the parts that an Arena
// object does not expose.
struct Mapping {
  std::byte* base = nullptr;
  uint64_t bytes = 0;
};

Mapping MapAll(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat about = {};
  if (fd < 0 || fstat(fd, &about) != 0) return {};
  void* const mapped = mmap(nullptr, static_cast<size_t>(about.st_size),
                            PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped == MAP_FAILED) return {};
  return {static_cast<std::byte*>(mapped),
          static_cast<uint64_t>(about.st_size)};
}

uint64_t Below(Random& random, uint64_t limit) {
  return (uint64_t{random()} << 31 | random()) % limit;
}

// Numbers at the edges of the valid ranges.
uint64_t BadNumber(Random& random, const record::ArenaHeader& sound) {
  const uint64_t numbers[] = {0,
                              1,
                              2047,
                              2048,
                              0x7fffffff,
                              0x80000000,
                              0xffffffff,
                              uint64_t{1} << 62,
                              uint64_t{1} << 63,
                              ~uint64_t{0},
                              ~uint64_t{0} >> 1,
                              sound.plan.chunk_count - 1u,
                              sound.plan.chunk_count,
                              sound.plan.stream_capacity,
                              sound.plan.name_text_bytes,
                              sound.plan.name_text_bytes - 4,
                              sound.arena_bytes};
  if (Below(random, 4) == 0) return uint64_t{random()} << 33 ^ random();
  return numbers[Below(random, std::size(numbers))];
}

// A chunk of records, all of kinds that a target writes.
void RecordChunk(const Arena& arena, uint32_t stream, Random& random) {
  uint64_t ticket = 0;
  const uint32_t chunk = arena.AcquireChunk(stream, 0, &ticket);
  if (chunk == record::kNoChunk) return;
  Slot* const slots = arena.slots(chunk);
  const uint32_t name = arena.InternName("name " + std::to_string(random()));
  for (uint32_t i = 0; i + 8 < record::kSlotsPerChunk;) {
    const auto kind = static_cast<SlotKind>(1 + Below(random, 10));
    const auto extra = static_cast<uint32_t>(Below(random, 5));
    Slot& slot = slots[i];
    slot.name = name;
    slot.kind_scope_depth =
        record::PackKind(kind, static_cast<uint8_t>(Below(random, 16)), i % 7);
    slot.extra_slots = extra;
    slot.flags = static_cast<uint32_t>(Below(random, 64));
    auto* const payload = reinterpret_cast<uint64_t*>(&slot + 1);
    for (uint32_t word = 0; word < 4 * extra; ++word) {
      payload[word] = Below(random, 3) == 0 ? random() : Below(random, 12);
    }
    const uint64_t now = ReadTicks(arena.clock_source());
    slot.end.store(Below(random, 8) == 0 ? ticket : now);
    slot.begin.store(now);
    i += 1 + extra;
  }
  arena.SealChunk(chunk);
}

// Where the next wrong word goes: each part of the arena has its share.
uint64_t Place(Random& random, const record::ArenaHeader& sound) {
  const auto within = [&](uint64_t begin, uint64_t bytes) {
    return begin + Below(random, bytes);
  };
  switch (Below(random, 9)) {
    case 0:
      return within(0, sizeof(record::ArenaHeader));
    case 1:
      return within(sound.plan.streams_offset,
                    16 * sizeof(record::StreamEntry));
    case 2:
      return within(sound.plan.heap_counts_offset,
                    16 * sizeof(record::HeapCounts));
    case 3:
      return within(sound.plan.processes_offset,
                    4 * sizeof(record::ProcessEntry));
    case 4:
      return within(sound.plan.name_text_offset, 4096);
    case 5:
      return within(sound.plan.starts_offset, 16 * sizeof(record::StartEntry));
    case 6:
      return within(sound.plan.words_offset, 32 * sizeof(record::ChunkWord));
    default:
      return within(sound.plan.chunks_offset, 32 * record::kChunkBytes);
  }
}

[[noreturn]] void BeHostile(const std::string& path, uint64_t seed,
                            int64_t for_ns) {
  Random random(static_cast<uint32_t>(seed));
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  const Arena arena = Arena::Attach(fd);
  const Mapping memory = MapAll(path);
  if (!arena.valid() || memory.base == nullptr) _exit(9);
  record::ArenaHeader sound;
  std::memcpy(static_cast<void*>(&sound), memory.base, sizeof(sound));
  record::ProcessEntry* const process = arena.AddProcess();
  std::strcpy(process->name, "hostile");
  process->pid.store(getpid());
  uint32_t streams[8];
  for (uint32_t& stream : streams) stream = arena.AddStream(getpid(), 5);
  const int64_t end_ns = MonotonicNs() + for_ns;
  while (MonotonicNs() < end_ns) {
    RecordChunk(arena, streams[Below(random, 8)], random);
    for (uint64_t i = Below(random, 40); i > 0; --i) {
      const uint64_t word = BadNumber(random, sound);
      const size_t size = size_t{1} << Below(random, 4);
      const uint64_t at = Place(random, sound) / size * size;
      std::memcpy(memory.base + at, &word, size);
    }
    // If the header stayed broken, all recording would end.
    if (Below(random, 4) == 0) {
      std::memcpy(memory.base, static_cast<const void*>(&sound), sizeof(sound));
    }
  }
  _exit(0);
}

class HostileTargetTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* const seed = std::getenv("KYMO_SEED");
    seed_ = seed != nullptr ? std::strtoull(seed, nullptr, 0)
                            : std::random_device()();
    std::cout << "KYMO_SEED=" << seed_ << std::endl;
    folder_ = testing::TempDir() + "/hostile_" + GetParam();
    std::filesystem::create_directories(folder_);
  }

  // The settings of the round, as name=value.
  SessionOptions Options() const {
    SessionOptions options;
    options.target = TargetKind::kChildProcess;
    options.scratch_dir = folder_;
    options.profile_memory = true;
    options.settings["cpu_arena_mib"] = "2";
    const std::string mode = GetParam();
    if (mode == "overwrite") options.settings["cpu_when_full"] = "overwrite";
    if (mode == "flight") options.settings["cpu_flight_recorder"] = "1s";
    if (mode == "raw") options.settings["cpu_keep_raw"] = "1";
    return options;
  }

  // The trace is valid, whatever the target wrote.
  static void ExpectTrace(model::TraceShard shard, TimeNs start, TimeNs end) {
    std::vector<model::TraceShard> shards;
    shards.push_back(std::move(shard));
    const auto trace =
        Normalize(std::move(shards), {.start_ns = start, .end_ns = end});
    ASSERT_TRUE(trace.ok()) << trace.status();
    const absl::Status valid = model::ValidateTrace(*trace);
    EXPECT_TRUE(valid.ok()) << valid;
  }

  void Round(uint64_t seed) {
    SCOPED_TRACE(seed);
    const auto backend = NewCpuBackend();
    auto session = backend->NewSession(Options());
    ASSERT_TRUE(session.ok()) << session.status();
    TargetSetup setup;
    ASSERT_TRUE((*session)->Prepare(&setup).ok());
    const TimeNs start = MonotonicNs() + EpochOffsetNs();
    const pid_t pid = fork();
    if (pid == 0) {
      BeHostile(setup.environment.at(record::kArenaVariable), seed,
                30 * kNsPerMs);
    }
    ASSERT_TRUE((*session)->Start(pid).ok());
    int status = 0;
    for (int polls = 0; waitpid(pid, &status, WNOHANG) == 0; ++polls) {
      (*session)->Poll();
      if (std::string(GetParam()) == "flight" && polls % 8 == 0) {
        // It may be written or refused, and may hold anything.
        static_cast<void>((*session)->Dump(folder_ + "/dump.raw"));
      }
      usleep(500);
    }
    // The target may fail, but it should have had the time to be hostile.
    unharmed_ += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ASSERT_TRUE((*session)->Stop().ok());
    model::TraceShard shard;
    const absl::StatusOr<Collected> collected = (*session)->Collect(shard);
    ASSERT_TRUE(collected.ok()) << collected.status();
    ASSERT_FALSE(collected->kept);
    ExpectTrace(std::move(shard), start, MonotonicNs() + EpochOffsetNs());
    session->reset();
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      auto read = NewRawImporter()->Import(file.path().string(), {});
      // An error, or the records that can be read.
      if (!read.ok()) continue;
      for (model::TraceShard& of_file : read->shards) {
        ExpectTrace(std::move(of_file), read->start_ns, read->end_ns);
      }
    }
  }

  uint64_t seed_ = 0;
  int unharmed_ = 0;  // targets that ran to their end
  std::string folder_;
};

TEST_P(HostileTargetTest, CannotCrashItsCollector) {
  constexpr int kRounds = 20;
  for (int i = 0; i < kRounds && !HasFailure(); ++i) {
    Round(seed_ + static_cast<uint64_t>(i));
  }
  EXPECT_GT(unharmed_, kRounds / 2);
}

INSTANTIATE_TEST_SUITE_P(Modes, HostileTargetTest,
                         testing::Values("drain", "overwrite", "flight", "raw"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace kymo
