// More live samples of the heap than their table holds.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "profiler/model/trace.h"

namespace kymo {
namespace {

TEST(ForcedHeapLossesTest, MoreLiveSamplesThanTheTableHolds) {
  constexpr size_t kBlocks = 400'000;
  ProfileOptions options;
  options.activities = {"cpu"};
  options.profile_memory = true;
  options.experimental_config.profile_all_threads = true;
  options.settings["memory_mode"] = "sampled";
  options.settings["memory_interval"] = "1";
  std::vector<void*> blocks(kBlocks);
  Profile profile(options);
  ASSERT_TRUE(profile.Start().ok());
  for (void*& block : blocks) block = malloc(64);
  ASSERT_TRUE(profile.Stop().ok());
  for (void* const block : blocks) free(block);
  const model::Trace& trace = *profile.trace();
  const uint64_t lost = trace.ledger().Get(model::Loss::kHeapSamplesLost);
  EXPECT_GT(lost, 0);
  EXPECT_GE(trace.memory().size() + lost, kBlocks);
}

}  // namespace
}  // namespace kymo
