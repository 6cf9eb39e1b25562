// What becomes of every table of two shards.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "profiler/model/folded_memory.h"
#include "profiler/normalize/normalize.h"
#include "profiler/normalize/test_normalize.h"
#include "tests/support/test_shard.h"

namespace kymo {
namespace {

using model::Loss;
using model::MemorySource;
using model::Trace;
using model::TraceShard;
using model::TrackIndex;
using ::testing::ElementsAre;
using Texts = std::vector<std::string>;

std::string Name(const Trace& trace, model::NameId id) {
  return std::string(trace.Name(id));
}

// "function (file:line in module @address)", innermost first.
std::string StackText(const Trace& trace, model::StackId stack) {
  std::string text;
  for (; stack != model::kEmptyStack; stack = trace.stacks().parent(stack)) {
    const model::Frame& frame =
        trace.stacks().frame(trace.stacks().leaf(stack));
    absl::StrAppend(&text, Name(trace, frame.function), " (",
                    Name(trace, frame.file), ":", frame.line, " in ",
                    Name(trace, frame.module), " @", frame.address, ");");
  }
  return text;
}

// The first shard knows process 7 before its exec; the second one afterwards,
// and process 3. Both have thread 8, and the second one a thread before it.
std::vector<TraceShard> TwoShards() {
  std::vector<TraceShard> shards;
  TestShard first;
  first.shard().processes.push_back({.pid = 7,
                                     .parent_pid = 1,
                                     .name = first.Intern("sh"),
                                     .command_line = first.Intern("sh -c app"),
                                     .start_ns = 100,
                                     .end_ns = 900});
  const TrackIndex a = first.AddThread(7, 8, "old name");
  first.shard().tracks[a].logical_id = 1;
  first.AddRange(a, "op", 200, 300, model::ActivityType::kCpuOp,
                 {model::Arg::Int(first.Intern("size"), 5)});
  first.shard().rare_details.Set(first.shard().details.back(), {.node_id = 3});
  first.shard().counters = {{a, first.Intern("queue"), 250, 2},
                            {a, first.Intern("queue"), 220, 1}};
  first.shard().allocation_counts.push_back({a, 10, 9, 640});
  first.shard().memory_sample_interval = 64;
  first.shard().sampling_period_ns = 10;
  first.shard().metadata = {{first.Intern("host"), first.Intern("\"a\"")},
                            {first.Intern("rank"), first.Intern("0")}};
  first.shard().ledger.Add(Loss::kSamplesLost, 2);
  first.AddSample(a, 260, 10, {"main", "op"});
  shards.push_back(std::move(first).Build());

  TestShard second;
  second.Intern("moves the ids");
  second.shard().processes = {
      {.pid = 3, .name = second.Intern("other")},
      {.pid = 7, .name = second.Intern("app"), .start_ns = 150, .end_ns = 800}};
  second.shard().tracks.push_back({.kind = model::TrackKind::kStream,
                                   .pid = 7,
                                   .id = 7,
                                   .device_index = 0,
                                   .name = second.Intern("stream")});
  second.shard().events.emplace_back().track = 0;
  const TrackIndex b = second.AddThread(7, 8, "new name");
  const TrackIndex c = second.AddThread(3, 4, "");
  second.shard().tracks[c].logical_id = 2;
  const model::StackId stack = second.shard().stacks.Push(
      model::kEmptyStack,
      second.shard().stacks.AddFrame({.function = second.Intern("mm"),
                                      .file = second.Intern("mm.cc"),
                                      .module = second.Intern("/bin/app"),
                                      .line = 7,
                                      .address = 0x48}));
  second.AddRange(
      b, "inner", 210, 290, model::ActivityType::kCpuOp,
      {model::Arg::Int(second.Intern("size"), 6),
       model::Arg::String(second.Intern("mode"), second.Intern("fast"))});
  model::Detail& detail = second.shard().details.back();
  detail.correlation_id = 77;
  detail.overload_name = second.Intern("out");
  detail.inputs = second.Intern("encoded");
  detail.stack = stack;
  second.shard().rare_details.Set(detail, {.node_id = 4});
  second.AddRange(0, "kernel", 230, 280,
                  model::ActivityType::kConcurrentKernel);
  second.shard().counters = {{b, second.Intern("queue"), 230, 3},
                             {c, second.Intern("depth"), 240, 4}};
  second.shard().memory.push_back({.track = b,
                                   .source = MemorySource::kHeap,
                                   .time_ns = 240,
                                   .address = 16,
                                   .bytes = 64,
                                   .stack = stack});
  second.shard().memory.push_back({.track = c,
                                   .source = MemorySource::kHeap,
                                   .time_ns = 230,
                                   .address = 16,
                                   .bytes = 1'000});
  second.shard().allocation_counts.push_back({c, 1, 0, 8});
  second.shard().memory_sample_interval = 32;
  second.shard().sampling_period_ns = 20;
  second.shard().samples = {{b, stack, 215, 20}};
  second.shard().sample_sums = {
      {b, stack, 5, 50}, {c, stack, 2, 20}, {b, stack, 3, 30}};
  second.shard().metadata = {{second.Intern("host"), second.Intern("\"b\"")},
                             {second.Intern("job"), second.Intern("1")}};
  second.shard().ledger.Add(Loss::kSamplesLost, 3);
  shards.push_back(std::move(second).Build());
  return shards;
}

TEST(MergeTest, ProcessesAreWhatTheyBecame) {
  const Trace trace = Build(TwoShards());
  Texts texts;
  for (const model::Process& p : trace.processes()) {
    texts.push_back(absl::StrCat(
        p.pid, " of ", p.parent_pid, " ", Name(trace, p.name), " '",
        Name(trace, p.command_line), "' ", p.start_ns, "-", p.end_ns));
  }
  EXPECT_THAT(texts, ElementsAre("3 of 0 other '' 0-0",
                                 "7 of 1 app 'sh -c app' 100-900"));
}

TEST(MergeTest, TracksStandByProcessKindAndId) {
  const Trace trace = Build(TwoShards());
  Texts texts;
  for (const model::Track& t : trace.tracks()) {
    texts.push_back(absl::StrCat(
        t.kind == model::TrackKind::kThread ? "thread " : "stream ", t.pid, "/",
        t.id, " on ", t.device_index, " #", t.logical_id, " ",
        Name(trace, t.name)));
  }
  EXPECT_THAT(
      texts, ElementsAre("thread 3/4 on -1 #2 ", "thread 7/8 on -1 #1 new name",
                         "stream 7/7 on 0 #0 stream"));
}

TEST(MergeTest, EventsKeepTheirDetails) {
  const Trace trace = Build(TwoShards());
  EXPECT_EQ(Tree(trace), "op inner<op kernel");
  ASSERT_EQ(trace.args(0).size(), 1u);
  EXPECT_EQ(trace.args(0)[0].int_value(), 5);
  ASSERT_EQ(trace.args(1).size(), 2u);
  EXPECT_EQ(Name(trace, trace.args(1)[0].key), "size");
  EXPECT_EQ(trace.args(1)[0].int_value(), 6);
  EXPECT_EQ(Name(trace, trace.args(1)[1].key), "mode");
  EXPECT_EQ(Name(trace, trace.args(1)[1].string_value()), "fast");
  const model::Detail& detail = *trace.detail(1);
  EXPECT_EQ(detail.correlation_id, 77u);
  EXPECT_EQ(Name(trace, detail.overload_name), "out");
  EXPECT_EQ(Name(trace, detail.inputs), "encoded");
  EXPECT_EQ(StackText(trace, detail.stack), "mm (mm.cc:7 in /bin/app @72);");
  EXPECT_EQ(trace.rare(detail).node_id, 4);
  EXPECT_EQ(trace.rare(*trace.detail(0)).node_id, 3);
  EXPECT_EQ(trace.detail(2), nullptr);
}

TEST(MergeTest, RecordsStandByTrackAndTime) {
  const Trace trace = Build(TwoShards());
  Texts counters;
  for (const model::CounterSample& c : trace.counters()) {
    counters.push_back(absl::StrCat(c.track, " ", Name(trace, c.name), " ",
                                    c.time_ns, "=", c.value));
  }
  EXPECT_THAT(counters, ElementsAre("0 depth 240=4", "1 queue 220=1",
                                    "1 queue 230=3", "1 queue 250=2"));
  Texts samples;
  for (const model::StackSample& s : trace.samples()) {
    samples.push_back(absl::StrCat(s.track, " ", s.time_ns, "+", s.weight_ns,
                                   " ", StackText(trace, s.stack)));
  }
  EXPECT_THAT(samples,
              ElementsAre("1 215+20 mm (mm.cc:7 in /bin/app @72);",
                          "1 260+10 op (:0 in  @0);main (:0 in  @0);"));
  Texts sums;
  for (const model::SampleSum& s : trace.sample_sums()) {
    sums.push_back(absl::StrCat(s.track, " ", s.count, " ", s.weight_ns, " ",
                                StackText(trace, s.stack)));
  }
  EXPECT_THAT(sums, ElementsAre("0 2 20 mm (mm.cc:7 in /bin/app @72);",
                                "1 8 80 mm (mm.cc:7 in /bin/app @72);"));
  ASSERT_EQ(trace.memory().size(), 2u);
  EXPECT_EQ(trace.memory()[0].track, 0u);
  EXPECT_EQ(trace.memory()[0].bytes, 1'000);
  EXPECT_EQ(trace.memory()[0].partner, model::kNoMemory);
  EXPECT_EQ(trace.memory()[1].track, 1u);
  EXPECT_EQ(StackText(trace, trace.memory()[1].stack),
            "mm (mm.cc:7 in /bin/app @72);");
  ASSERT_EQ(trace.allocation_counts().size(), 2u);
  EXPECT_EQ(trace.allocation_counts()[0].track, 0u);
  EXPECT_EQ(trace.allocation_counts()[0].allocated_bytes, 8u);
  EXPECT_EQ(trace.allocation_counts()[1].track, 1u);
  EXPECT_EQ(trace.allocation_counts()[1].frees, 9u);
}

// Each part of a trace that was split has the counts of the whole recording.
TEST(MergeTest, EqualCountsOfSeveralShardsAreOne) {
  std::vector<TraceShard> shards;
  for (const uint64_t frees : {1, 1, 2}) {
    TestShard builder;
    const TrackIndex a = builder.AddThread(1, 1, "a");
    const TrackIndex b = builder.AddThread(1, 2, "b");
    builder.shard().allocation_counts = {
        {b, 3, frees, 8}, {a, 3, 1, 8}, {a, 3, 1, 8}};
    shards.push_back(std::move(builder).Build());
  }
  Texts counts;
  const Trace trace = Build(std::move(shards));
  for (const model::AllocationCounts& c : trace.allocation_counts()) {
    counts.push_back(absl::StrCat(c.track, ": ", c.allocations, " ", c.frees,
                                  " ", c.allocated_bytes));
  }
  EXPECT_THAT(counts, ElementsAre("0: 6 2 16", "1: 3 1 8", "1: 3 2 8"));
}

TEST(MergeTest, PartsOfARecordingHaveTheSameLosses) {
  std::vector<TraceShard> shards;
  for (const char* const recording : {"\"1-9\"", "\"1-9\"", "\"2-9\"", ""}) {
    TestShard builder;
    if (*recording != 0) {
      builder.shard().metadata = {
          {builder.Intern("kymo_recording"), builder.Intern(recording)}};
    }
    builder.shard().ledger.Add(Loss::kSamplesLost, 5);
    builder.shard().ledger.AddOfBackend("my_net", "packets", 2);
    shards.push_back(std::move(builder).Build());
  }
  shards[1].ledger.Add(Loss::kRecordsCorrupt, 1);
  const Trace trace = Build(std::move(shards));
  EXPECT_EQ(trace.ledger().Get(Loss::kSamplesLost), 15u);
  EXPECT_EQ(trace.ledger().Get(Loss::kRecordsCorrupt), 1u);
  EXPECT_EQ(trace.ledger().Get(Loss::kBackendRecordsLost), 6u);
  EXPECT_EQ(trace.ledger().parts().begin()->second, 6u);
}

TEST(MergeTest, WhatIsSaidTwiceIsSaidOnce) {
  const Trace trace = Build(TwoShards());
  Texts metadata;
  for (const model::Metadata& entry : trace.metadata()) {
    metadata.push_back(absl::StrCat(Name(trace, entry.key), "=",
                                    Name(trace, entry.json_value)));
  }
  EXPECT_THAT(metadata, ElementsAre("host=\"a\"", "job=1", "rank=0"));
  EXPECT_EQ(trace.ledger().Get(Loss::kSamplesLost), 5u);
  EXPECT_EQ(trace.memory_sample_interval(), 64);
  EXPECT_EQ(trace.sampling_period_ns(), 20);
}

// From the first to the last time of events, samples and counters. A range
// that is open has no end.
TEST(MergeTest, TheWindowIsFoundUnlessItIsGiven) {
  const auto window = [](auto add) {
    TestShard shard;
    const TrackIndex t = shard.AddThread(1, 1, "main");
    shard.AddRange(t, "op", 500, 600);
    add(shard, t);
    const Trace trace = Build(std::move(shard));
    return std::pair(trace.start_ns(), trace.end_ns());
  };
  using Window = std::pair<TimeNs, TimeNs>;
  EXPECT_EQ(window([](TestShard&, TrackIndex) {}), Window(500, 600));
  EXPECT_EQ(
      window([](TestShard& s, TrackIndex t) { s.AddRange(t, "open", 700, 0); }),
      Window(500, 700));
  EXPECT_EQ(window([](TestShard& s, TrackIndex t) {
              s.AddSample(t, 400, 1, {"f"});
              s.AddSample(t, 650, 1, {"f"});
            }),
            Window(400, 650));
  EXPECT_EQ(window([](TestShard& s, TrackIndex t) {
              s.shard().counters = {{t, s.Intern("c"), 300, 1},
                                    {t, s.Intern("c"), 660, 1}};
            }),
            Window(300, 660));
  EXPECT_EQ(window([](TestShard& s, TrackIndex t) {
              s.shard().block.parts.push_back({t, 1});
              s.shard().block.start_ns.push_back(200);
              s.shard().block.end_ns.push_back(900);
              s.shard().block.name.push_back(s.Intern("block"));
              s.shard().block.type.push_back(model::ActivityType::kCpuOp);
              s.shard().block.scope.push_back(RecordScope::kFunction);
              s.shard().block.flags.push_back(0);
            }),
            Window(200, 900));
  // One of the two bounds is enough to give a window.
  TestShard shard;
  shard.AddRange(shard.AddThread(1, 1, "main"), "op", 500, 600);
  const Trace given = Build(std::move(shard), {.start_ns = 0, .end_ns = 550});
  EXPECT_EQ(given.start_ns(), 0);
  EXPECT_EQ(given.end_ns(), 550);
}

TEST(MergeTest, ThreadsOfOneTrackShareAFoldedStack) {
  TestShard shard;
  const TrackIndex a = shard.AddThread(1, 8, "a");
  const TrackIndex b = shard.AddThread(1, 8, "b");  // the same thread
  const TrackIndex c = shard.AddThread(1, 7, "c");
  const auto stack_of = [&](const char* function) {
    return shard.shard().stacks.Push(
        model::kEmptyStack,
        shard.shard().stacks.AddFrame({.function = shard.Intern(function)}));
  };
  const model::StackId f = stack_of("f");
  const model::StackId g = stack_of("g");
  auto folded = std::make_shared<model::FoldedMemory>();
  folded->heaps.push_back(
      {.track = b,
       .stacks = {{a, g, {1, 10}, {2, 20}, {3, 30}, {4, 40}},
                  {b, g, {1, 1}, {1, 2}, {1, 3}, {1, 4}},
                  {a, f, {1, 5}, {}, {}, {}},
                  {c, g, {1, 6}, {}, {}, {}}}});
  shard.shard().folded_memory = std::move(folded);
  const Trace trace = Build(std::move(shard));
  const model::FoldedHeap& heap = trace.folded_memory()->heaps[0];
  EXPECT_EQ(heap.track, 1u);
  Texts texts;
  for (const model::FoldedStack& stack : heap.stacks) {
    const auto sum = [](const model::BlockSum& blocks) {
      return absl::StrCat(blocks.count, ":", blocks.bytes, " ");
    };
    texts.push_back(absl::StrCat(
        stack.track, " ", StackText(trace, stack.stack).substr(0, 1), " ",
        sum(stack.allocated), sum(stack.temporary), sum(stack.alive),
        sum(stack.at_peak)));
  }
  EXPECT_THAT(texts, ElementsAre("0 g 1:6 0:0 0:0 0:0 ", "1 f 1:5 0:0 0:0 0:0 ",
                                 "1 g 2:11 3:22 4:33 5:44 "));
}

// An exec begins a new heap. Its time is that of the later description, which
// may stand first.
TEST(MergeTest, AnExecBeginsANewHeap) {
  for (const std::vector<TimeNs>& starts :
       {std::vector<TimeNs>{100, 200}, {200, 100}, {100}}) {
    const bool has_exec = starts.size() == 2;
    TestShard shard;
    for (const TimeNs start_ns : starts) {
      shard.shard().processes.push_back({.pid = 1, .start_ns = start_ns});
    }
    const TrackIndex t = shard.AddThread(1, 1, "main");
    shard.AddRange(t, "op", 100, 400);
    for (const TimeNs time_ns : {150, 199, 200, 250}) {
      shard.shard().memory.push_back({.track = t,
                                      .source = MemorySource::kHeap,
                                      .time_ns = time_ns,
                                      .address = 16,
                                      .bytes = 8});
    }
    const Trace trace = Build(std::move(shard));
    EXPECT_EQ(trace.memory()[0].partner, 1u);
    EXPECT_EQ(trace.memory()[1].partner, 2u);  // also if the exec ended it
    EXPECT_EQ(trace.memory()[2].partner, 3u);
    EXPECT_EQ(trace.ledger().Get(Loss::kFreesNotSeen), has_exec ? 2u : 3u);
  }
}

// Its columns become the trace's without a copy only if its names do.
TEST(MergeTest, ABlockWhoseNamesMoveKeepsThem) {
  for (const bool moves : {false, true}) {
    TestShard first;
    if (moves) first.Intern("takes the first number");
    TestShard second;
    const TrackIndex t = second.AddThread(1, 1, "main");
    model::EventBlock& block = second.shard().block;
    block.parts.push_back({t, 2});
    block.start_ns = {10, 20};
    block.end_ns = {40, 30};
    block.name = {second.Intern("outer"), second.Intern("inner")};
    block.type = {model::ActivityType::kCpuOp, model::ActivityType::kCpuOp};
    block.scope = {RecordScope::kFunction, RecordScope::kFunction};
    block.flags = {0, 0};
    block.depth = {0, 1};
    std::vector<TraceShard> shards;
    shards.push_back(std::move(first).Build());
    shards.push_back(std::move(second).Build());
    EXPECT_EQ(Tree(Build(std::move(shards))), "outer inner<outer") << moves;
  }
}

}  // namespace
}  // namespace kymo
