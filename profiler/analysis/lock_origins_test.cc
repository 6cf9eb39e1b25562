#include "profiler/analysis/lock_origins.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "profiler/analysis/wait_names.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/column.h"
#include "profiler/model/records.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::Trace;
using model::TrackIndex;
using model::WaitKind;

class LockOriginsTest : public ::testing::Test {
 protected:
  void AddWait(TrackIndex track, uint64_t object, TimeNs begin_ns,
               const char* function, const char* name = "") {
    t_.AddWait({.track = track,
                .kind = WaitKind::kLock,
                .begin_ns = begin_ns,
                .duration_ns = 5,
                .object = object,
                .object_name = t_.Intern(name)},
               {"main", function, "pthread_mutex_lock"});
  }
  void Allocate(TrackIndex track, uint64_t address, int64_t bytes,
                TimeNs time_ns, const char* function) {
    memory_.push_back({.track = track,
                       .time_ns = time_ns,
                       .address = address,
                       .bytes = bytes,
                       .stack = t_.Stack({"main", function, "operator new"})});
  }
  std::string OnlyText() {
    model::TraceData data = std::move(t_).Build().Release();
    data.memory = memory_;
    const Trace trace(std::move(data));
    const std::vector<LockWaits> locks = WaitsByLock(trace);
    EXPECT_EQ(locks.size(), 1u);
    WaitPlaces places(trace);
    return LockText(trace, places, locks.at(0));
  }

  TestTrace t_;
  Column<model::MemoryRecord> memory_;
  const TrackIndex main_ = t_.AddThread(7, 7, "main");
};

TEST_F(LockOriginsTest, ALockOnTheHeapIsWhereItsMemoryCameFrom) {
  Allocate(main_, 0x1000, 64, 1, "Cache::Cache");
  AddWait(main_, 0x1010, 10, "Cache::Get");
  EXPECT_EQ(OnlyText(), "0x1010, made in Cache::Cache");
}

// The memory may have been another object's before, and may be later.
TEST_F(LockOriginsTest, TheLastAllocationBeforeTheFirstWaitCounts) {
  Allocate(main_, 0x1000, 64, 1, "Before");
  Allocate(main_, 0x1010, 64, 3, "Cache::Cache");
  Allocate(main_, 0x1018, 8, 4, "Beside");
  AddWait(main_, 0x1010, 10, "Cache::Get");
  Allocate(main_, 0x1000, 64, 20, "After");
  EXPECT_EQ(OnlyText(), "0x1010, made in Cache::Cache");
}

TEST_F(LockOriginsTest, OtherwiseTheFirstWaitSaysWhoUsesIt) {
  const TrackIndex worker = t_.AddThread(7, 8, "worker");
  const TrackIndex other = t_.AddThread(9, 9, "other");
  AddWait(main_, 0x1010, 10, "Put");
  AddWait(worker, 0x1010, 6, "Get");
  // Of another process, behind the end, and freed.
  Allocate(other, 0x1000, 64, 1, "Other");
  Allocate(main_, 0x1000, 0x10, 1, "Short");
  Allocate(main_, 0x1000, -64, 2, "Free");
  EXPECT_EQ(OnlyText(), "0x1010, first seen waiting at Get");
}

TEST_F(LockOriginsTest, ANameSaysEnough) {
  Allocate(main_, 0x1000, 64, 1, "Cache::Cache");
  AddWait(main_, 0x1010, 10, "Get", "g_mutex in server");
  EXPECT_EQ(OnlyText(), "0x1010 g_mutex in server");
}

TEST_F(LockOriginsTest, AGroupSaysWhatItsWaitsWereMostlyFor) {
  for (const uint64_t object : {0x10, 0x20, 0x20, 0x30}) {
    t_.AddWait({.track = main_,
                .kind = WaitKind::kLock,
                .begin_ns = 1,
                .duration_ns = 5,
                .object = object},
               {"Get"});
  }
  const Trace trace = std::move(t_).Build();
  const std::vector<WaitGroup> groups = WaitsByPlace(trace);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(ObjectsText(trace, groups[0]), "0x20 and 2 others");
}

}  // namespace
}  // namespace kymo::analysis
