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

}  // namespace
}  // namespace kymo::sampling
