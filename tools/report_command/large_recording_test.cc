#include "tools/report_command/large_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "backends/cpu/raw/raw_file.h"
#include "profiler/record/arena.h"
#include "profiler/record/layout.h"

namespace kymo::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// A raw file with a range of 100 ns and one of 30 ns inside of it.
class LargeRecordingTest : public testing::Test {
 protected:
  LargeRecordingTest() {
    command_.files = {testing::TempDir() + "/large.raw"};
    command_.table.sort_by = "auto";
    command_.settings["windows"] = "always";
    auto file = cpu::RawFile::Create(
        command_.files[0], {.capacity_bytes = 4 * record::kChunkBytes,
                            .chunk_bytes_total = 4 * record::kChunkBytes,
                            .policy = record::FullPolicy::kDrain,
                            .clock_source = ClockSource::kSystem});
    EXPECT_TRUE(file.ok()) << file.status();
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

  absl::StatusOr<WindowReport> Report() const {
    const auto windows = OpenInWindows(command_);
    EXPECT_TRUE(windows.ok()) << windows.status();
    return ReportInWindows(command_, **windows);
  }

  ReportCommand command_;
};

TEST_F(LargeRecordingTest, HasTheTableAndTheStacks) {
  command_.exporters = {"stacks"};
  const auto report = Report();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->table, HasSubstr("outer"));
  EXPECT_THAT(report->table, HasSubstr("Self CPU time total: 0.100us"));
  EXPECT_THAT(report->stacks,
              UnorderedElementsAre(Pair("process 7;outer", 70),
                                   Pair("process 7;outer;inner", 30)));
}

TEST_F(LargeRecordingTest, WhatNeedsTheWholeTraceSaysWhatToDo) {
  command_.exporters = {"chrome"};
  const absl::Status status = Report().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("--export=chrome needs the whole trace"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("--windows=never"));
}

TEST_F(LargeRecordingTest, WhatFitsIntoMemoryIsReadAtOnce) {
  command_.settings.erase("windows");
  const auto windows = OpenInWindows(command_);
  ASSERT_TRUE(windows.ok()) << windows.status();
  EXPECT_EQ(*windows, nullptr);
}

TEST_F(LargeRecordingTest, MaxMemorySaysWhatFits) {
  command_.settings.erase("windows");
  command_.settings["max_memory"] = "1MiB";
  EXPECT_EQ(OpenInWindows(command_).value(), nullptr);
  command_.settings["max_memory"] = "much";
  EXPECT_EQ(OpenInWindows(command_).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(LargeRecordingTest, AnotherWordForWindowsIsRefused) {
  command_.settings["windows"] = "sometimes";
  EXPECT_EQ(OpenInWindows(command_).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kymo::tools
