#include "backends/off_cpu/calls/wait_ring_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

namespace kymo::off_cpu {
namespace {

using model::WaitKind;

constexpr uint32_t kCells = 8;

class WaitRingReaderTest : public ::testing::Test {
 protected:
  WaitCell* Fill(uint32_t index, WaitCellState state = kWaitReady) {
    WaitCell* const cell = WaitCellsOf(reader_->ring(), kCells) + index;
    std::memset(static_cast<void*>(cell), 0, sizeof(*cell));
    cell->begin_ticks = cell->end_ticks =
        ReadTicks(static_cast<ClockSource>(reader_->ring()->clock));
    cell->tid = 42;
    cell->kind = CallKind::kPoll;
    cell->address_count = 1;
    WaitStatesOf(reader_->ring())[index] = state;
    return cell;
  }
  std::vector<NotedCall> Read() {
    std::vector<NotedCall> calls;
    reader_->Read([&](NotedCall&& call) { calls.push_back(std::move(call)); });
    return calls;
  }

  const std::unique_ptr<WaitRingReader> reader_ =
      *WaitRingReader::Create(kCells);
};

TEST_F(WaitRingReaderTest, TheTargetCannotShortenIt) {
  const OwnedDescriptor file(open(reader_->path().c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(file.is_open());
  EXPECT_EQ(ftruncate(file.get(), 0), -1);
  EXPECT_TRUE(Read().empty());
}

TEST_F(WaitRingReaderTest, TakesFinishedCells) {
  WaitCell* const cell = Fill(5);
  cell->object = 7;
  cell->object_is = CallObject::kDescriptor;
  cell->holder_tid = 43;
  cell->address_count = 2;
  cell->addresses[0] = 0x100;
  cell->addresses[1] = 0x200;
  cell->is_cut = 1;
  Fill(2, kWaitWriting);
  const auto calls = Read();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].tid, 42u);
  EXPECT_EQ(calls[0].kind, WaitKind::kPoll);
  EXPECT_EQ(calls[0].object, 7u);
  EXPECT_EQ(calls[0].object_is, CallObject::kDescriptor);
  EXPECT_EQ(calls[0].holder_tid, 43u);
  EXPECT_EQ(calls[0].addresses, (std::vector<uint64_t>{0x100, 0x200}));
  EXPECT_TRUE(calls[0].is_cut);
  EXPECT_TRUE(Read().empty());
  EXPECT_EQ(WaitStatesOf(reader_->ring())[5], kWaitFree);
}

TEST_F(WaitRingReaderTest, TakesWhatAThreadSaidAtItsEnd) {
  const auto fill = [&](uint32_t index, const char* schedstat) {
    WaitCell* const cell = Fill(index);
    cell->kind = CallKind::kThreadEnd;
    cell->object = 5'000'000;
    std::memset(&cell->texts, 'x', sizeof(cell->texts));  // nothing ends
    std::strcpy(cell->texts.schedstat, schedstat);
    return cell;
  };
  std::strcpy(fill(1, "4000000 777 12\n")->texts.stat,
              "42 (a) b) R 1 1 1 0 -1 0 31 0 4 0 ");
  fill(2, "4000000 -5 12\n");
  fill(3, "4000000 9000000000000000000 12\n");
  fill(4, "1 1 1")->object = ~uint64_t{0};
  std::vector<NotedEnd> ends;
  reader_->Read([](NotedCall&&) { FAIL(); },
                [&](const NotedEnd& end) { ends.push_back(end); });
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].tid, 42u);
  EXPECT_EQ(ends[0].on_cpu_ns, 5'000'000);
  EXPECT_EQ(ends[0].waited_ns, 777);
  EXPECT_GT(ends[0].time_ns, 0u);
  EXPECT_EQ(ends[0].counts,
            (model::ThreadCounts{
                .has_faults = true, .minor_faults = 31, .major_faults = 4}));
  EXPECT_EQ(reader_->unsound_cells(), 3u);
}

TEST_F(WaitRingReaderTest, TimesAreThoseOfTheKernelsClock) {
  const int64_t before_ns = MonotonicNs();
  WaitCell* const cell = Fill(0);
  const int64_t after_ns = MonotonicNs();
  // A call of ten minutes.
  const double ticks_per_ns =
      static_cast<double>(reader_->ring()->least_ticks) / (2 * kNsPerUs);
  constexpr int64_t kLongNs = 600 * kNsPerSecond;
  cell->begin_ticks =
      cell->end_ticks - static_cast<uint64_t>(kLongNs * ticks_per_ns);
  const auto calls = Read();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_GE(calls[0].end_ns + kNsPerUs, static_cast<uint64_t>(before_ns));
  EXPECT_LE(calls[0].end_ns, static_cast<uint64_t>(after_ns + kNsPerUs));
  EXPECT_NEAR(static_cast<double>(calls[0].end_ns - calls[0].begin_ns), kLongNs,
              kLongNs / 1000.0);
}

TEST_F(WaitRingReaderTest, TheFirstCellsAreTakenAgainWhenTheyAreFree) {
  Fill(0);
  Fill(1);
  std::atomic<uint32_t>& next = reader_->ring()->next_cell;
  next = 2;
  reader_->Read([&](NotedCall&&) { EXPECT_EQ(next, 2u); });
  EXPECT_EQ(next, 0u);
}

TEST_F(WaitRingReaderTest, CountsWhatIsLost) {
  reader_->ring()->dropped = 3;
  Fill(2, kWaitWriting);
  EXPECT_EQ(reader_->LostCalls(), 4u);
  reader_->ring()->wakes_left = 0;
  reader_->ring()->wakes_skipped = 5;
  EXPECT_EQ(reader_->SkippedWakes(), 5u);
  Read();
  EXPECT_GT(reader_->ring()->wakes_left, 0);
}

TEST_F(WaitRingReaderTest, NonsenseIsCountedAndFreed) {
  Fill(0)->tid = 0;
  Fill(1)->kind = static_cast<CallKind>(200);
  Fill(2)->address_count = 0;
  Fill(3)->address_count = kMostCallAddresses + 1;
  WaitCell* const backwards = Fill(4);
  backwards->begin_ticks = backwards->end_ticks + 1'000'000;
  WaitCell* const far = Fill(5);
  far->begin_ticks = 0;
  far->end_ticks = ~uint64_t{0};
  Fill(6)->tid = -1;
  Fill(7)->end_ticks += uint64_t{1} << 60;  // in the future
  // The target may write the header, too.
  reader_->ring()->cell_count = 1'000'000;
  EXPECT_TRUE(Read().empty());
  EXPECT_EQ(reader_->unsound_cells(), 8u);
  for (uint32_t i = 0; i < kCells; ++i) {
    EXPECT_EQ(WaitStatesOf(reader_->ring())[i], kWaitFree);
  }
}

TEST(WaitRingReaderLimitTest, WithoutMemoryItSaysWhichLimits) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status status = WaitRingReader::Create(kCells).status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(status.message(),
            "no shared memory of " + std::to_string(WaitRingBytes(kCells)) +
                " bytes for the stacks of waits; try larger limits (ulimit -f, "
                "-v, -n): Too many open files");
}

}  // namespace
}  // namespace kymo::off_cpu
