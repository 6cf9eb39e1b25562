#include "exporters/stacks/memory_stacks.h"

#include <initializer_list>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/stacks/stacks_exporter.h"
#include "exporters/stacks/test_pprof.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class MemoryStacksTest : public ::testing::Test {
 protected:
  MemoryStacksTest() {
    t_.AddProcess(1, "xz");
    t_.AddThread(1, 2, "worker");
  }

  // Frames outermost first. Returns the record, to be changed further.
  model::MemoryRecord& Add(int64_t bytes,
                           std::initializer_list<std::string_view> frames) {
    model::StackId stack = model::kEmptyStack;
    for (const std::string_view function : frames) {
      stack = t_.data().stacks.Push(
          stack, t_.data().stacks.AddFrame({.function = t_.Intern(function)}));
    }
    const auto time_ns = static_cast<TimeNs>(t_.data().memory.size());
    t_.data().memory.push_back({.source = model::MemorySource::kHeap,
                                .time_ns = time_ns,
                                .address = 64,
                                .bytes = bytes,
                                .stack = stack});
    return t_.data().memory.back();
  }

  // Makes the record at `last` the free of that at `first`.
  void MarkFreed(model::MemoryIndex first, model::MemoryIndex last) {
    t_.data().memory[first].partner = last;
    t_.data().memory[last].partner = first;
  }

  Exported Stacks() {
    ExportOptions options;
    options.settings["stacks_formats"] = "folded";
    return Export(*NewStacksExporter(), std::move(t_).Build(), options);
  }

  TestTrace t_;
};

// In pprof, they would have all of the flat column.
TEST_F(MemoryStacksTest, StacksEndAtTheCallersOfAllocators) {
  Add(100, {"main", "Fill(int)", "std::vector<int>::push_back(int&&)",
            "std::vector<int>::_M_realloc_insert(int&&)",
            "std::__new_allocator<int>::allocate(unsigned long, void const*)"});
  Add(20, {"main", "Fill(int)", "std::vector<int>::push_back(int&&)",
           "operator new(unsigned long)", "malloc"});
  Add(7, {"main", "<app::Row as core::clone::Clone>::clone", "__rust_alloc"});
  ExportOptions options;
  const Exported files =
      Export(*NewStacksExporter(), std::move(t_).Build(), options);
  EXPECT_EQ(files.at("stacks.memory.folded"),
            "xz;main;<app::Row as core::clone::Clone>::clone 7\n"
            "xz;main;Fill(int);std::vector<int>::push_back(int&&) 120\n");
  EXPECT_THAT(
      stacks::ReadProfile(files.at("stacks.memory.pb.gz")).Lines("alloc_space"),
      ElementsAre("main;<app::Row as core::clone::Clone>::clone 7 process=xz "
                  "(1) thread=worker (2)",
                  "main;Fill(int);std::vector<int>::push_back(int&&) 120 "
                  "process=xz (1) thread=worker (2)"));
}

TEST_F(MemoryStacksTest, BytesByStackAndThoseAlive) {
  Add(100, {"main", "load"});
  Add(20, {"main", "encode"});
  Add(5, {"main", "load"});
  Add(-100, {"main", "free"});
  MarkFreed(0, 3);
  EXPECT_THAT(Stacks(), ElementsAre(Pair("stacks.folded", ""),
                                    Pair("stacks.memory.alive.folded",
                                         "xz;main;encode 20\n"
                                         "xz;main;load 5\n"),
                                    Pair("stacks.memory.folded",
                                         "xz;main;encode 20\n"
                                         "xz;main;load 105\n")));
}

TEST_F(MemoryStacksTest, DevicesOfTwoProcessesStayApart) {
  t_.AddProcess(3, "sh");
  const model::TrackIndex other = t_.AddThread(3, 4, "main");
  for (const model::TrackIndex track : {model::TrackIndex{0}, other}) {
    model::MemoryRecord& record = Add(track == 0 ? 8 : 16, {"main"});
    record.track = track;
    record.source = model::MemorySource::kReported;
    record.device_type = 1;
    record.device_index = 0;
    record.address = 64 + track;
  }
  const Exported files = Stacks();
  EXPECT_EQ(files.at("stacks.memory.folded"),
            "sh;cuda:0;main 16\nxz;cuda:0;main 8\n");
}

TEST_F(MemoryStacksTest, NothingAliveIsNoFile) {
  Add(100, {"main"});
  Add(-100, {"main"});
  MarkFreed(0, 1);
  EXPECT_THAT(Stacks(),
              ElementsAre(Pair("stacks.folded", ""),
                          Pair("stacks.memory.folded", "xz;main 100\n")));
}

TEST_F(MemoryStacksTest, WhatHasNoAddressIsNotKnownToBeAlive) {
  Add(100, {"main"}).address = 0;
  EXPECT_THAT(Stacks(),
              ElementsAre(Pair("stacks.folded", ""),
                          Pair("stacks.memory.folded", "xz;main 100\n")));
}

TEST_F(MemoryStacksTest, RecordsWithoutStacksAndFailuresAreNoFile) {
  Add(100, {});
  Add(50, {"main"}).event = model::MemoryEvent::kOutOfMemory;
  EXPECT_THAT(Stacks(), ElementsAre(Pair("stacks.folded", "")));
}

TEST_F(MemoryStacksTest, SampledBytesStandForMore) {
  Add(1'000, {"main"});
  t_.data().memory_sample_interval = 1'000;
  // 1000 / (1 - 1/e)
  EXPECT_EQ(Stacks()["stacks.memory.folded"], "xz;main 1582\n");
}

TEST_F(MemoryStacksTest, NoByteCountsTwiceAndDevicesAreFrames) {
  Add(1, {"main"});
  Add(2, {"main"}).source = model::MemorySource::kReported;
  Add(4, {"main"}).source = model::MemorySource::kMapped;
  model::MemoryRecord& of_device = Add(8, {"main"});
  of_device.source = model::MemorySource::kReported;
  of_device.device_type = 1;
  of_device.device_index = 0;
  EXPECT_EQ(Stacks()["stacks.memory.folded"],
            "xz;cuda:0;main 8\n"
            "xz;main 1\n");
}

}  // namespace
}  // namespace kymo
