#include "backends/cupti/decode/memory_decoder.h"

#include <gtest/gtest.h>

#include <vector>

#include "backends/cupti/decode/test_decoded.h"

namespace kymo::cupti {
namespace {

class MemoryDecoderTest : public DecodedLogTest {};

TEST_F(MemoryDecoderTest, SumsUpADevicesMemory) {
  MemoryRecord memory = {};
  memory.operation = 1;
  memory.memory_kind = 3;
  memory.device = 2;
  memory.address = 0x1000;
  memory.bytes = 100;
  memory.time = 2000;
  log_.Add(RecordKind::kMemory, memory);
  memory.operation = 2;
  memory.time = 3000;
  log_.Add(RecordKind::kMemory, memory);
  memory.operation = 1;
  memory.address = 0x2000;
  memory.time = 1000;
  log_.Add(RecordKind::kMemory, memory);
  memory.memory_kind = 2;
  log_.Add(RecordKind::kMemory, memory);
  Decode();
  ASSERT_EQ(shard_.memory.size(), 3u);
  EXPECT_EQ(shard_.memory[0].address, 0x2000u);
  EXPECT_EQ(shard_.memory[0].device_type, 1);
  EXPECT_EQ(shard_.memory[0].device_index, 2);
  EXPECT_EQ(shard_.memory[1].total_allocated, 200);
  EXPECT_EQ(shard_.memory[2].bytes, -100);
  EXPECT_EQ(shard_.memory[2].total_allocated, 100);
  ASSERT_EQ(shard_.counters.size(), 1u);
  EXPECT_EQ(shard_.strings.Get(shard_.counters[0].name),
            "CUDA pinned host memory");
  EXPECT_EQ(shard_.counters[0].value, 100);
}

TEST_F(MemoryDecoderTest, PoolsOfADeviceAreSummedUp) {
  PoolRecord pool = {};
  pool.pool_type = 1;
  pool.operation = 1;
  pool.device = 2;
  pool.address = 0x10;
  pool.time = 1000;
  log_.Add(RecordKind::kPool, pool);
  MemoryRecord memory = {};
  memory.operation = 1;
  memory.memory_kind = 3;
  memory.device = 2;
  memory.pool_type = 1;
  memory.pool_address = 0x10;
  memory.pool_used = 100;
  memory.time = 2000;
  log_.Add(RecordKind::kMemory, memory);
  memory.pool_address = 0x20;
  memory.pool_used = 7;
  memory.time = 3000;
  log_.Add(RecordKind::kMemory, memory);
  memory.pool_type = 2;  // imported: its contents are not known
  log_.Add(RecordKind::kMemory, memory);
  pool.operation = 2;  // destroyed
  pool.used = 100;
  pool.time = 4000;
  log_.Add(RecordKind::kPool, pool);
  Decode();
  std::vector<double> used;
  for (const model::CounterSample& sample : shard_.counters) {
    EXPECT_EQ(shard_.strings.Get(sample.name), "CUDA pools in use, device 2");
    used.push_back(sample.value);
  }
  EXPECT_EQ(used, (std::vector<double>{0, 100, 107, 7}));
}

TEST_F(MemoryDecoderTest, AFaultOfTheHostIsOneWhereverItHappened) {
  UnifiedRecord unified = {};
  unified.counter = 3;
  unified.start = 1000;
  unified.value = 0x7fff12345678;  // the address of the fault
  log_.Add(RecordKind::kUnified, unified);
  unified.from = 9;
  log_.Add(RecordKind::kUnified, unified);
  Decode();
  ASSERT_EQ(shard_.counters.size(), 2u);
  EXPECT_EQ(shard_.strings.Get(shard_.counters[1].name),
            "Unified memory: CPU page faults");
  EXPECT_EQ(shard_.counters[1].value, 2);
}

TEST_F(MemoryDecoderTest, TellsTransfersAndFaultsOfUnifiedMemoryApart) {
  UnifiedRecord unified = {};
  unified.start = 1000;
  unified.end = 2000;
  unified.value = 4096;
  unified.counter = 1;
  log_.Add(RecordKind::kUnified, unified);
  unified.counter = 4;
  unified.value = 3;
  log_.Add(RecordKind::kUnified, unified);
  log_.Add(RecordKind::kUnified, unified);
  Decode();
  EXPECT_EQ(Find(shard_, "Unified Memory HtoD")->args["bytes"], "4096");
  ASSERT_EQ(shard_.counters.size(), 2u);
  EXPECT_EQ(shard_.counters[1].value, 6);
}

}  // namespace
}  // namespace kymo::cupti
