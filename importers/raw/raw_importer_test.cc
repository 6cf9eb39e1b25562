#include "importers/raw/raw_importer.h"

#include <string>

#include <gtest/gtest.h>

#include "backends/cpu/raw/raw_file.h"

namespace kymo {
namespace {

TEST(RawImporterTest, SaysThatACollectorDied) {
  const std::string path = ::testing::TempDir() + "/died.raw";
  const auto file =
      cpu::RawFile::Create(path, {.capacity_bytes = record::kChunkBytes,
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

TEST(RawImporterTest, KnowsRawFilesByTheirBeginning) {
  const auto importer = NewRawImporter();
  EXPECT_EQ(importer->info().name, "raw");
  EXPECT_TRUE(importer->Recognizes("ymoArena and more"));
  EXPECT_FALSE(importer->Recognizes("{\"traceEvents\": []}"));
  EXPECT_FALSE(importer->Recognizes(""));
}

}  // namespace
}  // namespace kymo
