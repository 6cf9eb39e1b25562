// Callbacks while the program's memory is short.
#include <cstdlib>
#include <memory>
#include <new>

#include "gtest/gtest.h"
#include "kymo/callbacks.h"
#include "kymo/record_function.h"

namespace {

// Allocations of this thread that succeed before one fails; -1 = all do.
constinit thread_local int allocations_left = -1;

void* Allocate(size_t bytes) {
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  void* const allocated = malloc(bytes);
  if (allocated == nullptr) throw std::bad_alloc();
  return allocated;
}

}  // namespace

void* operator new(size_t bytes) { return Allocate(bytes); }
void operator delete(void* allocated) noexcept { free(allocated); }
void operator delete(void* allocated, size_t) noexcept { free(allocated); }

namespace kymo {
namespace {

constexpr char kLongName[] = "a name that does not fit into a string's object";

// Starts of callbacks in an operation with so much memory.
int StartsWithAllocations(int allocations, const int& starts) {
  const int before = starts;
  allocations_left = allocations;
  { RecordFunction op(kLongName); }
  allocations_left = -1;
  return starts - before;
}

TEST(CallbackMemoryTest, OperationsThatFindNoneAreNotObservedAndLaterOnesAre) {
  int starts = 0;
  int ends = 0;
  const RecordFunctionCallback counting(
      [&](const OperationView&) {
        ++starts;
        return nullptr;
      },
      [&](const OperationView&, ObserverContext*) { ++ends; });
  bool enough = false;
  for (int allocations = 0; !enough; ++allocations) {
    ASSERT_LT(allocations, 100);
    // A change makes the thread read its lists again: that needs memory, too.
    AddGlobalCallback(counting);
    const int seen = StartsWithAllocations(allocations, starts);
    enough = seen == 1;
    EXPECT_TRUE(enough || seen == 0);
    EXPECT_EQ(StartsWithAllocations(-1, starts), 1);
    ClearGlobalCallbacks();
  }
  EXPECT_EQ(starts, ends);
}

TEST(CallbackMemoryTest, AChangeThatFindsNoneLeavesTheListsAsTheyWere) {
  const RecordFunctionCallback empty({});
  bool enough = false;
  for (int allocations = 0; !enough; ++allocations) {
    ASSERT_LT(allocations, 100);
    RecordFunctionCallback copy = empty;
    allocations_left = allocations;
    try {
      AddThreadLocalCallback(std::move(copy));
      enough = true;
    } catch (const std::bad_alloc&) {
    }
    allocations_left = -1;
    EXPECT_EQ(HasThreadLocalCallbacks(), enough);
  }
  ClearThreadLocalCallbacks();
}

}  // namespace
}  // namespace kymo
