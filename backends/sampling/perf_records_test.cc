#include "backends/sampling/perf_records.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace kymo::sampling {
namespace {

// Builds a record byte by byte.
class Record {
 public:
  Record(uint32_t type, uint16_t misc) {
    Add(type);
    Add(misc);
    Add<uint16_t>(0);
  }
  template <typename T>
  Record& Add(T value) {
    const auto* const from = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof(value));
    return *this;
  }
  Record& Text(std::string text) {
    text.push_back('\0');
    while (text.size() % 8 != 0) text.push_back('\0');
    for (const char c : text) Add(c);
    return *this;
  }
  // The trailer that sample_id_all appends.
  Record& Trailer(uint64_t time_ns) {
    return Add<uint32_t>(7).Add<uint32_t>(8).Add(time_ns).Add<uint64_t>(0);
  }
  std::vector<std::byte> bytes() {
    const auto size = static_cast<uint16_t>(bytes_.size());
    std::memcpy(bytes_.data() + 6, &size, sizeof(size));
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

Record MapOf(uint16_t misc) {
  Record record(PERF_RECORD_MMAP2, misc);
  record.Add<uint32_t>(41).Add<uint32_t>(42);
  record.Add<uint64_t>(0x7000).Add<uint64_t>(0x2000).Add<uint64_t>(0x1000);
  return record;
}

Record SampleOf(uint64_t abi, uint64_t stack_bytes, uint64_t copied) {
  Record record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
  record.Add<uint64_t>(0x401000).Add<uint32_t>(41).Add<uint32_t>(42);
  record.Add<uint64_t>(1234).Add<uint64_t>(1).Add<uint64_t>(1'000'000);
  record.Add(abi);
  if (abi != PERF_SAMPLE_REGS_ABI_NONE) {
    for (uint64_t i = 0; i < kRegisterCount; ++i) record.Add(100 + i);
  }
  record.Add(stack_bytes);
  for (uint64_t i = 0; i < stack_bytes; ++i) record.Add<uint8_t>(i & 0xff);
  if (stack_bytes != 0) record.Add(copied);
  return record;
}

TEST(PerfRecordsTest, ReadsAMappingWithItsBuildId) {
  Record record = MapOf(PERF_RECORD_MISC_MMAP_BUILD_ID);
  record.Add<uint8_t>(20).Add<uint8_t>(0).Add<uint16_t>(0);
  for (uint8_t i = 0; i < 20; ++i) record.Add(i);
  record.Add<uint64_t>(5).Text("/lib/libm.so").Trailer(99);
  const auto bytes = record.bytes();
  const auto map = DecodeMap(bytes);
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->pid, 41u);
  EXPECT_EQ(map->address, 0x7000u);
  EXPECT_EQ(map->size_bytes, 0x2000u);
  EXPECT_EQ(map->file_offset, 0x1000u);
  EXPECT_EQ(map->build_id.size(), 20u);
  EXPECT_EQ(map->build_id[19], std::byte{19});
  EXPECT_EQ(map->path, "/lib/libm.so");
  EXPECT_EQ(map->time_ns, 99u);
}

TEST(PerfRecordsTest, ReadsAMappingWithItsInode) {
  Record record = MapOf(0);
  record.Add<uint32_t>(8).Add<uint32_t>(1).Add<uint64_t>(777);
  record.Add<uint64_t>(0).Add<uint64_t>(5).Text("//anon").Trailer(99);
  const auto bytes = record.bytes();
  const auto map = DecodeMap(bytes);
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->inode, 777u);
  EXPECT_TRUE(map->build_id.empty());
  EXPECT_EQ(map->path, "//anon");
}

// What two sets of events both saw counts once.
TEST(PerfRecordsTest, EachTimeIsInOneOfTwoSpansThatFollowEachOther) {
  constexpr uint64_t kBetween = 1234;  // the time of SampleOf
  for (const uint64_t time_ns : {kBetween - 1, kBetween, kBetween + 1}) {
    Record exit(PERF_RECORD_EXIT, 0);
    for (int i = 0; i < 4; ++i) exit.Add<uint32_t>(41);
    const auto bytes = exit.Add(time_ns).Trailer(time_ns).bytes();
    EXPECT_EQ(IsWithin(bytes, 0, kBetween), time_ns < kBetween);
    EXPECT_EQ(IsWithin(bytes, kBetween, ~uint64_t{0}), time_ns >= kBetween);
  }
  const auto sample = SampleOf(PERF_SAMPLE_REGS_ABI_NONE, 0, 0).bytes();
  EXPECT_FALSE(IsWithin(sample, 0, kBetween));
  EXPECT_TRUE(IsWithin(sample, kBetween, kBetween + 1));
  // It has no time. Its decoder says that it is damaged.
  EXPECT_TRUE(IsWithin(RecordBytes(sample).first(8), 10, 20));
}

TEST(PerfRecordsTest, ABuildIdIsAtMostTwentyBytes) {
  Record record = MapOf(PERF_RECORD_MISC_MMAP_BUILD_ID);
  record.Add<uint8_t>(255).Add<uint8_t>(0).Add<uint16_t>(0);
  for (uint8_t i = 0; i < 20; ++i) record.Add(i);
  record.Add<uint64_t>(5).Text("/x").Trailer(1);
  const auto bytes = record.bytes();
  ASSERT_TRUE(DecodeMap(bytes).has_value());
  EXPECT_EQ(DecodeMap(bytes)->build_id.size(), 20u);
}

// perf_event_open(2): bit 13 of `misc` means out, bit 14 out while runnable.
// The trailer of sample_id_all has the thread and the time.
TEST(PerfRecordsTest, ReadsSwitches) {
  const auto read = [](uint16_t misc) {
    const auto bytes = Record(PERF_RECORD_SWITCH, misc).Trailer(99).bytes();
    return DecodeSwitch(bytes);
  };
  const auto in = read(0);
  ASSERT_TRUE(in.has_value());
  EXPECT_EQ(in->pid, 7u);
  EXPECT_EQ(in->tid, 8u);
  EXPECT_EQ(in->time_ns, 99u);
  EXPECT_FALSE(in->is_out);
  const auto blocked = read(1U << 13);
  EXPECT_TRUE(blocked->is_out);
  EXPECT_FALSE(blocked->is_runnable);
  const auto preempted = read(1U << 13 | 1U << 14);
  EXPECT_TRUE(preempted->is_out);
  EXPECT_TRUE(preempted->is_runnable);
  const auto cut = Record(PERF_RECORD_SWITCH, 0).Add<uint64_t>(7).bytes();
  EXPECT_FALSE(DecodeSwitch(cut).has_value());
}

TEST(PerfRecordsTest, ReadsNamesAndTasks) {
  Record comm(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
  comm.Add<uint32_t>(41).Add<uint32_t>(42).Text("worker").Trailer(5);
  auto bytes = comm.bytes();
  ASSERT_TRUE(DecodeComm(bytes).has_value());
  EXPECT_EQ(DecodeComm(bytes)->name, "worker");
  EXPECT_TRUE(DecodeComm(bytes)->is_exec);

  Record fork(PERF_RECORD_FORK, 0);
  fork.Add<uint32_t>(50).Add<uint32_t>(41).Add<uint32_t>(51).Add<uint32_t>(42);
  fork.Add<uint64_t>(1000).Trailer(1001);
  bytes = fork.bytes();
  const auto task = DecodeTask(bytes);
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(task->pid, 50u);
  EXPECT_EQ(task->parent_pid, 41u);
  EXPECT_EQ(task->tid, 51u);
  EXPECT_EQ(task->parent_tid, 42u);
  EXPECT_EQ(DecodeTime(bytes), 1001u);

  Record lost(PERF_RECORD_LOST, 0);
  lost.Add<uint64_t>(1).Add<uint64_t>(17).Trailer(6);
  EXPECT_EQ(DecodeLost(lost.bytes()), 17u);
}

TEST(PerfRecordsTest, ReadsASampleInDwarfOrder) {
  const auto bytes = SampleOf(PERF_SAMPLE_REGS_ABI_64, 64, 40).bytes();
  const auto sample = DecodeSample(bytes, RecordLayout::RegistersAndStack());
  ASSERT_TRUE(sample.has_value());
  EXPECT_EQ(sample->instruction, 0x401000u);
  EXPECT_EQ(sample->tid, 42u);
  EXPECT_EQ(sample->time_ns, 1234u);
  EXPECT_EQ(DecodeTime(bytes), 1234u);
  EXPECT_EQ(sample->period_ns, 1'000'000u);
  EXPECT_FALSE(sample->in_kernel);
  ASSERT_TRUE(sample->has_registers);
  EXPECT_EQ(sample->registers[0], 100u);     // ax
  EXPECT_EQ(sample->registers[3], 101u);     // bx
  EXPECT_EQ(sample->registers[kRbp], 106u);  // the sixth in the kernel's order
  EXPECT_EQ(sample->registers[kRsp], 107u);
  EXPECT_EQ(sample->registers[kRip], 108u);
  EXPECT_EQ(sample->registers[15], 116u);
  EXPECT_EQ(sample->stack.size(), 40u);
  EXPECT_FALSE(sample->stack_was_cut);
}

TEST(PerfRecordsTest, ASampleMayHaveNoUserState) {
  const auto bytes = SampleOf(PERF_SAMPLE_REGS_ABI_NONE, 0, 0).bytes();
  const auto sample = DecodeSample(bytes, RecordLayout::RegistersAndStack());
  ASSERT_TRUE(sample.has_value());
  EXPECT_FALSE(sample->has_registers);
  EXPECT_TRUE(sample->stack.empty());
}

TEST(PerfRecordsTest, RegistersOfA32BitThreadAreNotUsed) {
  const auto bytes = SampleOf(PERF_SAMPLE_REGS_ABI_32, 0, 0).bytes();
  const auto sample = DecodeSample(bytes, RecordLayout::RegistersAndStack());
  ASSERT_TRUE(sample.has_value());
  EXPECT_FALSE(sample->has_registers);
}

TEST(PerfRecordsTest, ClampsACopyLargerThanItsArea) {
  const auto bytes =
      SampleOf(PERF_SAMPLE_REGS_ABI_64, 64, ~uint64_t{0}).bytes();
  const auto sample = DecodeSample(bytes, RecordLayout::RegistersAndStack());
  ASSERT_TRUE(sample.has_value());
  EXPECT_EQ(sample->stack.size(), 64u);
}

// The kernel may have had room for less of the stack than was asked for. What
// counts is whether the copy fills the room.
TEST(PerfRecordsTest, AStackThatFillsItsRoomGoesOn) {
  const auto bytes = SampleOf(PERF_SAMPLE_REGS_ABI_64, 64, 64).bytes();
  const auto sample = DecodeSample(bytes, RecordLayout::RegistersAndStack());
  ASSERT_TRUE(sample.has_value());
  EXPECT_EQ(sample->stack.size(), 64u);
  EXPECT_TRUE(sample->stack_was_cut);
}

TEST(PerfRecordsTest, ReadsACallchain) {
  Record record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
  record.Add<uint64_t>(1).Add<uint32_t>(2).Add<uint32_t>(3);
  record.Add<uint64_t>(4).Add<uint64_t>(0).Add<uint64_t>(5);
  record.Add<uint64_t>(2).Add<uint64_t>(0xabc).Add<uint64_t>(0xdef);
  const auto bytes = record.bytes();
  const auto sample = DecodeSample(bytes, RecordLayout::Callchain());
  ASSERT_TRUE(sample.has_value());
  EXPECT_TRUE(sample->in_kernel);
  ASSERT_EQ(sample->callchain_size(), 2u);
  EXPECT_EQ(sample->callchain_at(1), 0xdefu);
}

TEST(PerfRecordsTest, RefusesACallchainLongerThanTheRecord) {
  for (const uint64_t count : {uint64_t{3}, uint64_t{1} << 61, ~uint64_t{0}}) {
    Record record(PERF_RECORD_SAMPLE, 0);
    for (int i = 0; i < 5; ++i) record.Add<uint64_t>(0);
    record.Add(count).Add<uint64_t>(1);
    EXPECT_FALSE(
        DecodeSample(record.bytes(), RecordLayout::Callchain()).has_value());
  }
}

TEST(PerfRecordsTest, ReadsWhoWakesWhom) {
  for (const uint8_t flags : {0, 1, 8, 16}) {
    Record record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
    record.Add<uint64_t>(0x401000).Add<uint32_t>(41).Add<uint32_t>(42);
    record.Add<uint64_t>(1234).Add<uint64_t>(1).Add<uint64_t>(1);
    // As events/sched/sched_waking/format says, with its padding.
    record.Add<uint32_t>(36);
    record.Add<uint16_t>(300).Add(flags).Add<uint8_t>(2).Add<int32_t>(42);
    for (int i = 0; i < 16; ++i) record.Add('x');
    record.Add<int32_t>(77).Add<int32_t>(120).Add<int32_t>(3);
    record.Add<uint64_t>(PERF_SAMPLE_REGS_ABI_NONE).Add<uint64_t>(0);
    const auto bytes = record.bytes();
    const auto sample =
        DecodeSample(bytes, RecordLayout::RawRegistersAndStack());
    ASSERT_TRUE(sample.has_value());
    EXPECT_EQ(sample->tid, 42u);
    const auto wake = DecodeWake(*sample);
    ASSERT_TRUE(wake.has_value());
    EXPECT_EQ(wake->woken_tid, 77u);
    EXPECT_EQ(wake->is_by_interrupt, flags >= 8);
  }
  EXPECT_FALSE(DecodeWake({}).has_value());
}

// Each prefix has a buffer of its own, so that a sanitizer sees reads beyond
// it.
TEST(PerfRecordsTest, RefusesEveryTruncation) {
  Record map = MapOf(0);
  for (int i = 0; i < 4; ++i) map.Add<uint64_t>(0);
  const std::vector<std::vector<std::byte>> wholes = {
      SampleOf(PERF_SAMPLE_REGS_ABI_64, 64, 64).bytes(),
      map.Text("/x").Trailer(1).bytes()};
  for (const auto& whole : wholes) {
    for (size_t size = 0; size < whole.size(); ++size) {
      const std::vector<std::byte> part(whole.begin(), whole.begin() + size);
      EXPECT_FALSE(DecodeSample(part, RecordLayout::RegistersAndStack()) &&
                   &whole == &wholes[0]);
      DecodeHeader(part);
      DecodeTime(part);
      DecodeMap(part);
      DecodeComm(part);
      DecodeTask(part);
      DecodeLost(part);
      DecodeSample(part, RecordLayout::Callchain());
    }
  }
}

}  // namespace
}  // namespace kymo::sampling
