// Also the other places where ranges and samples are put together: pairs of
// ends, and Kymo's exact records.
#include "importers/chrome/flame_samples.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "importers/chrome/exact_records.h"
#include "importers/chrome/range_pairs.h"

namespace kymo::chrome_import {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Slice {
  TimeNs start;
  TimeNs end;
  const char* name;
};

class FlameSamplesTest : public testing::Test {
 protected:
  // The samples, as "time+weight stack", functions outermost first.
  std::vector<std::string> Samples(const std::vector<Slice>& slices) {
    shard_ = {};
    std::vector<Range> ranges;
    for (const Slice& slice : slices) {
      ranges.push_back({.start = slice.start,
                        .end = slice.end,
                        .name = shard_.strings.Intern(slice.name)});
    }
    AddFlameSamples(std::move(ranges), /*track=*/3, shard_);
    std::vector<std::string> samples;
    for (const model::StackSample& sample : shard_.samples) {
      EXPECT_EQ(sample.track, 3u);
      std::string stack;
      for (model::StackId s = sample.stack; s != model::kEmptyStack;
           s = shard_.stacks.parent(s)) {
        const model::Frame& frame = shard_.stacks.frame(shard_.stacks.leaf(s));
        stack.insert(0, std::string(shard_.strings.Get(frame.function)));
      }
      samples.push_back(std::to_string(sample.time_ns) + "+" +
                        std::to_string(sample.weight_ns) + " " + stack);
    }
    return samples;
  }

  model::TraceShard shard_;
};

TEST_F(FlameSamplesTest, ASliceLastsUntilTheNextSample) {
  EXPECT_THAT(Samples({}), IsEmpty());
  EXPECT_THAT(Samples({{0, 4, "a"}, {4, 8, "b"}}),
              ElementsAre("0+4 a", "4+4 b"));
  EXPECT_EQ(shard_.sampling_period_ns, 4);
  EXPECT_THAT(Samples({{0, 8, "a"}, {8, 12, "b"}}),
              ElementsAre("0+4 a", "4+4 a", "8+4 b"));
  // Less than half a period is one sample, too.
  EXPECT_THAT(Samples({{0, 1, "a"}, {1, 9, "b"}}),
              ElementsAre("0+1 a", "1+8 b"));
}

TEST_F(FlameSamplesTest, ParentsAreAroundTheirChildren) {
  EXPECT_THAT(Samples({{2, 4, "c"}, {0, 6, "p"}}),
              ElementsAre("0+2 p", "2+2 pc", "4+2 p"));
  EXPECT_THAT(Samples({{0, 2, "c"}, {0, 4, "p"}}),
              ElementsAre("0+2 pc", "2+2 p"));
  // A child that reaches over the end is cut there.
  EXPECT_THAT(Samples({{0, 10, "p"}, {5, 20, "c"}}),
              ElementsAre("0+5 p", "5+5 pc"));
  EXPECT_THAT(Samples({{0, 4, "p"}, {0, 4, "c"}, {2, 2, "empty"}, {3, 1, "x"}}),
              ElementsAre("0+4 pc"));
}

// The shortest stretch before a gap is one period.
TEST_F(FlameSamplesTest, SamplesOfALongSliceAreAPeriodApart) {
  EXPECT_THAT(Samples({{0, 10, "a"}, {20, 23, "b"}}),
              ElementsAre("0+3 a", "3+4 a", "7+3 a", "20+3 b"));
  EXPECT_EQ(shard_.sampling_period_ns, 3);
  // 8 and 6 are nearer to three and two periods, and 5 to one.
  EXPECT_THAT(Samples({{0, 11, "a"}, {20, 23, "b"}}),
              ElementsAre("0+2 a", "2+2 a", "4+4 a", "8+3 a", "20+3 b"));
  EXPECT_THAT(Samples({{0, 10, "a"}, {20, 24, "b"}}),
              ElementsAre("0+3 a", "3+3 a", "6+4 a", "20+4 b"));
  EXPECT_THAT(Samples({{0, 9, "a"}, {20, 24, "b"}}),
              ElementsAre("0+5 a", "5+4 a", "20+4 b"));
}

TEST_F(FlameSamplesTest, ALongerPeriodStays) {
  shard_.sampling_period_ns = 100;
  AddFlameSamples({{.start = 0, .end = 7}}, 0, shard_);
  EXPECT_EQ(shard_.sampling_period_ns, 100);
  AddFlameSamples({{.start = 0, .end = 101}}, 0, shard_);
  EXPECT_EQ(shard_.sampling_period_ns, 101);
}

// 4 Mi samples, and 1000 for each of two stretches.
TEST_F(FlameSamplesTest, ManySamplesAreFewer) {
  constexpr TimeNs kLong = TimeNs{1} << 40;
  AddFlameSamples(
      {{.start = 0, .end = kLong}, {.start = kLong + 10, .end = kLong + 11}}, 0,
      shard_);
  EXPECT_EQ(shard_.sampling_period_ns, (kLong + 1) / 4'196'304 + 1);
}

TEST_F(FlameSamplesTest, FramesHaveTheirPlaces) {
  const auto frame_of = [&](std::string_view name, std::string_view file) {
    shard_ = {};
    const auto key = [&](std::string_view text) {
      return shard_.strings.Intern(text);
    };
    shard_.args = {model::Arg::String(key("before"), key("x")),
                   model::Arg::Int(key("module"), 7),
                   model::Arg::String(key("module"), key("lib.so")),
                   model::Arg::String(key("file"), key(file)),
                   model::Arg::String(key("file"), key("another"))};
    shard_.details = {{.args_begin = 1, .args_end = 4}};
    AddFlameSamples({{.start = 0, .end = 7, .name = key(name), .detail = 0}}, 0,
                    shard_);
    const model::Frame& frame =
        shard_.stacks.frame(shard_.stacks.leaf(shard_.samples[0].stack));
    return std::string(shard_.strings.Get(frame.function)) + "|" +
           std::string(shard_.strings.Get(frame.file)) + "|" +
           std::to_string(frame.line) + "|" +
           std::string(shard_.strings.Get(frame.module));
  };
  EXPECT_EQ(frame_of("f", "dir/f.c:12"), "f|dir/f.c|12|lib.so");
  EXPECT_EQ(frame_of("f", "f.c"), "f|f.c|0|lib.so");
  EXPECT_EQ(frame_of("f", "c:f.c:x"), "f|c:f.c:x|0|lib.so");
  EXPECT_EQ(frame_of("[unknown]", "f.c:0"), "|f.c|0|lib.so");
}

class RangePairsTest : public testing::Test {
 protected:
  void Add(bool is_begin, TimeNs time, std::string_view name, RowIndex row = 0,
           bool is_async = true) {
    ends_.push_back(
        {.range = {.start = time, .name = strings_.Intern(name), .row = row},
         .is_begin = is_begin,
         .is_async = is_async,
         .offset = static_cast<uint64_t>(100 + time)});
  }
  // "name start-end"; an open range has no end.
  std::vector<std::string> Pairs() {
    std::vector<std::string> pairs;
    for (const PairedRange& pair :
         PairRanges(std::exchange(ends_, {}), {7, 7, 8}, findings_, ledger_)) {
      const Range& range = pair.range;
      pairs.push_back(std::string(strings_.Get(range.name)) + " " +
                      std::to_string(range.start) + "-" +
                      (range.is_open ? "" : std::to_string(range.end)));
    }
    return pairs;
  }

  model::StringTable strings_;
  std::vector<RangeEnd> ends_;
  Findings findings_;
  model::LossLedger ledger_;
};

TEST_F(RangePairsTest, AnEndGoesToTheNearestBeginOfItsName) {
  Add(true, 1, "x");
  Add(true, 2, "y");
  Add(false, 3, "x");
  Add(false, 4, "z");  // has none: ends the innermost
  Add(false, 5, "y");  // nothing is open
  Add(true, 6, "open");
  EXPECT_THAT(Pairs(), ElementsAre("x 1-3", "y 2-4", "open 6-"));
  EXPECT_EQ(findings_.count(Rule::kEndWithoutBegin), 1u);
  EXPECT_EQ(findings_.count(Rule::kBeginWithoutEnd), 1u);
  EXPECT_EQ(ledger_.Get(model::Loss::kEndsWithoutBegin), 1u);
  for (const ImportFinding& finding : findings_.List()) {
    EXPECT_EQ(finding.first_offset,
              finding.rule == "end_without_begin" ? 105u : 106u);
  }
}

TEST_F(RangePairsTest, EndsOfAThreadNeedNoName) {
  Add(true, 1, "x", 0, /*is_async=*/false);
  Add(true, 2, "y", 0, false);
  Add(true, 2, "other row", 1, false);
  Add(false, 3, "x", 0, false);
  Add(false, 4, "", 0, false);
  EXPECT_THAT(Pairs(), ElementsAre("x 1-4", "y 2-3", "other row 2-"));
}

TEST_F(RangePairsTest, AsynchronousRangesAreOfTheirProcess) {
  Add(true, 1, "x", 0);
  Add(true, 2, "x", 2);  // another process
  Add(false, 3, "x", 1);
  EXPECT_THAT(Pairs(), ElementsAre("x 1-3", "x 2-"));
}

TEST_F(RangePairsTest, EndsAreSortedAndTheSearchIsShort) {
  for (const int others : {63, 64}) {
    Add(false, 1000, "old");
    Add(true, 1, "old");
    for (int i = 0; i < others; ++i) Add(true, 2 + i, "n");
    const std::vector<std::string> pairs = Pairs();
    EXPECT_EQ(pairs.front(), others == 63 ? "old 1-1000" : "old 1-");
    EXPECT_EQ(pairs.back(), others == 63 ? "n 64-" : "n 65-1000");
  }
}

TEST(ExactRecordsTest, RowsAndFramesAreAsTheFileSays) {
  ExactRecords records;
  model::TraceShard shard;
  records.Add(R"({"names":["f","f.c","lib"],
      "frames":[[1,2,3,12,64,1],[1,2,3,12,65,2],[1,2,3,12,66,4]],
      "stacks":[[0,0],[1,1],[0,2]],"rows":[[5,6]],
      "samples":[[0,9223372036854775807,576460752303423487,3]],
      "allocations":[[7,8,1,2,3]]})",
              shard);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kRecordsCorrupt), 0u);
  ASSERT_EQ(records.rows().size(), 1u);
  EXPECT_EQ(records.rows()[0].pid, "5");
  EXPECT_EQ(records.rows()[0].tid, "6");
  ASSERT_EQ(records.allocations().size(), 1u);
  EXPECT_EQ(records.allocations()[0].row.pid, "7");
  EXPECT_EQ(records.allocations()[0].row.tid, "8");
  const auto flags_of = [&](uint64_t stack) {
    const model::Frame& frame =
        shard.stacks.frame(shard.stacks.leaf(records.Stack(stack)));
    return std::string(frame.is_inlined ? "inlined " : "") +
           (frame.is_kernel ? "kernel " : "") +
           (frame.is_resolved ? "resolved " : "");
  };
  EXPECT_EQ(flags_of(1), "inlined resolved ");
  EXPECT_EQ(flags_of(2), "kernel resolved ");
  EXPECT_EQ(flags_of(3), "");
  EXPECT_EQ(shard.stacks.depth(records.Stack(2)), 2u);
  EXPECT_EQ(shard.stacks.depth(records.Stack(3)), 1u);
  EXPECT_EQ(records.Stack(0), model::kEmptyStack);
  EXPECT_EQ(records.Stack(4), model::kEmptyStack);
  EXPECT_TRUE(records.has_samples());
  EXPECT_EQ(records.samples()[0].stack, records.Stack(3));
  // One broken part spoils all, and is counted once.
  records.Add("{\"names\":[7]}", shard);
  records.Add("{\"names\":[7]}", shard);
  EXPECT_FALSE(records.has_samples());
  EXPECT_EQ(shard.ledger.Get(model::Loss::kRecordsCorrupt), 1u);
}

}  // namespace
}  // namespace kymo::chrome_import
