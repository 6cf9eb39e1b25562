// Callbacks that run for a share of the operations.
#include <cmath>
#include <memory>

#include "gtest/gtest.h"
#include "kymo/callbacks.h"
#include "kymo/record_function.h"

namespace kymo {
namespace {

constexpr int kOperations = 100'000;

struct Counts {
  int starts = 0;
  int ends = 0;
};

RecordFunctionCallback Counting(Counts* counts, double probability) {
  return RecordFunctionCallback(
             [=](const OperationView&) {
               ++counts->starts;
               return std::make_unique<ObserverContext>();
             },
             [=](const OperationView&, ObserverContext* context) {
               EXPECT_NE(context, nullptr);
               ++counts->ends;
             })
      .sampling_prob(probability);
}

void Perform(int operations, RecordScope scope = RecordScope::kFunction) {
  for (int i = 0; i < operations; ++i) RecordFunction op("op", scope);
}

class CallbackSamplingTest : public testing::Test {
 protected:
  ~CallbackSamplingTest() override { ClearCallbacks(); }
};

TEST_F(CallbackSamplingTest, RunsForItsShareAndEndsWhatItStarts) {
  Counts counts;
  AddGlobalCallback(Counting(&counts, 0.01));
  Perform(kOperations);
  EXPECT_NEAR(counts.starts, 1000, 200);
  EXPECT_EQ(counts.ends, counts.starts);
}

TEST_F(CallbackSamplingTest, ZeroNeverRunsAndOneAlways) {
  Counts never;
  Counts always;
  AddGlobalCallback(Counting(&never, 0));
  AddGlobalCallback(Counting(&always, 1));
  Perform(1000);
  EXPECT_EQ(never.starts, 0);
  EXPECT_EQ(always.starts, 1000);
}

TEST_F(CallbackSamplingTest, EachCallbackHasItsOwnShareBesideOthers) {
  // Around one that always runs, and around none.
  for (const bool with_always : {true, false}) {
    Counts rare;
    Counts frequent;
    Counts local;
    Counts always;
    AddGlobalCallback(Counting(&rare, 0.01));
    AddGlobalCallback(Counting(&frequent, 0.3));
    AddThreadLocalCallback(Counting(&local, 0.05));
    if (with_always) AddGlobalCallback(Counting(&always, 1));
    Perform(kOperations);
    ClearCallbacks();
    EXPECT_NEAR(rare.starts, 1000, 200);
    EXPECT_NEAR(frequent.starts, 30'000, 900);
    EXPECT_NEAR(local.starts, 5000, 450);
    EXPECT_EQ(always.starts, with_always ? kOperations : 0);
    EXPECT_EQ(rare.ends, rare.starts);
    EXPECT_EQ(frequent.ends, frequent.starts);
    EXPECT_EQ(local.ends, local.starts);
  }
}

TEST_F(CallbackSamplingTest, ScopesAreCountedByThemselves) {
  int backward = 0;
  AddGlobalCallback(RecordFunctionCallback([&](const OperationView& op) {
                      backward += op.scope == RecordScope::kBackwardFunction;
                      return nullptr;
                    }).sampling_prob(0.02));
  // Two interleaved scopes: none takes the other's turns.
  for (int i = 0; i < kOperations; ++i) {
    RecordFunction forward("forward");
    RecordFunction op("backward", RecordScope::kBackwardFunction);
  }
  EXPECT_NEAR(backward, 2000, 300);
}

TEST_F(CallbackSamplingTest, ChoosesIndependentlyOfWhatItChoseBefore) {
  // Both operations of a pair are sampled in p^2 of all pairs.
  bool sampled = false;
  AddGlobalCallback(RecordFunctionCallback([&](const OperationView&) {
                      sampled = true;
                      return nullptr;
                    }).sampling_prob(0.1));
  int both = 0;
  bool before = false;
  for (int i = 0; i < kOperations; ++i) {
    sampled = false;
    Perform(1);
    both += sampled && before;
    before = sampled;
  }
  EXPECT_NEAR(both, 1000, 200);
}

}  // namespace
}  // namespace kymo
