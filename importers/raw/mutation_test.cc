// Broken raw files: mutations of one that has every kind of record, from fixed
// seeds.
//
// KYMO_FUZZ_SECONDS says for how long. The test looks for a crash, a hang, a
// trace that breaks its own rules, or a sanitizer's report.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backends/stream/raw/chunk_store.h"
#include "backends/stream/raw/raw_file.h"
#include "backends/stream/raw/raw_windows.h"
#include "importers/raw/raw_importer.h"
#include "profiler/model/trace.h"
#include "profiler/normalize/normalize.h"

namespace kymo {
namespace {

using record::PayloadKind;
using record::Slot;
using record::SlotKind;

constexpr int kDefaultSeconds = 1;
constexpr uint64_t kCapacity = 4 * record::kChunkBytes;

// Writes a record of each kind, with each kind of payload behind the ranges.
uint32_t FillChunk(const record::Arena& arena, uint32_t chunk, uint64_t at) {
  Slot* const slots = arena.slots(chunk);
  uint32_t used = 0;
  for (uint8_t kind = 1; kind <= static_cast<uint8_t>(SlotKind::kResource);
       ++kind) {
    Slot& slot = slots[used++];
    slot.name = arena.InternName("record " + std::to_string(kind));
    slot.kind_scope_depth =
        record::PackKind(static_cast<SlotKind>(kind), 0, kind % 3);
    slot.end.store(at + kind + 20);
    slot.begin.store(at + kind);
    if (static_cast<SlotKind>(kind) == SlotKind::kEnd) continue;
    constexpr uint32_t kPayloadSlots = 12;
    char* payload = reinterpret_cast<char*>(&slots[used]);
    for (uint8_t item = 1; item <= static_cast<uint8_t>(PayloadKind::kNamed);
         ++item) {
      const record::PayloadHeader header = {
          .kind = static_cast<PayloadKind>(item),
          .continues = 0,
          .size_bytes = 16,
          .key = slot.name};
      std::memcpy(payload, &header, sizeof(header));
      std::memset(payload + sizeof(header), item, 16);
      payload += sizeof(header) + 16;
    }
    slot.extra_slots = kPayloadSlots;
    used += kPayloadSlots;
  }
  return used;
}

// Two threads. One chunk was drained, one was sealed, and one was being written
// when the process and the collector died.
std::string MakeSeed() {
  const std::string path = ::testing::TempDir() + "/seed.raw";
  auto file =
      stream::RawFile::Create(path, {.capacity_bytes = kCapacity,
                                     .chunk_bytes_total = kCapacity,
                                     .policy = record::FullPolicy::kDrain,
                                     .clock_source = ClockSource::kSystem});
  EXPECT_TRUE(file.ok()) << file.status();
  const record::Arena& arena = file->arena();
  arena.AddProcess()->pid.store(7);
  uint64_t at = 1'000;
  uint64_t ticket = 0;
  for (const int thread : {7, 8}) {
    const uint32_t stream = arena.AddStream(7, thread);
    const uint32_t sealed = arena.AcquireChunk(stream, 0, &ticket);
    const uint32_t used = FillChunk(arena, sealed, at += 100);
    if (thread == 7) {
      stream::ChunkStore store;
      store.OpenAt(file->fd(), file->chunks_begin());
      store.Add({.stream = stream,
                 .ticket = ticket,
                 .first_index = 0,
                 .slots = {arena.slots(sealed), used}});
      arena.FreeChunk(sealed);
    } else {
      arena.SealChunk(sealed);
    }
    FillChunk(arena, arena.AcquireChunk(stream, 0, &ticket), at += 100);
  }
  file->Note({.first_anchor = {.ticks = 1, .monotonic_ns = 1},
              .last_anchor = {.ticks = 5'000, .monotonic_ns = 5'000}});
  return path;
}

// Changes a file in place and restores it. A copy would cost much: the file is
// large, and mostly empty.
class Mutation {
 public:
  Mutation(int fd, uint64_t size, uint64_t arena_bytes, std::mt19937_64& random)
      : fd_(fd), size_(size) {
    // The places that matter: the headers, the tables, the records.
    const std::pair<uint64_t, uint64_t> places[] = {
        {0, 400},
        {0, arena_bytes - kCapacity},
        {arena_bytes - kCapacity, kCapacity},
        {arena_bytes, sizeof(stream::RawHeader)},
        {arena_bytes + stream::kRawHeaderBytes, 200},
        {arena_bytes, size - arena_bytes}};
    for (uint64_t n = 1 + random() % 4; n > 0; --n) {
      const auto& [begin, length] = places[random() % std::size(places)];
      Change(begin + random() % length, random);
    }
  }

  ~Mutation() {
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
      Write(change->first, change->second);
    }
  }

 private:
  void Change(uint64_t at, std::mt19937_64& random) {
    static constexpr uint64_t kOdd[] = {0,
                                        1,
                                        0xff,
                                        0x7fff'ffff,
                                        0xffff'ffff,
                                        0x7fff'ffff'ffff'ffff,
                                        0x8000'0000'0000'0000,
                                        ~uint64_t{0}};
    // Fields begin at multiples of their size.
    const size_t length = size_t{1} << random() % 4;
    at = std::min(at, size_ - length) / length * length;
    const uint64_t value =
        random() % 2 == 0 ? kOdd[random() % std::size(kOdd)] : random();
    std::string before(length, '\0');
    EXPECT_EQ(pread(fd_, before.data(), length, static_cast<off_t>(at)),
              static_cast<ssize_t>(length));
    changes_.emplace_back(at, before);
    Write(at, {reinterpret_cast<const char*>(&value), length});
  }

  void Write(uint64_t at, std::string_view bytes) {
    EXPECT_EQ(pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at)),
              static_cast<ssize_t>(bytes.size()));
  }

  const int fd_;
  const uint64_t size_;
  std::vector<std::pair<uint64_t, std::string>> changes_;  // the bytes before
};

// Whether the file could be read.
bool Import(const TraceImporter& importer, const std::string& path) {
  absl::StatusOr<ImportedTrace> imported = importer.Import(path, {});
  if (!imported.ok()) {
    EXPECT_FALSE(imported.status().message().empty());
    return false;
  }
  const absl::StatusOr<model::Trace> trace =
      Normalize(std::move(imported->shards),
                {.start_ns = imported->start_ns, .end_ns = imported->end_ns});
  EXPECT_TRUE(trace.ok()) << trace.status();
  if (!trace.ok()) return false;
  const absl::Status valid = model::ValidateTrace(*trace);
  EXPECT_TRUE(valid.ok()) << valid;
  return true;
}

// The same, in windows of the size of a chunk or of a record.
bool ReadInWindows(const std::string& path, uint64_t window_bytes) {
  const auto windows = stream::RawWindows::Open(path, window_bytes);
  if (!windows.ok()) {
    EXPECT_FALSE(windows.status().message().empty());
    return false;
  }
  while (!(*windows)->is_done()) {
    absl::StatusOr<TraceWindow> window = (*windows)->Next();
    EXPECT_TRUE(window.ok()) << window.status();
    if (!window.ok()) return false;
    EXPECT_EQ(window->is_last, (*windows)->is_done());
    std::vector<model::TraceShard> shards;
    shards.push_back(std::move(window->shard));
    const absl::StatusOr<model::Trace> trace =
        Normalize(std::move(shards),
                  {.start_ns = window->start_ns, .end_ns = window->end_ns});
    EXPECT_TRUE(trace.ok()) << trace.status();
    if (!trace.ok()) return false;
    const absl::Status valid = model::ValidateTrace(*trace);
    EXPECT_TRUE(valid.ok()) << valid;
  }
  return true;
}

// Calls `read` with broken files until time is up. `read` returns whether the
// file could be read.
template <typename Read>
void ReadBrokenFiles(const Read& read_file) {
  const char* const wanted = std::getenv("KYMO_FUZZ_SECONDS");
  const int seconds = wanted == nullptr ? kDefaultSeconds : std::atoi(wanted);
  const std::string path = MakeSeed();
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  record::ArenaHeader header;
  ASSERT_EQ(pread(fd, &header, sizeof(header), 0),
            static_cast<ssize_t>(sizeof(header)));
  ASSERT_TRUE(read_file(path));
  const uint64_t size = std::filesystem::file_size(path);
  std::mt19937_64 random(1);
  size_t read = 0;
  size_t total = 0;
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (std::chrono::steady_clock::now() < end) {
    const Mutation mutation(fd, size, header.arena_bytes, random);
    read += read_file(path);
    ++total;
    ASSERT_FALSE(::testing::Test::HasFailure()) << "mutation " << total;
  }
  close(fd);
  ::testing::Test::RecordProperty("files", static_cast<int>(total));
  EXPECT_GT(read, total / 4);
  EXPECT_LT(read, total);
}

TEST(MutationTest, NothingBreaksTheImporter) {
  const auto importer = NewRawImporter();
  ReadBrokenFiles(
      [&](const std::string& path) { return Import(*importer, path); });
}

TEST(MutationTest, NothingBreaksTheWindows) {
  for (const uint64_t window_bytes : {record::kChunkBytes, uint64_t{1}}) {
    ReadBrokenFiles([&](const std::string& path) {
      return ReadInWindows(path, window_bytes);
    });
  }
}

}  // namespace
}  // namespace kymo
