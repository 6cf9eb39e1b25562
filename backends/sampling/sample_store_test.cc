#include "backends/sampling/sample_store.h"

#include "gtest/gtest.h"
#include "profiler/model/trace_shard.h"

namespace kymo::sampling {
namespace {

TEST(SampleStoreTest, StackThatEndsNowhereIsCountedAsIncomplete) {
  SampleStore store(/*period_ns=*/1'000'000);
  // The event has no process, so no maps are read, and its address is in no
  // code.
  SampleEvent event{.pid = -2, .tid = -2, .time_ns = 5, .weight_ns = 7};
  event.has_registers = true;
  event.registers[kRip] = 0x1234;
  store.OnSample(event);
  model::TraceShard shard;
  store.Collect(shard);
  ASSERT_EQ(shard.samples.size(), 1);
  EXPECT_EQ(shard.samples[0].weight_ns, 7);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kStacksIncomplete), 1);
}

// Two files lie at one place, one after the other; the addresses say which.
TEST(SampleStoreTest, FilesWithNumbersAreApartAtOnePlace) {
  SampleStore store(/*period_ns=*/1'000'000);
  constexpr uint64_t kPlace = 0x10000;
  for (const uint64_t number : {1, 2}) {
    store.OnMap({.pid = -2,
                 .address = number << 48 | kPlace,
                 .size_bytes = 0x1000,
                 .file_offset = 0,
                 .file = {.path = number == 1 ? "/no/first" : "/no/second",
                          .build_id = {},
                          .inode = number,
                          .mapped_ns = 1}});
  }
  for (const uint64_t number : {1, 2, 1}) {
    const uint64_t callchain[] = {number << 48 | (kPlace + 0x10),
                                  number << 48 | (kPlace + 0x20)};
    SampleEvent event{.pid = -2, .tid = -2, .time_ns = 5, .weight_ns = 7};
    event.callchain = callchain;
    store.OnSample(event);
  }
  model::TraceShard shard;
  store.Collect(shard);
  ASSERT_EQ(shard.samples.size(), 3);
  EXPECT_NE(shard.samples[0].stack, shard.samples[1].stack);
  EXPECT_EQ(shard.samples[0].stack, shard.samples[2].stack);
  const auto leaf = [&](size_t i) {
    return shard.stacks.frame(shard.stacks.leaf(shard.samples[i].stack));
  };
  // Without its file, a place has the name of the file and its offset.
  EXPECT_EQ(shard.strings.Get(leaf(0).function), "first+0x10");
  EXPECT_EQ(shard.strings.Get(leaf(1).function), "second+0x10");
}

}  // namespace
}  // namespace kymo::sampling
