#include "profiler/analysis/memory/program_starts.h"

#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::MemorySource;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ProgramStart kFirst = {7, -5};

std::vector<ProgramStart> StartsOf(std::vector<model::MemoryRecord> records) {
  TestTrace t;
  t.AddProcess(7, "app");
  t.data().processes[0].start_ns = -5;
  t.AddThread(7, 7, "main");
  t.data().memory.assign(records.begin(), records.end());
  return ProgramStarts(std::move(t).Build());
}

model::MemoryRecord Heap(TimeNs time_ns, uint64_t address, int64_t bytes,
                         model::MemoryIndex partner = model::kNoMemory) {
  return {.source = MemorySource::kHeap,
          .time_ns = time_ns,
          .address = address,
          .bytes = bytes,
          .partner = partner};
}

TEST(ProgramStartsTest, FreesAndAddressesThatComeAgainAreNone) {
  EXPECT_THAT(StartsOf({Heap(1, 16, 8, 1), Heap(2, 16, -8, 0),
                        Heap(3, 32, 8, 3), Heap(4, 32, 8)}),
              IsEmpty());
  EXPECT_THAT(StartsOf({}), IsEmpty());
}

TEST(ProgramStartsTest, AnExecIsWhereTheNextProgramAllocatesFirst) {
  EXPECT_THAT(StartsOf({Heap(1, 16, 8, 2), Heap(2, 32, 8, 2), Heap(9, 48, 8, 4),
                        Heap(10, 64, 8, 4), Heap(20, 80, 8)}),
              ElementsAre(kFirst, ProgramStart{7, 9}, ProgramStart{7, 20}));
}

TEST(ProgramStartsTest, TheHeapAndMappingsOfOneProgramBeginAtOneTime) {
  std::vector<model::MemoryRecord> records = {
      Heap(1, 16, 8, 3), Heap(2, 4096, 8, 2), Heap(9, 8192, 8),
      Heap(10, 48, 8)};
  records[1].source = records[2].source = MemorySource::kMapped;
  EXPECT_THAT(StartsOf(records), ElementsAre(kFirst, ProgramStart{7, 9}));
}

// Nothing of the first program's heap was left. So its mapping alone tells of
// the exec, and later than the next program's heap began.
TEST(ProgramStartsTest, ABlockIsOfOneProgram) {
  std::vector<model::MemoryRecord> records = {
      Heap(1, 4096, 8, 2), Heap(8, 16, 8, 3), Heap(9, 8192, 8),
      Heap(10, 16, -8, 1)};
  records[0].source = records[2].source = MemorySource::kMapped;
  EXPECT_THAT(StartsOf(records), ElementsAre(kFirst, ProgramStart{7, 8}));
}

}  // namespace
}  // namespace kymo::analysis
