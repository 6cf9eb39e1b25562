// What an exporter wrote, the importer of the same name reads back whole:
// samples, memory, counters and the ledger, for every format with both ends.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "exporters/builtin/builtin_exporters.h"
#include "importers/builtin/builtin_importers.h"
#include "importers/load/load.h"
#include "profiler/base/strings.h"
#include "profiler/events/averages/trace_averages.h"
#include "profiler/model/trace.h"
#include "profiler/model/trace_shard.h"
#include "profiler/normalize/normalize.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/sink.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using model::MemoryEvent;
using model::MemorySource;
using model::Trace;
using model::TrackIndex;

constexpr TimeNs kStartNs = 1'790'857'026'123'456'789;
// Of the second process, amid its records of memory.
constexpr TimeNs kExecNs = kStartNs + 20'000;

// What a sampled and annotated program with its heap and its counters leaves.
class RandomRecording {
 public:
  explicit RandomRecording(uint64_t seed) : random_(seed) {}

  Trace Make() {
    shard_.processes = {{.pid = 100, .name = Intern("app \"one\"")},
                        {.pid = 200, .parent_pid = 100, .name = Intern("sh")},
                        {.pid = 200, .name = Intern("sort")}};
    shard_.processes[1].start_ns = kStartNs;
    shard_.processes[2].start_ns = kExecNs;
    for (const int64_t pid : {100, 200}) {
      for (const int64_t tid : {pid, pid + 1, pid + 2}) {
        shard_.tracks.push_back(
            {.pid = pid, .id = tid, .name = Intern(Pick({"main", "worker"}))});
      }
    }
    for (TrackIndex t = 0; t < shard_.tracks.size(); ++t) {
      // One thread is only sampled, and one only counts allocations.
      if (t != 1) AddSamples(t);
      // One thread has no other samples than sums.
      for (uint64_t left = t == 1 ? 3 : Below(9); left > 0; --left) {
        shard_.sample_sums.push_back(
            {t, Stack(), 1 + Below(1'000),
             static_cast<DurationNs>(Below(1'000'000))});
      }
      if (t == 1 || OneIn(3)) {
        shard_.allocation_counts.push_back(
            {t, Below(1'000), Below(900), 1u << 20});
      }
      if (t == 0 || t == 1) continue;
      AddRanges(t);
      AddMemory(t);
      AddCounters(t);
    }
    // Round numbers, as programs use them, have other texts than others.
    shard_.sampling_period_ns =
        OneIn(2) ? 1'000'000 : static_cast<DurationNs>(1 + Below(2'000'000));
    shard_.memory_sample_interval = OneIn(2) ? 0 : 524'288;
    for (int i = 0; i < static_cast<int>(model::Loss::kCount); ++i) {
      // Normalisation finds these again by itself.
      const auto loss = static_cast<model::Loss>(i);
      if (loss != model::Loss::kRangesOpenAtEnd &&
          loss != model::Loss::kRangesOverlapping &&
          loss != model::Loss::kFreesNotSeen && OneIn(2)) {
        shard_.ledger.Add(loss, Below(1'000));
      }
    }
    shard_.ledger.AddOfBackend("ticks", "ticks \"late\" (missed)",
                               1 + Below(1'000));
    shard_.ledger.AddPart({model::Loss::kRanksAbsent, "ranks 2-3", "killed"},
                          2);
    std::vector<model::TraceShard> shards;
    shards.push_back(std::move(shard_));
    absl::StatusOr<Trace> trace =
        Normalize(std::move(shards),
                  {.start_ns = kStartNs, .end_ns = kStartNs + 1'000'000'000});
    EXPECT_TRUE(trace.ok()) << trace.status();
    return *std::move(trace);
  }

 private:
  uint64_t Below(uint64_t limit) { return random_() % limit; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  model::NameId Intern(std::string_view text) {
    return shard_.strings.Intern(text);
  }
  std::string_view Pick(std::initializer_list<std::string_view> names) {
    return names.begin()[Below(names.size())];
  }

  // A stack near the one before it, as a program's are.
  model::StackId Stack() {
    model::StackId stack = model::kEmptyStack;
    for (uint64_t depth = Below(OneIn(50) ? 600 : 12); depth > 0; --depth) {
      stack = shard_.stacks.Push(
          stack, shard_.stacks.AddFrame(
                     {.function = Intern(Pick({"main", "f", "g<\"x\">", ""})),
                      .file = Intern(Pick({"a.cc", "C:\\b:7.cc", ""})),
                      .module = Intern(Pick({"/bin/app", "[kernel]", ""})),
                      .line = static_cast<uint32_t>(Below(4)),
                      .address = OneIn(5) ? ~uint64_t{0} : Below(100),
                      .is_inlined = OneIn(3),
                      .is_kernel = OneIn(3),
                      .is_resolved = OneIn(3)}));
    }
    return stack;
  }

  void AddSamples(TrackIndex track) {
    TimeNs now = kStartNs + static_cast<TimeNs>(Below(1'000));
    for (int i = 0; i < 300; ++i) {
      // Some at one time, some behind a gap.
      now += static_cast<TimeNs>(OneIn(9) ? 0 : Below(OneIn(9) ? 30'000 : 999));
      shard_.samples.push_back(
          {track, Stack(), now, static_cast<DurationNs>(Below(2'000))});
    }
  }

  void AddRanges(TrackIndex track) {
    model::TrackEvents events;
    events.track = track;
    for (TimeNs i = 0; i < 50; ++i) {
      events.start_ns.push_back(kStartNs + 100 * i);
      events.end_ns.push_back(kStartNs + 100 * i + 70);
      events.name.push_back(Intern("work"));
      events.type.push_back(model::ActivityType::kCpuOp);
      events.scope.push_back(RecordScope::kFunction);
      events.flags.push_back(0);
    }
    shard_.events.push_back(std::move(events));
  }

  void AddMemory(TrackIndex track) {
    TimeNs now = kStartNs;
    std::vector<model::MemoryRecord> alive;
    for (uint64_t i = 0; i < 200; ++i) {
      const bool was_before = now < kExecNs;
      now += static_cast<TimeNs>(Below(500));
      if (was_before && now >= kExecNs) alive.clear();
      if (!alive.empty() && OneIn(3)) {
        model::MemoryRecord free = alive.back();
        alive.pop_back();
        free.time_ns = now;
        free.bytes = -free.bytes;
        // As the heap's recorder does. The others know what is freed.
        if (free.source == MemorySource::kHeap) {
          free.event = MemoryEvent::kFreeOfUnknown;
        }
        free.stack = OneIn(2) ? Stack() : model::kEmptyStack;
        shard_.memory.push_back(free);
        continue;
      }
      const auto source = static_cast<MemorySource>(Below(3));
      const bool on_device = source == MemorySource::kReported && OneIn(2);
      const bool failed = OneIn(20);
      const model::MemoryRecord record = {
          .track = track,
          .event =
              failed ? MemoryEvent::kOutOfMemory : MemoryEvent::kAllocation,
          .source = source,
          .device_type = static_cast<int8_t>(on_device ? 1 : 0),
          .device_index = static_cast<int8_t>(on_device ? Below(4) : -1),
          .time_ns = now,
          .address = failed ? 0 : (uint64_t{track} << 60) + 4096 * (i + 1),
          .bytes = source == MemorySource::kHeap && OneIn(9)
                       ? 0
                       : static_cast<int64_t>(1 + Below(1u << 30)),
          .total_allocated = source == MemorySource::kReported
                                 ? static_cast<int64_t>(Below(1u << 30))
                                 : 0,
          .total_reserved = static_cast<int64_t>(Below(3)),
          .stack = OneIn(4) ? model::kEmptyStack : Stack()};
      shard_.memory.push_back(record);
      if (!failed) alive.push_back(record);
    }
  }

  void AddCounters(TrackIndex track) {
    for (TimeNs i = 0; i < 20; ++i) {
      shard_.counters.push_back(
          {track, Intern(Pick({"queue", "load \"1\"", "Memory: mine"})),
           kStartNs + 1'000 * i, static_cast<double>(random_()) / 3});
    }
  }

  std::mt19937_64 random_;
  model::TraceShard shard_;
};

std::string Thread(const Trace& trace, TrackIndex track) {
  const model::Track& t = trace.tracks()[track];
  return absl::StrCat(t.pid, "/", t.id, " ", ToAbsl(trace.Name(t.name)));
}

std::string StackText(const Trace& trace, model::StackId stack) {
  std::string text;
  for (const model::FrameId id : trace.stacks().Frames(stack)) {
    const model::Frame& f = trace.stacks().frame(id);
    absl::StrAppend(&text, ";", ToAbsl(trace.Name(f.function)), "|",
                    ToAbsl(trace.Name(f.file)), "|",
                    ToAbsl(trace.Name(f.module)), "|", f.line, "|", f.address,
                    f.is_inlined, f.is_kernel, f.is_resolved);
  }
  return text;
}

std::vector<std::string> Samples(const Trace& trace) {
  std::vector<std::string> lines = {
      absl::StrCat("period ", trace.sampling_period_ns())};
  for (const model::StackSample& sample : trace.samples()) {
    lines.push_back(absl::StrCat(Thread(trace, sample.track), " ",
                                 sample.time_ns, " ", sample.weight_ns,
                                 StackText(trace, sample.stack)));
  }
  std::vector<std::string> sums;
  for (const model::SampleSum& sum : trace.sample_sums()) {
    sums.push_back(absl::StrCat("sum ", Thread(trace, sum.track), " ",
                                sum.count, " ", sum.weight_ns,
                                StackText(trace, sum.stack)));
  }
  std::sort(sums.begin(), sums.end());
  lines.insert(lines.end(), sums.begin(), sums.end());
  return lines;
}

std::vector<std::string> Memory(const Trace& trace) {
  std::vector<std::string> lines = {
      absl::StrCat("interval ", trace.memory_sample_interval())};
  for (const model::MemoryRecord& record : trace.memory()) {
    lines.push_back(absl::StrCat(
        Thread(trace, record.track), " ", record.time_ns, " ",
        static_cast<int>(record.event), static_cast<int>(record.source), " ",
        int{record.device_type}, "/", int{record.device_index}, " ",
        record.address, " ", record.bytes, " ", record.total_allocated, " ",
        record.total_reserved, " ", record.partner,
        StackText(trace, record.stack)));
  }
  for (const model::AllocationCounts& counts : trace.allocation_counts()) {
    lines.push_back(absl::StrCat(Thread(trace, counts.track), " ",
                                 counts.allocations, " ", counts.frees, " ",
                                 counts.allocated_bytes));
  }
  return lines;
}

std::vector<std::string> Counters(const Trace& trace) {
  std::vector<std::string> lines;
  for (const model::CounterSample& counter : trace.counters()) {
    lines.push_back(absl::StrCat(
        counter.time_ns, " ", trace.tracks()[counter.track].pid, " ",
        ToAbsl(trace.Name(counter.name)), " ", counter.value));
  }
  return lines;
}

std::map<std::string, uint64_t> Ledger(const Trace& trace) {
  std::map<std::string, uint64_t> counts;
  for (int i = 0; i < static_cast<int>(model::Loss::kCount); ++i) {
    const auto loss = static_cast<model::Loss>(i);
    counts[std::string(model::LossName(loss))] = trace.ledger().Get(loss);
  }
  return counts;
}

TEST(RoundTripTest, WhatWasWrittenIsReadBackWhole) {
  ExporterRegistry exporters;
  ImporterRegistry importers;
  ASSERT_TRUE(RegisterBuiltinExporters(exporters).ok());
  ASSERT_TRUE(RegisterBuiltinImporters(importers).ok());
  int formats = 0;
  for (const TraceExporter* const exporter : exporters.List()) {
    const std::string& format = exporter->info().name;
    if (importers.Find(format) == nullptr) continue;
    ++formats;
    for (uint64_t seed = 0; seed < 8; ++seed) {
      const Trace before = RandomRecording(seed).Make();
      OutputDirectory out(
          absl::StrCat(::testing::TempDir(), "/", format, seed));
      const auto names = exporter->Export(before, {.gzip = seed % 2 == 1}, out);
      ASSERT_TRUE(names.ok()) << names.status();
      const auto loaded = Load({out.path() + "/" + names->at(0)},
                               {.importer = format}, importers);
      ASSERT_TRUE(loaded.ok()) << loaded.status();
      EXPECT_TRUE(loaded->files[0].findings.empty());
      const Trace& after = loaded->trace;
      EXPECT_EQ(Samples(after), Samples(before)) << format << seed;
      EXPECT_EQ(Memory(after), Memory(before)) << format << seed;
      EXPECT_THAT(Counters(after),
                  ::testing::UnorderedElementsAreArray(Counters(before)))
          << format << seed;
      EXPECT_EQ(Ledger(after), Ledger(before)) << format << seed;
      if (format != "chrome") continue;  // Others have the sums.
      EXPECT_EQ(after.ledger().parts(), before.ledger().parts()) << seed;
    }
  }
  EXPECT_GE(formats, 1);
}

// By name: calls, total and self time in us, as the table has them.
std::map<std::string, std::vector<int64_t>> Averages(const Trace& trace) {
  const auto averages = AveragesOfTrace(trace, {}, {});
  EXPECT_TRUE(averages.ok()) << averages.status();
  std::map<std::string, std::vector<int64_t>> sums;
  for (const FunctionEventAvg& row : *averages) {
    sums[row.key] = {row.count, std::lround(row.cpu_time_total),
                     std::lround(row.self_cpu_time_total)};
  }
  return sums;
}

TEST(RoundTripTest, AFoldedFileKeepsCallsAndTimes) {
  TestTrace t;
  t.AddProcess(1, "app");
  const TrackIndex main = t.AddThread(1, 1, "main");
  t.AddRange(main, "outer", kStartNs, kStartNs + 10'000'000'000);
  for (int i = 0; i < 20'000; ++i) {
    const TimeNs start = kStartNs + 100'000 * i;
    t.AddRange(main, i % 3 == 0 ? "read" : "write", start,
               start + 1'000 * (1 + i % 7));
  }
  t.SetWindow(kStartNs, kStartNs + 10'000'000'000);
  const Trace before = std::move(t).Build();
  ExporterRegistry exporters;
  ImporterRegistry importers;
  ASSERT_TRUE(RegisterBuiltinExporters(exporters).ok());
  ASSERT_TRUE(RegisterBuiltinImporters(importers).ok());
  OutputDirectory out(::testing::TempDir() + "/folded");
  ExportNotes notes;
  const auto names = exporters.Find("chrome")->Export(
      before, {.max_bytes = 10'000, .notes = &notes}, out);
  ASSERT_TRUE(names.ok()) << names.status();
  ASSERT_THAT(*names, ::testing::ElementsAre("trace.json.gz"));
  const auto loaded = Load({out.path() + "/trace.json.gz"}, {}, importers);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_LT(loaded->trace.event_count(), 10'000u);
  EXPECT_EQ(Averages(loaded->trace), Averages(before));
  const uint64_t folded = notes.ledger.Get(model::Loss::kEventsFolded);
  EXPECT_GT(folded, 10'000u);
  EXPECT_EQ(loaded->trace.ledger().Get(model::Loss::kEventsFolded), folded);
}

}  // namespace
}  // namespace kymo
