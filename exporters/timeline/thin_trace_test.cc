#include "exporters/timeline/thin_trace.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/timeline/bounded_file.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/thread_states.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo::timeline {
namespace {

using model::EventIndex;
using model::Loss;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Eight of everything.
model::Trace EightOfEach() {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.SetThreadTimes({{.track = main, .begin_ns = 1, .end_ns = 900}});
  t.SetCpuLimit({.quota_ns = 50, .period_ns = 100});
  t.SetKymoCpu(30);
  for (int i = 0; i < 8; ++i) {
    t.AddRange(main, "range", 100 * i, 100 * i + 10 + i % 4);
    t.AddInstant(main, "mark", 100 * i + 50);
    t.AddCounter(main, "queue", 100 * i, i);
    t.AddSample(main, 100 * i, 10 + i, {i % 2 == 0 ? "even" : "odd"});
    t.AddWait({.track = main, .begin_ns = 100 * i, .duration_ns = 10 - i});
    t.data().memory.push_back({.track = main,
                               .time_ns = 100 * i,
                               .address = 16,
                               .bytes = i % 2 == 0 ? 8 : -8,
                               .partner = static_cast<uint32_t>(i ^ 1)});
  }
  auto folded = std::make_shared<model::FoldedMemory>();
  folded->heaps.push_back({.track = main, .allocated = {.count = 5}});
  for (int i = 0; i < 8; ++i) folded->heaps[0].live.push_back({100 * i, i});
  t.data().folded_memory = std::move(folded);
  return std::move(t).Build();
}

// "name start" of each event.
std::vector<std::string> Events(const model::Trace& trace) {
  EXPECT_TRUE(model::ValidateTrace(trace).ok()) << model::ValidateTrace(trace);
  std::vector<std::string> texts;
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    texts.push_back(std::string(trace.EventName(i)) + " " +
                    std::to_string(trace.start()[i]));
  }
  return texts;
}

TEST(ThinTraceTest, TheLongestStayAndEveryNthOfWhatHasNoLength) {
  const model::Trace trace = EightOfEach();
  const ThinnedTrace thinned = ThinTrace(trace, 4);
  EXPECT_THAT(Events(thinned.trace),
              ElementsAre("mark 50", "range 300", "mark 450", "range 700"));
  ASSERT_EQ(thinned.trace.counters().size(), 2u);
  EXPECT_EQ(thinned.trace.counters()[1].value, 4);
  ASSERT_EQ(thinned.trace.samples().size(), 2u);
  EXPECT_EQ(thinned.trace.samples()[1].time_ns, 400);
  const auto& waits = thinned.trace.thread_states()->waits;
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[1].duration_ns, 9);
  EXPECT_EQ(thinned.trace.thread_states()->cpu_limit.quota_ns, 50);
  EXPECT_EQ(thinned.trace.thread_states()->kymo_cpu_ns, 30);
  // The blocks' partners are not there.
  ASSERT_EQ(thinned.trace.memory().size(), 2u);
  EXPECT_EQ(thinned.trace.memory()[1].time_ns, 400);
  EXPECT_EQ(thinned.trace.memory()[1].partner, model::kNoMemory);
  const model::FoldedHeap& heap = thinned.trace.folded_memory()->heaps[0];
  EXPECT_THAT(heap.live, ElementsAre(model::FoldedPoint{0, 0},
                                     model::FoldedPoint{400, 4}));
  EXPECT_EQ(heap.allocated.count, 5);
  EXPECT_EQ(thinned.left_out, 6 * 6u);
}

TEST(ThinTraceTest, SamplesAndWaitsThatGoAreAddedUp) {
  const model::Trace trace = EightOfEach();
  const ThinnedTrace thinned = ThinTrace(trace, 4);
  uint64_t count = 0;
  DurationNs weight_ns = 0;
  for (const model::SampleSum& sum : thinned.trace.sample_sums()) {
    count += sum.count;
    weight_ns += sum.weight_ns;
  }
  EXPECT_EQ(thinned.trace.sample_sums().size(), 2u);
  EXPECT_EQ(count, 6u);
  EXPECT_EQ(weight_ns, 8 * 10 + 28 - 10 - 14);
  const model::ThreadStates& states = *thinned.trace.thread_states();
  ASSERT_EQ(states.short_waits.size(), 1u);
  EXPECT_EQ(states.short_waits[0].count, 6u);
  EXPECT_EQ(states.short_waits[0].duration_ns, 8 + 7 + 6 + 5 + 4 + 3);
  EXPECT_EQ(states.short_waits[0].longest_ns, 8);
  EXPECT_EQ(states.threads[0].begin_ns, 0);
  // Of so small a part, not even all sums: one is 8 / 8 of two, rounded down.
  EXPECT_EQ(ThinTrace(trace, 16).trace.sample_sums().size(), 1u);
}

TEST(ThinTraceTest, EqualLengthsStayInTheirOrder) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  for (int i = 0; i < 6; ++i) t.AddRange(0, "a", 20 * i, 20 * i + 5);
  EXPECT_THAT(Events(ThinTrace(std::move(t).Build(), 3).trace),
              ElementsAre("a 0", "a 20"));
}

TEST(ThinTraceTest, NothingIsLeftOfNothing) {
  const model::Trace trace = EightOfEach();
  const ThinnedTrace thinned = ThinTrace(trace, kNothing);
  EXPECT_EQ(RecordCount(thinned.trace), 0u);
  EXPECT_THAT(Events(thinned.trace), IsEmpty());
  EXPECT_EQ(thinned.left_out, 6 * 8u);
  EXPECT_EQ(RecordCount(trace), 7 * 8u);
}

TEST(ThinTraceTest, WhatIsLeftOutIsCounted) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  for (int i = 0; i < 1'000; ++i) t.AddInstant(0, "mark", i);
  const model::Trace trace = std::move(t).Build();
  for (const size_t more : {0, 20'000}) {
    ExportNotes notes;
    ExportOptions options;
    options.notes = &notes;
    MemoryDirectory out;
    out.files()["f"] = out.files()["f.gz"] = "earlier";
    model::LossLedger in_file;
    const auto name = WriteBounded(
        {.name = "f", .max_bytes = 10'000}, trace, options, out,
        [&](const model::Trace& shown, const FileForm& form, ByteSink& sink) {
          in_file = LedgerOf(shown, form);
          return sink.Append(Noise(more + 100 * shown.event_count()));
        });
    ASSERT_TRUE(name.ok()) << name.status();
    if (more == 0) {
      EXPECT_EQ(*name, "f.gz");
      EXPECT_LE(out.files().at("f.gz").size(), 10'000u);
      // Every eleventh stays: a tenth would be a little too much.
      EXPECT_EQ(in_file.Get(Loss::kTimelineLeftOut), 909u);
      EXPECT_EQ(notes.ledger.Get(Loss::kTimelineLeftOut), 909u);
      EXPECT_THAT(
          notes.notices,
          ElementsAre("f.gz: 909 ranges and marks are left out, to stay "
                      "within --max_size; 0 shows each of them"));
    } else {
      EXPECT_EQ(*name, "");
      EXPECT_THAT(out.files(), IsEmpty());
      EXPECT_EQ(notes.ledger.Get(Loss::kTimelineLeftOut), 1'000u);
      EXPECT_THAT(notes.notices,
                  ElementsAre(HasSubstr("f is left out: even without records "
                                        "it would have 200")));
    }
  }
}

}  // namespace
}  // namespace kymo::timeline
