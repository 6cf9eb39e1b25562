#include "importers/sqlite/shard_rows.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "importers/sqlite/gpu_rows.h"
#include "profiler/base/strings.h"
#include "profiler/model/records.h"

namespace kymo::sqlite {
namespace {

using model::ActivityType;

TEST(ShardRowsTest, SortsByStartAndParentsFirst) {
  ShardRows rows;
  const auto stream = rows.Stream(7, 0, 13);
  const auto name = rows.Intern("copy");
  const auto add = [&](TimeNs start, std::optional<TimeNs> end) {
    EXPECT_TRUE(rows.Add(stream, {.start_ns = start,
                                  .end_ns = end,
                                  .name = name,
                                  .type = ActivityType::kGpuMemcpy}));
  };
  add(50, 60);
  rows.BeginDetail(42);
  rows.AddArg("bytes", int64_t{4096});
  add(10, 30);
  add(10, 40);
  add(10, std::nullopt);
  const ImportedTrace imported = std::move(rows).Finish();
  ASSERT_EQ(imported.shards.size(), 1u);
  const model::TraceShard& shard = imported.shards[0];
  ASSERT_EQ(shard.events.size(), 1u);
  const model::TrackEvents& events = shard.events[0];
  EXPECT_EQ(std::vector<TimeNs>(events.start_ns.begin(), events.start_ns.end()),
            (std::vector<TimeNs>{10, 10, 10, 50}));
  EXPECT_EQ(std::vector<TimeNs>(events.end_ns.begin(), events.end_ns.end()),
            (std::vector<TimeNs>{0, 40, 30, 60}));
  ASSERT_NE(events.detail[2], model::kNoDetail);
  EXPECT_EQ(events.detail[1], model::kNoDetail);
  EXPECT_EQ(shard.details[events.detail[2]].correlation_id, 42u);
  EXPECT_EQ(imported.start_ns, 10);
  EXPECT_EQ(imported.end_ns, 60);
}

TEST(ShardRowsTest, TimesThatCannotBeAreLeftOutAndCounted) {
  constexpr TimeNs kMax = std::numeric_limits<TimeNs>::max();
  constexpr TimeNs kMin = std::numeric_limits<TimeNs>::min();
  ShardRows rows;
  rows.SetOffset(1000);
  const auto thread = rows.Thread(1, 1);
  for (const auto& [start, end] :
       {std::pair<TimeNs, TimeNs>{kMin, 5}, {5, kMax}, {-1001, 5}, {kMax, 1}}) {
    rows.BeginDetail(1);
    EXPECT_FALSE(rows.Add(thread, {.start_ns = start, .end_ns = end}));
  }
  EXPECT_FALSE(rows.Add(thread, {.end_ns = 5}));
  EXPECT_TRUE(rows.Add(thread, {.start_ns = -1000, .end_ns = 5}));
  const ImportedTrace imported = std::move(rows).Finish();
  EXPECT_EQ(imported.shards[0].ledger.Get(model::Loss::kRecordsCorrupt), 5u);
  ASSERT_EQ(imported.findings.size(), 1u);
  EXPECT_EQ(imported.findings[0].rule, "time_impossible");
  EXPECT_EQ(imported.findings[0].count, 5u);
  // The detail of the event that was left out belongs to no event.
  ASSERT_EQ(imported.shards[0].events[0].size(), 1u);
  EXPECT_EQ(imported.shards[0].events[0].detail[0], model::kNoDetail);
}

TEST(ShardRowsTest, TimesUpToTheLastOneArePossible) {
  ShardRows rows;
  EXPECT_EQ(rows.TimeOf(kLastTime), kLastTime);
  EXPECT_EQ(rows.TimeOf(kLastTime + 1), std::nullopt);
  EXPECT_EQ(rows.TimeOf(0), 0);
  EXPECT_EQ(rows.TimeOf(-1), std::nullopt);
  EXPECT_EQ(rows.TimeOf(std::nullopt), std::nullopt);
  rows.SetOffset(kLastTime);
  EXPECT_EQ(rows.TimeOf(-kLastTime), 0);
  EXPECT_EQ(rows.TimeOf(1), std::nullopt);
  rows.SetOffset(kLastTime + 7);
  EXPECT_EQ(rows.TimeOf(-kLastTime), 7);
  EXPECT_EQ(rows.TimeOf(-kLastTime - 1), std::nullopt);
}

TEST(ShardRowsTest, TracksAreMadeOnce) {
  ShardRows rows;
  const auto thread = rows.Thread(7, 1);
  const auto stream = rows.Stream(7, 2, 1);
  EXPECT_NE(thread, stream);
  EXPECT_NE(rows.Stream(7, 3, 1), stream);
  EXPECT_NE(rows.Stream(8, 2, 1), stream);
  EXPECT_NE(rows.Stream(7, 2, 4), stream);
  EXPECT_EQ(rows.Stream(7, 2, 1), stream);
  EXPECT_EQ(rows.Thread(7, 1), thread);
  rows.SetThreadName(7, 1, rows.Intern("main"));
  rows.SetProcessName(7, "app");
  rows.AddMetadata("key", "1");
  EXPECT_EQ(rows.Name(rows.Intern("main")), "main");
  const ImportedTrace imported = std::move(rows).Finish();
  const model::TraceShard& shard = imported.shards[0];
  ASSERT_EQ(shard.tracks.size(), 5u);
  EXPECT_EQ(shard.strings.Get(shard.tracks[thread].name), "main");
  EXPECT_EQ(shard.tracks[stream].device_index, 2);
  EXPECT_EQ(shard.tracks[stream].id, 1);
  EXPECT_EQ(shard.tracks[stream].pid, 7);
  EXPECT_EQ(shard.strings.Get(shard.processes[0].name), "app");
  EXPECT_EQ(shard.strings.Get(shard.processes[0].command_line), "app");
  EXPECT_EQ(shard.strings.Get(shard.metadata[0].json_value), "1");
}

TEST(ShardRowsTest, InstantsEndWhereTheyStartAndAnnotationsAreTheUsers) {
  ShardRows rows;
  const auto thread = rows.Thread(7, 1);
  EXPECT_EQ(rows.event_count(), 0u);
  // At one time: an open range is around the others.
  EXPECT_TRUE(rows.Add(
      thread, {.start_ns = 5, .end_ns = 3, .flags = model::kEventInstant}));
  EXPECT_TRUE(rows.Add(thread, {.start_ns = 5}));
  EXPECT_TRUE(rows.Add(
      thread,
      {.start_ns = 9, .end_ns = 20, .type = ActivityType::kUserAnnotation}));
  EXPECT_EQ(rows.event_count(), 3u);
  rows.AddMemory({.track = thread, .time_ns = 40, .bytes = 8});
  const ImportedTrace imported = std::move(rows).Finish();
  const model::TrackEvents& events = imported.shards[0].events[0];
  EXPECT_EQ(std::vector<TimeNs>(events.end_ns.begin(), events.end_ns.end()),
            (std::vector<TimeNs>{0, 5, 20}));
  EXPECT_EQ(events.flags[1], model::kEventInstant);
  EXPECT_EQ(events.scope[0], model::RecordScope::kFunction);
  EXPECT_EQ(events.scope[2], model::RecordScope::kUserScope);
  EXPECT_EQ(imported.start_ns, 5);
  EXPECT_EQ(imported.end_ns, 40);
  EXPECT_EQ(imported.shards[0].memory.size(), 1u);
}

TEST(ShardRowsTest, ARuleIsOneFinding) {
  ShardRows rows;
  EXPECT_FALSE(rows.findings().Has("odd"));
  rows.LeaveOut(Severity::kWarning, "odd", "it is odd");
  rows.LeaveOut(Severity::kWarning, "odd", "it is odd");
  rows.findings().Add(Severity::kNote, "other", "another", 5);
  EXPECT_TRUE(rows.findings().Has("odd"));
  EXPECT_FALSE(rows.findings().Has("none"));
  const ImportedTrace imported = std::move(rows).Finish();
  ASSERT_EQ(imported.findings.size(), 2u);
  EXPECT_EQ(imported.findings[0].count, 2u);
  EXPECT_EQ(imported.findings[0].message, "it is odd");
  EXPECT_EQ(imported.findings[0].severity, Severity::kWarning);
  EXPECT_EQ(imported.findings[1].count, 5u);
  EXPECT_EQ(imported.shards[0].ledger.Get(model::Loss::kRecordsCorrupt), 2u);
}

// The only event, as "NAME START-END #CORRELATION KEY=VALUE ...".
std::string TextOf(ShardRows rows) {
  const ImportedTrace imported = std::move(rows).Finish();
  const model::TraceShard& shard = imported.shards[0];
  EXPECT_EQ(shard.events.size(), 1u);
  const model::TrackEvents& events = shard.events[0];
  EXPECT_EQ(events.size(), 1u);
  const model::Detail& detail = shard.details[events.detail[0]];
  std::string text = absl::StrCat(
      ToAbsl(shard.strings.Get(events.name[0])), " ", events.start_ns[0], "-",
      events.end_ns[0], " #", detail.correlation_id);
  for (uint32_t i = detail.args_begin; i < detail.args_end; ++i) {
    const model::Arg& arg = shard.args[i];
    absl::StrAppend(&text, "; ", ToAbsl(shard.strings.Get(arg.key)), "=");
    if (arg.has_text()) {
      absl::StrAppend(&text, ToAbsl(shard.strings.Get(arg.string_value())));
    } else if (arg.type == model::ArgType::kDouble) {
      absl::StrAppend(&text, arg.double_value());
    } else {
      absl::StrAppend(&text, arg.int_value());
    }
  }
  return text;
}

TEST(GpuRowsTest, KernelsHaveWhatTheFileTells) {
  const GpuWork work = {.pid = 7,
                        .device = 1,
                        .stream = 13,
                        .context = 2,
                        .start_ns = 100,
                        .end_ns = 300,
                        .correlation = 42,
                        .graph_node = 9};
  ShardRows all;
  AddKernel(all, work, all.Intern("gemm"),
            {.grid = {1, 2, 3},
             .block = {4, 5, 6},
             .registers = 32,
             .static_shared_bytes = 100,
             .dynamic_shared_bytes = 28});
  EXPECT_EQ(all.Stream(7, 1, 13), 0);
  EXPECT_EQ(TextOf(std::move(all)),
            "gemm 100-300 #42; context=2; graph node id=9; registers per "
            "thread=32; shared memory=128; grid=[1, 2, 3]; block=[4, 5, 6]");
  ShardRows little;
  AddKernel(little,
            {.start_ns = 0, .end_ns = 5, .correlation = -1, .graph_node = 0},
            little.Intern("k"),
            {.grid = {1, 2},
             .block = {std::nullopt, 2, 3},
             .static_shared_bytes = 8});
  EXPECT_EQ(TextOf(std::move(little)), "k 0-5 #0; shared memory=8");
  ShardRows dynamic;
  AddKernel(dynamic, {.start_ns = 1, .end_ns = 5}, dynamic.Intern("k"),
            {.grid = {1, std::nullopt, 3}, .dynamic_shared_bytes = 8});
  EXPECT_EQ(TextOf(std::move(dynamic)), "k 1-5 #0; shared memory=8");
}

TEST(GpuRowsTest, CopiesHaveBytesAndBandwidth) {
  const GpuWork work = {.start_ns = 100, .end_ns = 300, .correlation = 1};
  ShardRows copy;
  AddCopy(copy, work,
          {.kind = 10,
           .source = 3,
           .destination = 3,
           .bytes = 500,
           .source_device = 0,
           .destination_device = 1});
  // 500 bytes in 200 ns.
  EXPECT_EQ(TextOf(std::move(copy)),
            "Memcpy PtoP (Device -> Device) 100-300 #1; fromDevice=0; "
            "toDevice=1; bytes=500; memory bandwidth (GB/s)=2.5");
  ShardRows memset;
  AddMemset(memset, work, 3, 100);
  EXPECT_EQ(TextOf(std::move(memset)),
            "Memset (Device) 100-300 #1; bytes=100; memory bandwidth "
            "(GB/s)=0.5");
  ShardRows unknown;
  AddMemset(unknown, work, 3, std::nullopt);
  EXPECT_EQ(TextOf(std::move(unknown)), "Memset (Device) 100-300 #1");
  for (const GpuWork& timeless :
       {GpuWork{.start_ns = 100, .end_ns = 100}, {.start_ns = 100}}) {
    ShardRows no_time;
    AddMemset(no_time, timeless, 3, 100);
    EXPECT_THAT(TextOf(std::move(no_time)), testing::EndsWith("; bytes=100"));
  }
}

TEST(GpuRowsTest, WaitsAreAsynchronous) {
  ShardRows rows;
  AddSync(rows, {.start_ns = 100, .end_ns = 300}, 1, 77);
  AddSync(rows, {.start_ns = 100, .end_ns = 300}, 3, std::nullopt);
  const ImportedTrace imported = std::move(rows).Finish();
  EXPECT_EQ(imported.shards[0].events[0].flags[0], model::kEventAsync);
  EXPECT_EQ(imported.shards[0].events[0].type[0], ActivityType::kCudaSync);
  EXPECT_EQ(imported.shards[0].args.size(), 1u);
  EXPECT_EQ(imported.shards[0].args[0].int_value(), 77);
}

TEST(GpuRowsTest, WorkWithoutTimesIsLeftOut) {
  ShardRows rows;
  AddMemset(rows, {.start_ns = 0, .end_ns = 0}, 3, 100);
  AddMemset(rows, {}, 3, 100);
  EXPECT_EQ(rows.event_count(), 0u);
  AddMemset(rows, {.start_ns = 0, .end_ns = 1}, 3, 100);
  AddMemset(rows, {.device = -5, .start_ns = 1, .end_ns = 2}, 3, 100);
  AddMemset(rows, {.device = int64_t{1} << 40, .start_ns = 1, .end_ns = 2}, 3,
            100);
  EXPECT_EQ(rows.event_count(), 3u);
  const ImportedTrace imported = std::move(rows).Finish();
  ASSERT_EQ(imported.findings.size(), 1u);
  EXPECT_EQ(imported.findings[0].rule, "no_times");
  EXPECT_EQ(imported.findings[0].severity, Severity::kWarning);
  EXPECT_EQ(imported.findings[0].count, 2u);
  ASSERT_EQ(imported.shards[0].tracks.size(), 2u);
  EXPECT_EQ(imported.shards[0].tracks[0].device_index, 0);
  EXPECT_EQ(imported.shards[0].tracks[1].device_index, 0x7fffffff);
}

TEST(ShardRowsTest, NothingAddedIsAnEmptyShard) {
  const ImportedTrace imported = ShardRows().Finish();
  ASSERT_EQ(imported.shards.size(), 1u);
  EXPECT_TRUE(imported.shards[0].events.empty());
  EXPECT_EQ(imported.end_ns, 0);
}

TEST(ShardRowsTest, WhatIsLeftOutTakesItsDetailAlong) {
  ShardRows rows;
  rows.BeginDetail(42);
  rows.LeaveOut(Severity::kNote, "odd", "it is odd");
  EXPECT_TRUE(rows.Add(rows.Thread(7, 1), {.start_ns = 5, .end_ns = 6}));
  const ImportedTrace imported = std::move(rows).Finish();
  EXPECT_EQ(imported.shards[0].events[0].detail[0], model::kNoDetail);
}

TEST(ShardRowsTest, AWindowMayBeOneMoment) {
  ShardRows rows;
  EXPECT_TRUE(rows.Add(rows.Thread(7, 1),
                       {.start_ns = 5, .flags = model::kEventInstant}));
  const ImportedTrace imported = std::move(rows).Finish();
  EXPECT_EQ(imported.start_ns, 5);
  EXPECT_EQ(imported.end_ns, 5);
}

}  // namespace
}  // namespace kymo::sqlite
