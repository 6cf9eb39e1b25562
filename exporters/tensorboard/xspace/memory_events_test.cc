#include "exporters/tensorboard/xspace/memory_events.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/tensorboard/test_xspace.h"
#include "tests/support/test_trace.h"

namespace kymo::tensorboard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kHost[] = "/host:CPU";

// Allocates (or frees) on `track`, with the running total.
class Heap {
 public:
  Heap(TestTrace& t, model::TrackIndex track) : t_(t), track_(track) {}

  void Add(TimeNs time_ns, int64_t bytes, uint64_t address) {
    total_ += bytes;
    t_.data().memory.push_back({.track = track_,
                                .source = model::MemorySource::kHeap,
                                .time_ns = time_ns,
                                .address = address,
                                .bytes = bytes,
                                .total_allocated = total_});
  }

 private:
  TestTrace& t_;
  const model::TrackIndex track_;
  int64_t total_ = 0;
};

XSpaceView View(TestTrace t, const ExportOptions& options = {}) {
  const model::Trace trace = std::move(t).Build();
  return XSpaceView(ExportXSpace(trace, options));
}

TEST(MemoryEventsTest, StandBetweenTheRangesOfTheirThread) {
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  t.AddAnnotation(main, "ProfilerStep#0", 0, 100);
  t.AddRange(main, "f", 10, 20);
  Heap heap(t, main);
  heap.Add(5, 64, 0x7000'0000'1000);
  heap.Add(10, 1'000, 0x2000);  // after what begins at the same time
  heap.Add(20, -1'000, 0x2000);
  heap.Add(200, -64, 0x7000'0000'1000);
  EXPECT_THAT(
      View(std::move(t)).Texts(kHost, "main"),
      ElementsAre(
          "ProfilerStep(ProfilerStep#0) 0+100 _r=1 step_num=0",
          "MemoryAllocation 5+0 allocator_name->heap requested_bytes=64 "
          "allocation_bytes=64 bytes_allocated=64 bytes_reserved=0 "
          "peak_bytes_in_use=1064 addr=123145302315008",
          "f:f(f) 10+10",
          "MemoryAllocation 10+0 allocator_name->heap region_type->f "
          "requested_bytes=1000 allocation_bytes=1000 bytes_allocated=1064 "
          "bytes_reserved=0 peak_bytes_in_use=1064 addr=8192",
          "MemoryDeallocation 20+0 allocator_name->heap region_type->f "
          "requested_bytes=1000 allocation_bytes=1000 bytes_allocated=64 "
          "bytes_reserved=0 peak_bytes_in_use=1064 addr=8192",
          "MemoryDeallocation 200+0 allocator_name->heap requested_bytes=64 "
          "allocation_bytes=64 bytes_allocated=0 bytes_reserved=0 "
          "peak_bytes_in_use=1064 addr=123145302315008"));
}

TEST(MemoryEventsTest, ThreadsWithNothingElseHaveALine) {
  TestTrace t;
  t.AddRange(t.AddThread(7, 1, "a"), "f", 0, 10);
  Heap heap(t, t.AddThread(7, 2, "b"));
  t.AddRange(t.AddThread(7, 3, "c"), "g", 0, 10);
  heap.Add(5, 64, 64);
  const XSpaceView view = View(std::move(t));
  EXPECT_THAT(view.Texts(kHost, "a"), ElementsAre("f:f(f) 0+10"));
  EXPECT_THAT(view.Texts(kHost, "b"),
              ElementsAre(HasSubstr("MemoryAllocation 5+0")));
  EXPECT_THAT(view.Texts(kHost, "c"), ElementsAre("g:g(g) 0+10"));
}

TEST(MemoryEventsTest, DevicesAndFailuresOfTheProgramsOwn) {
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  t.data().memory.push_back({.track = main,
                             .device_type = 1,
                             .device_index = 0,
                             .time_ns = 1,
                             .address = 64,
                             .bytes = 512});
  t.data().memory.push_back({.track = main,
                             .event = model::MemoryEvent::kOutOfMemory,
                             .device_type = 1,
                             .device_index = 0,
                             .time_ns = 2,
                             .bytes = 4'096});
  // Nobody told the total: it is the sum.
  EXPECT_THAT(View(std::move(t)).Texts(kHost, "main"),
              ElementsAre("MemoryAllocation 1+0 allocator_name->cuda:0 "
                          "requested_bytes=512 allocation_bytes=512 "
                          "bytes_allocated=512 bytes_reserved=0 "
                          "peak_bytes_in_use=512 addr=64",
                          "OutOfMemory 2+0 allocator_name->cuda:0 "
                          "requested_bytes=4096"));
}

TEST(MemoryEventsTest, OfTooManyTheExtremesStay) {
  constexpr int kRecords = 100'000;
  TestTrace t;
  t.SetWindow(0, kRecords);
  Heap heap(t, t.AddThread(7, 42, "main"));
  for (int i = 0; i < kRecords / 2; ++i) {
    const int64_t bytes = i == 31'415 ? 1'000'000 : 16;
    heap.Add(2 * i, bytes, 64);
    heap.Add(2 * i + 1, -bytes, 64);
  }
  ExportOptions options;
  options.settings["tensorboard_memory_events"] = "1000";
  const XSpaceView view = View(std::move(t), options);
  const schema::XLine& line = view.Line(kHost, "main");
  EXPECT_LE(line.events_size(), 20'000);
  EXPECT_GT(line.events_size(), 10'000);
  EXPECT_THAT(view.Texts(kHost, "main"),
              testing::Contains(HasSubstr("MemoryAllocation 62830+0")));
  ASSERT_EQ(view.space().warnings_size(), 1);
  EXPECT_THAT(view.space().warnings(0),
              HasSubstr("tensorboard_memory_events: " +
                        std::to_string(kRecords - line.events_size()) + " "));
}

}  // namespace
}  // namespace kymo::tensorboard
