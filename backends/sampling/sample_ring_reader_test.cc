#include "backends/sampling/sample_ring_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

namespace kymo::sampling {
namespace {

constexpr uint32_t kCells = 8;
constexpr uint32_t kStackBytes = 1024;

class SampleRingReaderTest : public ::testing::Test {
 protected:
  SampleRingReaderTest()
      : reader_(*SampleRingReader::Create(1'000'000, kStackBytes, kCells)) {}

  CellHeader* Fill(uint32_t index, int64_t time_ns, CellState state) {
    CellHeader* const cell =
        CellOf(reader_->ring(), index, kCells, kStackBytes);
    *cell = {};
    cell->time_ns = time_ns;
    cell->pid = 41;
    cell->tid = 42;
    cell->tick_count = 4;
    cell->stack_bytes = 16;
    std::memset(cell + 1, 0x5a, 16);
    std::memcpy(cell->thread_name, "worker", 7);
    StatesOf(reader_->ring())[index] = state;
    return cell;
  }
  std::vector<int64_t> Drain() {
    std::vector<int64_t> times;
    reader_->Drain([&](const TimerSample& sample) {
      times.push_back(sample.time_ns);
      last_ = sample;
      last_stack_.assign(sample.stack.begin(), sample.stack.end());
    });
    return times;
  }

  std::unique_ptr<SampleRingReader> reader_;
  TimerSample last_;
  std::vector<std::byte> last_stack_;
};

TEST_F(SampleRingReaderTest, TheTargetCannotShortenIt) {
  const OwnedDescriptor file(open(reader_->path().c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(file.is_open());
  EXPECT_EQ(ftruncate(file.get(), 0), -1);
  EXPECT_TRUE(Drain().empty());
}

TEST_F(SampleRingReaderTest, TakesFinishedCellsInTheOrderOfTime) {
  Fill(5, 10, kCellReady);
  Fill(1, 30, kCellReady);
  Fill(3, 20, kCellReady);
  Fill(2, 5, kCellWriting);
  EXPECT_EQ(Drain(), (std::vector<int64_t>{10, 20, 30}));
  EXPECT_EQ(last_.pid, 41);
  EXPECT_EQ(last_.tick_count, 4u);
  EXPECT_EQ(last_.thread_name, "worker");
  EXPECT_EQ(last_stack_, std::vector<std::byte>(16, std::byte{0x5a}));
  EXPECT_EQ(Drain(), std::vector<int64_t>{});
  EXPECT_EQ(StatesOf(reader_->ring())[5], kCellFree);
}

TEST_F(SampleRingReaderTest, ASampleHasAllOfItsCell) {
  CellHeader* const cell = Fill(5, 10, kCellReady);
  cell->parent_pid = 40;
  cell->image_ns = 77;
  cell->stack_bytes = kStackBytes;
  for (uint64_t i = 0; i < 17; ++i) cell->registers[i] = 1'000 + i;
  Drain();
  EXPECT_EQ(last_.time_ns, 10);
  EXPECT_EQ(last_.pid, 41);
  EXPECT_EQ(last_.tid, 42);
  EXPECT_EQ(last_.parent_pid, 40);
  EXPECT_EQ(last_.image_ns, 77);
  EXPECT_EQ(last_.kind, kCellStack);
  EXPECT_FALSE(last_.is_cut);
  for (uint64_t i = 0; i < 17; ++i) EXPECT_EQ(last_.registers[i], 1'000 + i);
  EXPECT_EQ(last_stack_.size(), kStackBytes);
  // Cells of one time come in their order.
  Fill(6, 10, kCellReady)->tid = 6;
  Fill(2, 10, kCellReady)->tid = 2;
  EXPECT_EQ(Drain().size(), 2u);
  EXPECT_EQ(last_.tid, 6);
}

TEST_F(SampleRingReaderTest, TheRingSaysWhatTheTargetNeeds) {
  RingHeader* const ring = reader_->ring();
  EXPECT_EQ(ring->magic, kRingMagic);
  EXPECT_EQ(ring->version, kRingVersion);
  EXPECT_EQ(ring->cell_count, kCells);
  EXPECT_EQ(ring->stack_bytes, kStackBytes);
  EXPECT_EQ(ring->period_ns, 1'000'000);
  EXPECT_EQ(ring->is_enabled, 1u);
  reader_->Disable();
  EXPECT_EQ(ring->is_enabled, 0u);
  // The parts follow each other: the states, then cells on lines of 64 bytes.
  EXPECT_EQ(CellsOffset(16), 64u + 64);
  EXPECT_EQ(CellsOffset(17), 64u + 128);
  EXPECT_EQ(CellBytes(1'024), 192u + 1'024);
  EXPECT_EQ(CellBytes(1'025), 192u + 1'032);
  EXPECT_EQ(RingBytes(16, 1'024), 128u + 16 * 1'216);
}

TEST_F(SampleRingReaderTest, LimitsAreOfTheSoundCells) {
  Fill(0, 0, kCellReady)->tick_count = 100'000'000;
  Fill(1, 1, kCellReady)->stack_bytes = 0;
  EXPECT_EQ(Drain(), (std::vector<int64_t>{0, 1}));
  Fill(0, -1, kCellReady);
  Fill(1, 1, kCellReady)->pid = 0;
  Fill(2, 1, kCellReady)->tid = 0;
  Fill(3, 1, kCellReady)->tick_count = 100'000'001;
  EXPECT_EQ(Drain(), (std::vector<int64_t>{}));
  EXPECT_EQ(reader_->unsound_cells(), 4u);
}

TEST_F(SampleRingReaderTest, CountsWhatWasLost) {
  Fill(2, 5, kCellWriting);
  reader_->ring()->dropped = 3;
  EXPECT_EQ(reader_->LostTicks(), 4u);
}

TEST_F(SampleRingReaderTest, SkipsNonsense) {
  Fill(0, 1, kCellReady)->stack_bytes = kStackBytes + 1;
  Fill(1, 2, kCellReady)->stack_bytes = ~0u;
  Fill(2, 3, kCellReady)->pid = -1;
  Fill(3, 4, kCellReady)->tick_count = 0;
  Fill(4, 5, kCellReady)->tick_count = ~0u;
  std::memset(Fill(5, 6, kCellReady)->thread_name, 'x', 16);
  EXPECT_EQ(Drain(), std::vector<int64_t>{6});
  EXPECT_EQ(last_.thread_name.size(), 16u);
  EXPECT_EQ(reader_->unsound_cells(), 5u);
}

TEST_F(SampleRingReaderTest, ReadsAddressesAndFiles) {
  const uint64_t addresses[] = {0x1234, uint64_t{3} << 48 | 0x5678};
  CellHeader* const stack = Fill(0, 1, kCellReady);
  stack->kind = kCellAddresses;
  stack->is_cut = 1;
  std::memcpy(stack + 1, addresses, sizeof(addresses));
  reader_->Drain([&](const TimerSample& sample) {
    EXPECT_EQ(sample.kind, kCellAddresses);
    EXPECT_TRUE(sample.is_cut);
    EXPECT_TRUE(sample.stack.empty());
    EXPECT_EQ(
        std::vector<uint64_t>(sample.addresses.begin(), sample.addresses.end()),
        std::vector<uint64_t>(std::begin(addresses), std::end(addresses)));
  });
  const FileNote note = {
      .start = 4096, .end = 8192, .file_offset = 7, .inode = 9};
  CellHeader* const file = Fill(0, 2, kCellReady);
  file->kind = kCellFile;
  std::memcpy(file + 1, &note, sizeof(note));
  std::memcpy(reinterpret_cast<char*>(file + 1) + sizeof(note), "/a", 3);
  file->stack_bytes = sizeof(note) + 3;
  reader_->Drain([&](const TimerSample& sample) {
    EXPECT_EQ(sample.kind, kCellFile);
    EXPECT_EQ(sample.path, "/a");
    EXPECT_EQ(sample.file.start, 4096u);
    EXPECT_EQ(sample.file.end, 8192u);
    EXPECT_EQ(sample.file.file_offset, 7u);
    EXPECT_EQ(sample.file.inode, 9u);
  });
  const std::string_view deleted("/a (deleted)", 13);
  CellHeader* const gone = Fill(0, 3, kCellReady);
  gone->kind = kCellFile;
  std::memcpy(gone + 1, &note, sizeof(note));
  std::memcpy(reinterpret_cast<char*>(gone + 1) + sizeof(note), deleted.data(),
              deleted.size());
  gone->stack_bytes = sizeof(note) + deleted.size();
  reader_->Drain([&](const TimerSample& sample) {
    EXPECT_EQ(sample.path, "/a");
    EXPECT_TRUE(sample.is_deleted);
  });
  EXPECT_EQ(reader_->unsound_cells(), 0u);
}

TEST_F(SampleRingReaderTest, SkipsAddressesAndFilesThatMakeNoSense) {
  CellHeader* const odd = Fill(0, 1, kCellReady);
  odd->kind = kCellAddresses;
  odd->stack_bytes = 15;
  CellHeader* const none = Fill(1, 2, kCellReady);
  none->kind = kCellAddresses;
  none->stack_bytes = 0;
  // No room for a path, a path without an end, an end before the start.
  CellHeader* const small = Fill(2, 3, kCellReady);
  small->kind = kCellFile;
  CellHeader* const endless = Fill(3, 4, kCellReady);
  endless->kind = kCellFile;
  endless->stack_bytes = 64;
  std::memset(endless + 1, 0x5a, 64);
  CellHeader* const backwards = Fill(4, 5, kCellReady);
  backwards->kind = kCellFile;
  backwards->stack_bytes = 64;
  std::memset(backwards + 1, 0, 64);
  Fill(5, 6, kCellReady)->kind = static_cast<CellKind>(77);
  EXPECT_EQ(Drain(), std::vector<int64_t>{});
  EXPECT_EQ(reader_->unsound_cells(), 6u);
}

TEST_F(SampleRingReaderTest, DoesNotTrustTheHeader) {
  Fill(0, 1, kCellReady);
  reader_->ring()->cell_count = ~0u;
  reader_->ring()->stack_bytes = ~0u;
  EXPECT_EQ(Drain(), std::vector<int64_t>{1});
}

TEST_F(SampleRingReaderTest, OthersCanOpenItByItsPath) {
  EXPECT_EQ(access(reader_->path().c_str(), R_OK | W_OK), 0);
}

TEST_F(SampleRingReaderTest, SaysWhyProcessesStoppedTheirTimers) {
  EXPECT_EQ(reader_->StopRemarks(), std::vector<std::string>{});
  reader_->ring()->stops[0] = 2;
  reader_->ring()->stops[1] = 1;
  reader_->ring()->threads_without_timer = 1;
  EXPECT_EQ(
      reader_->StopRemarks(),
      (std::vector<std::string>{
          "sampling: 2 processes restrict their own system calls (seccomp), "
          "or are about to, and those of the timers might end them: they have "
          "no samples from then on. Perf events sample them, where they are "
          "permitted (--sampling_sampler=perf)",
          "sampling: 1 process uses SIGPROF, the signal of the timers, for "
          "itself, as gcc -pg does: it has no samples from then on. Perf "
          "events sample it, where they are permitted "
          "(--sampling_sampler=perf)",
          "sampling: 1 thread has no samples: no timer was left. A process has "
          "at most 8192 at once, and the kernel limits those of a user (ulimit "
          "-i)"}));
}

}  // namespace
}  // namespace kymo::sampling
