#include "profiler/report/memory_report.h"

#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::report {
namespace {

using testing::HasSubstr;
using testing::Not;

class MemoryReportTest : public testing::Test {
 protected:
  MemoryReportTest() {
    t_.SetWindow(1'000'000, 9'000'000);
    t_.AddProcess(10, "xz");
    main_ = t_.AddThread(10, 10, "xz");
  }

  // The stack of malloc, called from that line of `function`, called by main.
  model::StackId Stack(std::string_view function, uint32_t line) {
    model::StackId stack = model::kEmptyStack;
    const auto push = [&](std::string_view name, uint32_t at) {
      stack = t_.data().stacks.Push(
          stack, t_.data().stacks.AddFrame({.function = t_.Intern(name),
                                            .file = t_.Intern("xz.cc"),
                                            .line = at}));
    };
    push("main", 40);
    push(function, line);
    push("malloc", 0);
    return stack;
  }

  std::string Report(const MemoryReportOptions& options = {}) {
    std::move(memory_).AddTo(t_.data());
    const model::Trace trace = std::move(t_).Build();
    return MemoryReport(trace, analysis::ProfileMemory(trace), options);
  }

  TestTrace t_;
  TestMemory memory_;
  model::TrackIndex main_ = 0;
};

TEST_F(MemoryReportTest, AProcessWithoutANameIsItsNumber) {
  t_.AddProcess(11, "");
  const auto main = t_.AddThread(11, 11, "");
  memory_.Allocate({.track = main, .bytes = 64}, 2'000'000);
  EXPECT_THAT(Report(), HasSubstr("Memory of process 11, heap\n"));
}

TEST_F(MemoryReportTest, SaysWhoseMemoryItWas) {
  t_.AddAnnotation(main_, "ProfilerStep#3", 1'000'000, 2'000'000);
  t_.AddRange(main_, "compress", 1'100'000, 1'900'000);
  t_.AddAnnotation(main_, "ProfilerStep#4", 3'000'000, 4'000'000);
  const model::StackId encode = Stack("encode", 12);
  const model::StackId leaky = Stack("leaky", 20);
  const auto a = memory_.Allocate(
      {.track = main_, .bytes = 3'072, .stack = encode}, 1'500'000);
  memory_.Allocate({.track = main_, .bytes = 1'024, .stack = leaky}, 2'500'000);
  memory_.Free(a, main_, 2'600'000);
  memory_.Free(
      memory_.Allocate({.track = main_, .bytes = 2'048, .stack = encode},
                       3'500'000),
      main_, 3'600'000);
  memory_.OutOfMemory({.track = main_, .bytes = 1}, 3'700'000);
  EXPECT_EQ(Report(), R"(Memory of xz (process 10), heap
  Allocated                    3    6.00 KiB
  Freed                        2    5.00 KiB
  Alive at the end             1    1.00 KiB
  Temporary                    1    2.00 KiB  (33.33% of allocations)
  Out of memory                1
  Peak                              4.00 KiB  at 1.500ms of the recording
  Peak by stack
      3.00 KiB   75.00%  1 block
          encode  xz.cc:12
          main  xz.cc:40
      1.00 KiB   25.00%  1 block
          leaky  xz.cc:20
          main  xz.cc:40
  Peak by operation
      3.00 KiB   75.00%  1 block  compress
      1.00 KiB   25.00%  1 block  [outside of operations]
  Not freed when the recording ended (leaks, and what was still in use)
      1.00 KiB  100.00%  1 block
          leaky  xz.cc:20
          main  xz.cc:40
  Steps                    growth  allocations    allocated
    first, #3            3.00 KiB            1     3.00 KiB
    last, #4                  0 B            1     2.00 KiB
    mean of 2            1.50 KiB            1     2.50 KiB
)");
}

TEST_F(MemoryReportTest, OneFunctionMayHaveSeveralStacks) {
  for (const uint32_t line : {12, 14}) {
    memory_.Allocate(
        {.track = main_, .bytes = 1'024, .stack = Stack("encode", line)},
        1'500'000);
  }
  memory_.Allocate({.track = main_, .bytes = 2'048, .stack = Stack("read", 7)},
                   1'600'000);
  EXPECT_THAT(Report(), HasSubstr(R"(
  Peak by function
      2.00 KiB   50.00%  2 blocks  encode
      2.00 KiB   50.00%  1 block  read
  Peak by stack
)"));
}

TEST_F(MemoryReportTest, NothingLeakedIsOneLine) {
  memory_.Free(memory_.Allocate({.track = main_, .bytes = 8}, 2'000'000), main_,
               3'000'000);
  const std::string text = Report();
  EXPECT_THAT(
      text,
      HasSubstr("  Nothing leaked: all that was allocated has been freed.\n"));
  EXPECT_THAT(text, Not(HasSubstr("Not freed")));
}

TEST_F(MemoryReportTest, WhatTheRuntimeKeepsHasNotBeenFreed) {
  memory_.Free(memory_.Allocate({.track = main_, .bytes = 8}, 2'000'000), main_,
               3'000'000);
  std::move(memory_).AddTo(t_.data());
  const model::Trace trace = std::move(t_).Build();
  auto profiles = analysis::ProfileMemory(trace);
  ASSERT_EQ(profiles.size(), 1u);
  profiles[0].runtime_kept = {.count = 1, .bytes = 4'096};
  EXPECT_THAT(MemoryReport(trace, profiles, {}),
              HasSubstr("  The C and C++ runtime keeps 4.00 KiB in 1 block for "
                        "itself.\n  Nothing leaked: all else has been "
                        "freed.\n"));
}

TEST_F(MemoryReportTest, OfWhatFailedOrHasNoAddressNothingIsSaidToBeFreed) {
  memory_.OutOfMemory({.track = main_, .bytes = 1}, 2'000'000);
  t_.data().memory.push_back({.track = main_,
                              .source = model::MemorySource::kReported,
                              .time_ns = 3'000'000,
                              .bytes = 64});
  const std::string text = Report();
  EXPECT_THAT(text, HasSubstr("Out of memory                1\n"));
  EXPECT_THAT(text, HasSubstr("Alive at the end             1        64 B\n"));
  EXPECT_THAT(text, Not(HasSubstr("Nothing leaked")));
}

TEST_F(MemoryReportTest, ListsEndWithTheSumOfTheOthers) {
  for (uint32_t i = 0; i < 12; ++i) {
    memory_.Allocate({.track = main_, .bytes = 100, .stack = Stack("f", 1 + i)},
                     1'000'000 + i);
  }
  const std::string text = Report({.group_limit = 10});
  EXPECT_THAT(text,
              HasSubstr("         200 B   16.67%  2 blocks  [2 others]\n"));
}

TEST_F(MemoryReportTest, OneOtherIsALineToo) {
  t_.AddRange(main_, "first", 1'000'000, 2'000'000);
  t_.AddRange(main_, "second", 3'000'000, 4'000'000);
  memory_.Allocate({.track = main_, .bytes = 300}, 1'500'000);
  memory_.Allocate({.track = main_, .bytes = 60}, 3'500'000);
  memory_.Allocate({.track = main_, .bytes = 40}, 3'600'000);
  EXPECT_THAT(Report({.group_limit = 1}),
              HasSubstr("  Peak by operation\n"
                        "         300 B   75.00%  1 block  first\n"
                        "         100 B   25.00%  2 blocks  [1 others]\n"
                        "  Not freed"));
}

TEST_F(MemoryReportTest, AMeanIsOfAllSteps) {
  for (int i = 0; i < 3; ++i) {
    const TimeNs begin = 1'000'000 * (1 + 2 * i);
    t_.AddAnnotation(main_, "ProfilerStep#" + std::to_string(7 + i), begin,
                     begin + 1'000'000);
    for (int k = 0; k < 2 + i; ++k) {
      const auto block = memory_.Allocate(
          {.track = main_, .bytes = 100 + 10 * i}, begin + 1'000 + 10 * k);
      if (k != 0) memory_.Free(block, main_, begin + 1'005 + 10 * k);
    }
  }
  // 100, 110 and 120 bytes stay; 200, 330 and 480 were allocated.
  EXPECT_THAT(
      Report(),
      HasSubstr(
          "  Steps                    growth  allocations    allocated\n"
          "    first, #7               100 B            2        200 B\n"
          "    last, #9                120 B            4        480 B\n"
          "    mean of 3               110 B            3        336 B\n"));
}

TEST_F(MemoryReportTest, WithoutStacksThereIsOneLine) {
  memory_.Allocate({.track = main_, .bytes = 64}, 2'000'000);
  EXPECT_THAT(Report(),
              HasSubstr("          64 B  100.00%  1 block  [no stack]"));
}

TEST_F(MemoryReportTest, LostRecordsMayBeThoseOfFrees) {
  t_.data().ledger.Add(model::Loss::kEventsDroppedArenaFull, 1);
  memory_.Allocate({.track = main_, .bytes = 64}, 2'000'000);
  EXPECT_THAT(Report(), HasSubstr("Records were lost, maybe those of frees"));
}

TEST_F(MemoryReportTest, CountsAreTotalsOnly) {
  t_.data().allocation_counts = {{main_, 10, 8, 2'048}};
  EXPECT_EQ(Report(), R"(Memory of xz (process 10), heap
  Allocated                   10    2.00 KiB
  Freed                        8
)");
}

TEST_F(MemoryReportTest, ReportsAreOfADeviceAndSamplesAreEstimates) {
  t_.data().memory_sample_interval = 1'000;
  memory_.Allocate({.track = main_, .bytes = 64}, 2'000'000);
  memory_.Allocate({.track = main_,
                    .bytes = 64,
                    .source = model::MemorySource::kReported,
                    .device_type = 1,
                    .device_index = 2},
                   2'000'001);
  const std::string text = Report();
  EXPECT_THAT(text,
              HasSubstr("Memory of xz (process 10), as reported, cuda:2\n"));
  EXPECT_THAT(
      text,
      HasSubstr("Memory of xz (process 10), heap, estimated from samples\n"));
  // Reports are never sampled, so their temporary blocks are known; the heap's
  // are not.
  EXPECT_THAT(text, HasSubstr("Temporary"));
  EXPECT_EQ(text.find("Temporary"), text.rfind("Temporary"));
}

TEST_F(MemoryReportTest, WithoutMemoryThereIsNothing) {
  EXPECT_EQ(Report(), "");
}

TEST_F(MemoryReportTest, ProcessesAndMappingsHaveSectionsOfTheirOwn) {
  const auto other = t_.AddThread(11, 11, "unknown");
  memory_.Allocate(
      {.track = main_, .bytes = 4'096, .source = model::MemorySource::kMapped},
      2'000'000);
  memory_.Free(memory_.Allocate({.track = other, .bytes = 8}, 3'000'000), other,
               4'000'000);
  EXPECT_EQ(Report(), R"(Memory of xz (process 10), mappings
  Allocated                    1    4.00 KiB
  Freed                        0         0 B
  Alive at the end             1    4.00 KiB
  Temporary                    0         0 B  (0.00% of allocations)
  Peak                              4.00 KiB  at 1.000ms of the recording
  Peak by stack
      4.00 KiB  100.00%  1 block  [no stack]
  Not freed when the recording ended (leaks, and what was still in use)
      4.00 KiB  100.00%  1 block  [no stack]

Memory of process 11, heap
  Allocated                    1         8 B
  Freed                        1         8 B
  Alive at the end             0         0 B
  Temporary                    1         8 B  (100.00% of allocations)
  Peak                                   8 B  at 2.000ms of the recording
  Peak by stack
           8 B  100.00%  1 block  [no stack]
  Nothing leaked: all that was allocated has been freed.
)");
}

TEST_F(MemoryReportTest, ListsAndStacksEndAtTheirLimits) {
  for (uint32_t i = 0; i < 3; ++i) {
    memory_.Allocate({.track = main_, .bytes = 100, .stack = Stack("f", 1 + i)},
                     1'000'000 + i);
  }
  const std::string all = Report({.group_limit = 3, .frame_limit = 1});
  EXPECT_THAT(all, Not(HasSubstr("others")));
  EXPECT_THAT(all, HasSubstr("          f  xz.cc:3\n"));
  EXPECT_THAT(all, Not(HasSubstr("main")));
}

TEST_F(MemoryReportTest, EveryLossOfRecordsIsSaid) {
  for (const model::Loss loss :
       {model::Loss::kMemoryRecordsLeftOut, model::Loss::kEventsOverwritten,
        model::Loss::kDrainBytesLost, model::Loss::kSamplesLost}) {
    TestTrace t;
    const auto main = t.AddThread(1, 1, "main");
    t.data().ledger.Add(loss, 1);
    t.data().memory.push_back({.track = main,
                               .source = model::MemorySource::kHeap,
                               .time_ns = 5,
                               .address = 16,
                               .bytes = 8,
                               .total_allocated = 8});
    const model::Trace trace = std::move(t).Build();
    const std::string text =
        MemoryReport(trace, analysis::ProfileMemory(trace), {});
    EXPECT_EQ(text.find("Records were lost") != std::string::npos,
              loss != model::Loss::kSamplesLost);
  }
}

}  // namespace
}  // namespace kymo::report
