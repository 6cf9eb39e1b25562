#include "backends/cupti/decode/wait_table.h"

#include <gtest/gtest.h>

namespace kymo::cupti {
namespace {

SyncRecord Wait(uint32_t type, uint32_t stream, uint32_t correlation,
                uint64_t end) {
  SyncRecord sync = {};
  sync.type = type;
  sync.context = 1;
  sync.stream = stream;
  sync.correlation = correlation;
  sync.start = 1;
  sync.end = end;
  return sync;
}

KernelRecord Work(uint32_t stream, uint32_t correlation, uint64_t end) {
  KernelRecord kernel = {};
  kernel.context = 1;
  kernel.stream = stream;
  kernel.correlation = correlation;
  kernel.end = end;
  return kernel;
}

TEST(WaitTableTest, WhatWasWaitedForHasEnded) {
  WaitTable waits;
  waits.Add(Wait(3, 7, 10, 1000), 42);
  waits.Add(Wait(3, 7, 20, 2000), 42);
  waits.Finish();
  EXPECT_EQ(waits.LateBy(42, Work(7, 9, 1000)), 0u);
  EXPECT_EQ(waits.LateBy(42, Work(7, 9, 1030)), 30u);
  EXPECT_EQ(waits.LateBy(42, Work(7, 11, 1030)), 0u) << "launched after it";
  EXPECT_EQ(waits.LateBy(42, Work(7, 11, 2001)), 1u);
  EXPECT_EQ(waits.LateBy(42, Work(7, 21, 9999)), 0u) << "nobody waited";
}

TEST(WaitTableTest, AWaitForTheContextIsOneForEachOfItsStreams) {
  WaitTable waits;
  waits.Add(Wait(4, 5, 10, 1000), 42);
  waits.Finish();
  EXPECT_EQ(waits.LateBy(42, Work(7, 9, 1030)), 30u);
  KernelRecord other = Work(7, 9, 1030);
  other.context = 2;
  EXPECT_EQ(waits.LateBy(42, other), 0u);
}

TEST(WaitTableTest, OthersAreNoProof) {
  WaitTable waits;
  waits.Add(Wait(1, 7, 10, 1000), 42);  // a wait for an event
  SyncRecord query = Wait(3, 7, 10, 1000);
  query.result = 600;  // not ready
  waits.Add(query, 42);
  waits.Add(Wait(3, 8, 10, 1000), 42);  // a wait for another stream
  waits.Add(Wait(3, 7, 10, 1000), 43);  // a thread that may have been faster
  waits.Finish();
  EXPECT_EQ(waits.LateBy(42, Work(7, 9, 1030)), 0u);
}

}  // namespace
}  // namespace kymo::cupti
