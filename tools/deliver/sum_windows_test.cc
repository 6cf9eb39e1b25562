#include "tools/deliver/sum_windows.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/normalize/normalize.h"
#include "tests/support/test_importer.h"

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;

// The windows of a recording from 100 to 900 ns; after them an error, if asked
// for. Each is the lines of a fake file.
class Windows : public TraceWindows {
 public:
  explicit Windows(std::vector<std::string> windows, bool is_broken = false)
      : windows_(std::move(windows)), is_broken_(is_broken) {}
  bool is_done() const override {
    return next_ == windows_.size() && !is_broken_;
  }
  absl::StatusOr<TraceWindow> Next() override {
    if (next_ == windows_.size()) return absl::DataLossError("it is broken");
    const std::string path = WriteFake("window", windows_[next_++]);
    auto imported = FakeImporter().Import(path, {});
    return TraceWindow{.shard = std::move(imported->shards[0]),
                       .start_ns = 100,
                       .end_ns = 900,
                       .is_last = next_ == windows_.size()};
  }
  std::vector<std::string> Notes() const override { return {"a note"}; }

 private:
  const std::vector<std::string> windows_;
  const bool is_broken_;
  size_t next_ = 0;
};

TEST(SumWindowsTest, AddsAllWindows) {
  Windows windows({"range f 7 1 100 200\nrange g 7 1 120 150\n",
                   "range f 7 1 300 350\n", "range f 7 1 400 450\n"});
  const auto summed = SumWindows(windows);
  ASSERT_TRUE(summed.ok()) << summed.status();
  EXPECT_THAT(summed->notes,
              ElementsAre("read in 3 windows: 4 events", "a note"));
  EXPECT_EQ(summed->sums.event_count(), 4u);
  ASSERT_EQ(summed->sums.Averages().size(), 2u);
}

TEST(SumWindowsTest, NoWindowsAreNoEvents) {
  Windows windows({});
  const auto summed = SumWindows(windows);
  ASSERT_TRUE(summed.ok()) << summed.status();
  EXPECT_THAT(summed->notes,
              ElementsAre("read in 0 windows: 0 events", "a note"));
}

TEST(SumWindowsTest, TheBoundsAreThoseOfTheRecording) {
  Windows windows({"range before 7 1 10 20\nrange f 7 1 100 200\n",
                   "range f 7 1 300 350\nrange after 7 1 950 960\n"});
  const auto summed = SumWindows(windows);
  ASSERT_TRUE(summed.ok()) << summed.status();
  EXPECT_EQ(summed->sums.event_count(), 2u);
  EXPECT_EQ(summed->sums.ledger().Get(model::Loss::kEventsOutOfWindow), 2u);
}

// The same range is open in each window until it ends.
TEST(SumWindowsTest, OnlyTheLastWindowHasRangesThatNobodyEnded) {
  Windows windows({"range f 7 1 100 0\n", "range f 7 1 300 0\n"});
  const auto summed = SumWindows(windows);
  ASSERT_TRUE(summed.ok()) << summed.status();
  EXPECT_EQ(summed->sums.ledger().Get(model::Loss::kRangesOpenAtEnd), 1u);
}

// The last two windows are in the shard of the recording, too.
TEST(LiveSummerTest, LossesOfWhatIsLeftAreThoseOfItsShard) {
  LiveSummer summer;
  EXPECT_FALSE(summer.has_windows());
  Windows windows({"range f 7 1 100 200\nrange before 7 1 10 20\n",
                   "range f 7 1 300 350\nrange after 7 1 950 960\n",
                   "range f 7 1 400 450\nrange open 7 1 500 0\n"});
  WindowLosses losses = WindowLosses::kCount;
  while (!windows.is_done()) {
    ASSERT_TRUE(summer.Add(*windows.Next(), losses).ok());
    losses = WindowLosses::kAreInShard;
  }
  EXPECT_TRUE(summer.has_windows());
  const model::Trace newest{model::TraceData()};
  ASSERT_TRUE(summer.Finish(newest).ok());
  EXPECT_EQ(summer.sums().event_count(), 4u);
  EXPECT_EQ(summer.sums().ledger().Get(model::Loss::kEventsOutOfWindow), 1u);
  EXPECT_EQ(summer.sums().ledger().Get(model::Loss::kRangesOpenAtEnd), 0u);
}

// The last window's values are in the shard of the recording, too.
TEST(LiveSummerTest, CountersHaveEachValueOnce) {
  const auto window = [](TimeNs time_ns, double value, bool is_last) {
    TraceWindow window = {
        .shard = {}, .start_ns = 100, .end_ns = 900, .is_last = is_last};
    window.shard.tracks = {{.pid = 7, .id = 8}};
    window.shard.counters = {{.track = 0,
                              .name = window.shard.strings.Intern("queue"),
                              .time_ns = time_ns,
                              .value = value}};
    return window;
  };
  LiveSummer summer;
  ASSERT_TRUE(summer.Add(window(200, 1'000, false), WindowLosses::kCount).ok());
  ASSERT_TRUE(
      summer.Add(window(300, 50, true), WindowLosses::kAreInShard).ok());
  std::vector<model::TraceShard> shards;
  shards.push_back(window(300, 50, true).shard);
  const auto newest =
      Normalize(std::move(shards), {.start_ns = 100, .end_ns = 900});
  ASSERT_TRUE(newest.ok()) << newest.status();
  ASSERT_TRUE(summer.Finish(*newest).ok());
  const auto counters = summer.sums().Counters();
  ASSERT_EQ(counters.size(), 1u);
  EXPECT_EQ(counters[0].pid, 7);
  EXPECT_EQ(counters[0].id, 8);
  EXPECT_EQ(counters[0].name, "queue");
  EXPECT_EQ(counters[0].values.sample_count, 2);
  EXPECT_EQ(counters[0].values.max, 1'000);
  EXPECT_EQ(counters[0].values.last, 50);
  EXPECT_DOUBLE_EQ(counters[0].values.mean, (1'000 * 100 + 50 * 600) / 700.0);
}

// Only the trace of all sessions knows when a process ended.
TEST(LiveSummerTest, RangesEndWithTheirProcesses) {
  Windows windows({"range f 7 1 100 200\n",
                   "range open 7 1 300 0\nrange open 8 2 300 0\n"});
  LiveSummer summer;
  while (!windows.is_done()) {
    ASSERT_TRUE(summer.Add(*windows.Next(), WindowLosses::kCount).ok());
  }
  std::vector<model::TraceShard> shards(1);
  shards[0].processes = {{.pid = 7, .end_ns = 310}, {.pid = 8}};
  const auto newest = Normalize(std::move(shards), {});
  ASSERT_TRUE(newest.ok()) << newest.status();
  ASSERT_TRUE(summer.Finish(*newest).ok());
  EXPECT_EQ(summer.sums().rest(), &*newest);
  EXPECT_EQ(summer.sums().ledger().Get(model::Loss::kRangesOpenAtEnd), 2u);
  const auto averages = summer.sums().Averages();
  ASSERT_EQ(averages.size(), 2u);
  EXPECT_EQ(averages[1].name, "open");
  EXPECT_EQ(averages[1].min_ns, 310 - 300);
  EXPECT_EQ(averages[1].max_ns, 900 - 300);
}

TEST(SumWindowsTest, ABrokenWindowIsAnError) {
  Windows windows({"range f 7 1 100 200\n"}, /*is_broken=*/true);
  EXPECT_EQ(SumWindows(windows).status(), absl::DataLossError("it is broken"));
}

}  // namespace
}  // namespace kymo::tools
