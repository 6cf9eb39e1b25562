#include "importers/raw/raw_importer.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <zlib.h>

#include "backends/stream/raw/raw_file.h"
#include "profiler/base/memory_category.h"
#include "profiler/model/folded_memory.h"

namespace kymo {
namespace {

TEST(RawImporterTest, SaysThatACollectorDied) {
  const std::string path = ::testing::TempDir() + "/died.raw";
  const auto file =
      stream::RawFile::Create(path, {.capacity_bytes = record::kChunkBytes,
                                     .chunk_bytes_total = record::kChunkBytes,
                                     .clock_source = ClockSource::kSystem});
  ASSERT_TRUE(file.ok()) << file.status();
  file->Note({.first_anchor = {.ticks = 1, .monotonic_ns = 1},
              .last_anchor = {.ticks = 2, .monotonic_ns = 2}});
  const auto importer = NewRawImporter();
  const auto trace = importer->Import(path, {});
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->shards.size(), 1);
  ASSERT_EQ(trace->findings.size(), 1);
  EXPECT_EQ(trace->findings[0].rule, "collector_died");
  EXPECT_EQ(trace->findings[0].severity, ImportFinding::Severity::kWarning);
}

TEST(RawImporterTest, FoldsAHeapThatHasMoreRecords) {
  const std::string path = ::testing::TempDir() + "/heap.raw";
  const auto file = stream::RawFile::Create(
      path, {.capacity_bytes = 4 * record::kChunkBytes,
             .chunk_bytes_total = 4 * record::kChunkBytes,
             .policy = record::FullPolicy::kDrain,
             .clock_source = ClockSource::kSystem});
  ASSERT_TRUE(file.ok()) << file.status();
  const record::Arena& arena = file->arena();
  arena.AddProcess()->pid.store(7);
  uint64_t ticket = 0;
  const uint32_t chunk = arena.AcquireChunk(arena.AddStream(7, 8), 0, &ticket);
  const auto add = [&](int index, record::SlotKind kind, uint64_t address,
                       uint32_t bytes) {
    record::Slot& slot = arena.slots(chunk)[index];
    slot.name = bytes;
    slot.kind_scope_depth = record::PackKind(kind, 0, 0);
    slot.end.store(address);
    slot.begin.store(110 + static_cast<uint64_t>(index));
  };
  add(0, record::SlotKind::kAllocation, 64, 8);
  add(1, record::SlotKind::kAllocation, 128, 5);
  add(2, record::SlotKind::kFree, 64, 0);
  file->Note({.with_memory = 1,
              .first_anchor = {.ticks = 100, .monotonic_ns = 100},
              .last_anchor = {.ticks = 900, .monotonic_ns = 900},
              .is_complete = 1});
  const auto import = [&](const std::string& above) {
    ImportOptions options;
    if (!above.empty()) options.settings["raw_fold_above"] = above;
    auto trace = NewRawImporter()->Import(path, options);
    EXPECT_TRUE(trace.ok()) << trace.status();
    return std::move(trace->shards.at(0));
  };
  for (const char* const above : {"", "-1", "3"}) {
    const model::TraceShard shard = import(above);
    EXPECT_EQ(shard.memory.size(), 3) << above;
    EXPECT_EQ(shard.folded_memory, nullptr) << above;
  }
  const model::TraceShard folded = import("2");
  EXPECT_EQ(folded.memory.size(), 0);
  ASSERT_NE(folded.folded_memory, nullptr);
  ASSERT_EQ(folded.folded_memory->heaps.size(), 1);
  const model::FoldedHeap& heap = folded.folded_memory->heaps[0];
  EXPECT_EQ(heap.allocated, (model::BlockSum{2, 13}));
  EXPECT_EQ(heap.freed, (model::BlockSum{1, 8}));
  EXPECT_EQ(heap.peak_bytes, 13);
  // Sums do not know what a block is for.
  arena.InternName(kMemoryCategoryInstant);
  EXPECT_EQ(import("2").memory.size(), 3);
}

// A raw file with a range of 100 ns and one of 30 ns inside of it.
class LargeTraceTest : public ::testing::Test {
 protected:
  LargeTraceTest() : path_(::testing::TempDir() + "/large.raw") {
    auto file = stream::RawFile::Create(
        path_, {.capacity_bytes = 4 * record::kChunkBytes,
                .chunk_bytes_total = 4 * record::kChunkBytes,
                .policy = record::FullPolicy::kDrain,
                .clock_source = ClockSource::kSystem});
    EXPECT_TRUE(file.ok()) << file.status();
    chunks_begin_ = file->chunks_begin();
    const record::Arena& arena = file->arena();
    arena.AddProcess()->pid.store(7);
    uint64_t ticket = 0;
    const uint32_t chunk =
        arena.AcquireChunk(arena.AddStream(7, 8), 0, &ticket);
    AddRange(arena, chunk, 0, "outer", 100, 200);
    AddRange(arena, chunk, 1, "inner", 150, 180);
    file->Note({.first_anchor = {.ticks = 100, .monotonic_ns = 100},
                .last_anchor = {.ticks = 900, .monotonic_ns = 900},
                .is_complete = 1});
  }

  static void AddRange(const record::Arena& arena, uint32_t chunk,
                       uint32_t depth, const char* name, uint64_t begin,
                       uint64_t end) {
    record::Slot& slot = arena.slots(chunk)[depth];
    slot.name = arena.InternName(name);
    slot.kind_scope_depth =
        record::PackKind(record::SlotKind::kRange, 0, depth);
    slot.end.store(end);
    slot.begin.store(begin);
  }

  absl::StatusOr<std::optional<LargeTrace>> Open() const {
    return NewRawImporter()->OpenLarge(path_, options_);
  }

  const std::string path_;
  ImportOptions options_;
  uint64_t chunks_begin_ = 0;
};

TEST_F(LargeTraceTest, ComesInWindowsWhereTheyAreAskedFor) {
  options_.settings["raw_windows"] = "always";
  options_.settings["raw_max_memory"] = "2MiB";
  const auto large = Open();
  ASSERT_TRUE(large.ok()) << large.status();
  ASSERT_TRUE(large->has_value());
  EXPECT_GT((*large)->record_bytes, 0);
  EXPECT_EQ((*large)->trace_bytes, (*large)->record_bytes / 2 * 5);
  EXPECT_EQ((*large)->memory_limit, uint64_t{2} << 20);
  EXPECT_EQ((*large)->whole_flag, "--raw_windows=never");
  TraceWindows& windows = *(*large)->windows;
  ASSERT_FALSE(windows.is_done());
  const auto window = windows.Next();
  ASSERT_TRUE(window.ok()) << window.status();
  EXPECT_TRUE(window->is_last);
  EXPECT_EQ(window->shard.block.start_ns.size(), 2);
  EXPECT_TRUE(windows.is_done());
  EXPECT_TRUE(windows.Notes().empty());
}

TEST_F(LargeTraceTest, WhatFitsIntoMemoryIsReadAtOnce) {
  EXPECT_FALSE(Open()->has_value());
  options_.settings["raw_max_memory"] = "1MiB";
  EXPECT_FALSE(Open()->has_value());
  options_.settings["raw_windows"] = "always";
  EXPECT_TRUE(Open()->has_value());
  options_.settings["raw_windows"] = "never";
  EXPECT_FALSE(Open()->has_value());
}

TEST_F(LargeTraceTest, AWholeRecordingHasNoFindings) {
  const auto trace = NewRawImporter()->Import(path_, {});
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_TRUE(trace->findings.empty());
  // From the first anchor of the clock to the last one.
  EXPECT_EQ(trace->start_ns, 100);
  EXPECT_EQ(trace->end_ns, 900);
}

TEST_F(LargeTraceTest, MayBeCompressed) {
  std::ifstream file(path_, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const std::string packed = path_ + ".gz";
  const gzFile to = gzopen(packed.c_str(), "wb1");
  gzwrite(to, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(to);
  const auto importer = NewRawImporter();
  const auto trace = importer->Import(packed, {});
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->end_ns, 900);
  EXPECT_TRUE(trace->findings.empty());
  options_.settings["raw_windows"] = "always";
  const auto large = importer->OpenLarge(packed, options_);
  ASSERT_TRUE(large.ok() && large->has_value()) << large.status();
  EXPECT_EQ((*large)->windows->Next()->shard.block.start_ns.size(), 2);
  EXPECT_EQ(
      importer->Import(packed, {.max_unpacked_bytes = 1000}).status().code(),
      absl::StatusCode::kResourceExhausted);
}

TEST_F(LargeTraceTest, BytesThatAreNoChunkAreSaid) {
  std::filesystem::resize_file(path_, chunks_begin_);
  std::ofstream(path_, std::ios::binary | std::ios::app) << "odd";
  const auto trace = NewRawImporter()->Import(path_, {});
  ASSERT_TRUE(trace.ok()) << trace.status();
  ASSERT_EQ(trace->findings.size(), 1u);
  EXPECT_EQ(trace->findings[0].rule, "chunk_cut");
  EXPECT_EQ(trace->findings[0].count, 1u);
  EXPECT_EQ(trace->findings[0].first_offset, chunks_begin_);
}

TEST_F(LargeTraceTest, OtherWordsAreRefused) {
  options_.settings["raw_max_memory"] = "much";
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kInvalidArgument);
  options_.settings = {{"raw_windows", "sometimes"}};
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(NewRawImporter()->Import(path_, options_).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(RawImporterTest, KnowsRawFilesByTheirBeginning) {
  const auto importer = NewRawImporter();
  EXPECT_EQ(importer->info().name, "raw");
  EXPECT_TRUE(importer->Recognizes("ymoArena and more"));
  EXPECT_FALSE(importer->Recognizes("{\"traceEvents\": []}"));
  EXPECT_FALSE(importer->Recognizes(""));
}

}  // namespace
}  // namespace kymo
