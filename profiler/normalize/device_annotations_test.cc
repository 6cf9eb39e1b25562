#include "profiler/normalize/device_annotations.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/normalize/normalize.h"

namespace kymo::normalize {
namespace {

using model::ActivityType;
using model::TraceShard;

class ShardMaker {
 public:
  model::TrackIndex AddTrack(model::TrackKind kind, int64_t id,
                             int32_t device = -1) {
    model::Track track;
    track.kind = kind;
    track.pid = 1;
    track.id = id;
    track.device_index = device;
    shard.tracks.push_back(track);
    shard.events.emplace_back().track =
        static_cast<model::TrackIndex>(shard.tracks.size() - 1);
    return shard.events.back().track;
  }

  void Add(model::TrackIndex track, std::string_view name, ActivityType type,
           TimeNs start_ns, TimeNs end_ns, uint64_t correlation = 0) {
    model::TrackEvents& events = shard.events[track];
    events.start_ns.push_back(start_ns);
    events.end_ns.push_back(end_ns);
    events.name.push_back(shard.strings.Intern(name));
    events.type.push_back(type);
    events.scope.push_back(model::RecordScope::kFunction);
    events.flags.push_back(0);
    model::Detail detail;
    detail.correlation_id = correlation;
    shard.details.push_back(detail);
    events.detail.push_back(
        static_cast<model::DetailIndex>(shard.details.size() - 1));
  }

  TraceShard shard;
};

// "name stream start-end" of each.
std::vector<std::string> Text(const TraceShard& shard) {
  std::vector<std::string> lines;
  for (const model::TrackEvents& events : shard.events) {
    for (size_t i = 0; i < events.size(); ++i) {
      lines.push_back(std::string(shard.strings.Get(events.name[i])) + " " +
                      std::to_string(shard.tracks[events.track].id) + " " +
                      std::to_string(events.start_ns[i]) + "-" +
                      std::to_string(events.end_ns[i]));
    }
  }
  return lines;
}

class DeviceAnnotationsTest : public ::testing::Test {
 protected:
  std::vector<std::string> Project() {
    return Text(ProjectAnnotations({&s_.shard, 1}));
  }

  ShardMaker s_;
  const model::TrackIndex main_ = s_.AddTrack(model::TrackKind::kThread, 1);
  const model::TrackIndex stream_ =
      s_.AddTrack(model::TrackKind::kStream, 7, 0);
};

TEST_F(DeviceAnnotationsTest, ReachFromTheFirstToTheLastOfWhatTheyLaunched) {
  s_.Add(main_, "step", ActivityType::kUserAnnotation, 100, 200);
  s_.Add(main_, "launch", ActivityType::kCudaRuntime, 110, 120, 1);
  s_.Add(main_, "launch", ActivityType::kCudaRuntime, 130, 140, 2);
  s_.Add(main_, "launch", ActivityType::kCudaRuntime, 210, 220, 3);
  s_.Add(stream_, "a", ActivityType::kConcurrentKernel, 150, 160, 1);
  s_.Add(stream_, "b", ActivityType::kGpuMemcpy, 300, 400, 2);
  s_.Add(stream_, "c", ActivityType::kConcurrentKernel, 500, 600, 3);
  EXPECT_EQ(Project(), std::vector<std::string>{"step 7 149-401"});
}

TEST_F(DeviceAnnotationsTest, OneInAnotherHasItsOwn) {
  s_.Add(main_, "outer", ActivityType::kUserAnnotation, 100, 200);
  s_.Add(main_, "inner", ActivityType::kUserAnnotation, 105, 125);
  s_.Add(main_, "launch", ActivityType::kCudaRuntime, 110, 120, 1);
  s_.Add(main_, "launch", ActivityType::kCudaRuntime, 130, 140, 2);
  s_.Add(stream_, "a", ActivityType::kConcurrentKernel, 150, 160, 1);
  s_.Add(stream_, "b", ActivityType::kConcurrentKernel, 170, 180, 2);
  EXPECT_EQ(Project(),
            (std::vector<std::string>{"outer 7 149-181", "inner 7 149-161"}));
}

TEST_F(DeviceAnnotationsTest, StepsOfABusyStreamTouchAndDoNotOverlap) {
  for (TimeNs gap_ns : {0, 1, 2, 3}) {
    ShardMaker maker;
    const auto thread = maker.AddTrack(model::TrackKind::kThread, 1);
    const auto stream = maker.AddTrack(model::TrackKind::kStream, 7, 0);
    maker.Add(thread, "a", ActivityType::kUserAnnotation, 100, 200);
    maker.Add(thread, "launch", ActivityType::kCudaRuntime, 110, 120, 1);
    maker.Add(thread, "b", ActivityType::kUserAnnotation, 200, 300);
    maker.Add(thread, "launch", ActivityType::kCudaRuntime, 210, 220, 2);
    maker.Add(stream, "k", ActivityType::kConcurrentKernel, 400, 500, 1);
    maker.Add(stream, "k", ActivityType::kConcurrentKernel, 500 + gap_ns, 600,
              2);
    const std::string end = gap_ns == 0 ? "500" : "501";
    const std::string start = gap_ns == 0   ? "500"
                              : gap_ns == 1 ? "501"
                              : gap_ns == 2 ? "501"
                                            : "502";
    EXPECT_EQ(
        Text(ProjectAnnotations({&maker.shard, 1})),
        (std::vector<std::string>{"a 7 399-" + end, "b 7 " + start + "-601"}))
        << gap_ns;
  }
}

TEST_F(DeviceAnnotationsTest, WhatTookNoTimeIsWiderToo) {
  s_.Add(main_, "a", ActivityType::kUserAnnotation, 100, 200);
  s_.Add(main_, "launch", ActivityType::kCudaRuntime, 110, 120, 1);
  s_.Add(stream_, "k", ActivityType::kGpuMemset, 400, 400, 1);
  EXPECT_EQ(Project(), std::vector<std::string>{"a 7 399-401"});
}

TEST_F(DeviceAnnotationsTest, AnyTimesCanBeWidened) {
  using Limits = std::numeric_limits<TimeNs>;
  s_.Add(main_, "a", ActivityType::kUserAnnotation, 100, 200);
  s_.Add(main_, "launch", ActivityType::kCudaRuntime, 110, 120, 1);
  s_.Add(stream_, "k", ActivityType::kGpuMemset, Limits::min(), Limits::min(),
         1);
  s_.Add(stream_, "k", ActivityType::kGpuMemset, Limits::max(), Limits::max(),
         1);
  EXPECT_EQ(Project().size(), 1u);
}

TEST_F(DeviceAnnotationsTest, EachStreamHasItsOwn) {
  const auto other = s_.AddTrack(model::TrackKind::kStream, 9, 0);
  s_.Add(main_, "step", ActivityType::kUserAnnotation, 100, 200);
  s_.Add(main_, "launch", ActivityType::kCudaRuntime, 110, 120, 1);
  s_.Add(main_, "launch", ActivityType::kCudaRuntime, 130, 140, 2);
  s_.Add(stream_, "a", ActivityType::kConcurrentKernel, 150, 160, 1);
  s_.Add(other, "b", ActivityType::kConcurrentKernel, 170, 180, 2);
  EXPECT_EQ(Project(),
            (std::vector<std::string>{"step 7 149-161", "step 9 169-181"}));
}

TEST_F(DeviceAnnotationsTest, AnAnnotationOfAnotherThreadHasNoPart) {
  const auto other = s_.AddTrack(model::TrackKind::kThread, 2);
  s_.Add(other, "step", ActivityType::kUserAnnotation, 100, 200);
  s_.Add(main_, "launch", ActivityType::kCudaRuntime, 110, 120, 1);
  s_.Add(stream_, "a", ActivityType::kConcurrentKernel, 150, 160, 1);
  EXPECT_TRUE(Project().empty());
}

TEST_F(DeviceAnnotationsTest, ATraceThatHasThemGetsNoMore) {
  s_.Add(main_, "step", ActivityType::kUserAnnotation, 100, 200);
  s_.Add(main_, "launch", ActivityType::kCudaRuntime, 110, 120, 1);
  s_.Add(stream_, "a", ActivityType::kConcurrentKernel, 150, 160, 1);
  s_.Add(stream_, "step", ActivityType::kGpuUserAnnotation, 149, 161);
  EXPECT_TRUE(Project().empty());
}

TEST_F(DeviceAnnotationsTest, AreInTheTraceAroundTheirKernels) {
  s_.Add(main_, "step", ActivityType::kUserAnnotation, 100, 200);
  s_.Add(main_, "launch", ActivityType::kCudaRuntime, 110, 120, 1);
  s_.Add(stream_, "a", ActivityType::kConcurrentKernel, 150, 160, 1);
  std::vector<TraceShard> shards;
  shards.push_back(std::move(s_.shard));
  const auto trace =
      Normalize(std::move(shards), {.project_annotations = true});
  ASSERT_TRUE(trace.ok());
  const auto begin = trace->track_begin(1);
  ASSERT_EQ(trace->event_count(), begin + 2);
  EXPECT_EQ(trace->type()[begin], ActivityType::kGpuUserAnnotation);
  EXPECT_EQ(trace->EventName(begin), "step");
  EXPECT_EQ(trace->parent()[begin + 1], begin);
}

TEST_F(DeviceAnnotationsTest, CallsThatBeginAtTheBoundsAreInside) {
  s_.Add(main_, "step", ActivityType::kUserAnnotation, 100, 200);
  for (const auto& [start, id] : {std::pair(99, 1), std::pair(100, 2),
                                  std::pair(200, 3), std::pair(201, 4)}) {
    s_.Add(main_, "call",
           id == 2 ? ActivityType::kCudaDriver : ActivityType::kCudaRuntime,
           start, start, static_cast<uint64_t>(id));
    s_.Add(stream_, "k", ActivityType::kConcurrentKernel, 280 + 20 * id,
           290 + 20 * id, static_cast<uint64_t>(id));
  }
  EXPECT_EQ(Project(), std::vector<std::string>{"step 7 319-351"});
}

TEST_F(DeviceAnnotationsTest, OpenAnnotationsReachToTheEndAndOthersAreNone) {
  s_.Add(main_, "open", ActivityType::kUserAnnotation, 100, 0);
  s_.Add(main_, "instant", ActivityType::kUserAnnotation, 100, 900);
  s_.shard.events[main_].flags.back() = model::kEventInstant;
  s_.Add(main_, "async", ActivityType::kUserAnnotation, 100, 900);
  s_.shard.events[main_].flags.back() = model::kEventAsync;
  s_.Add(main_, "op", ActivityType::kCpuOp, 100, 900);
  s_.Add(main_, "call", ActivityType::kCudaRuntime, 800, 801, 1);
  s_.Add(main_, "no id", ActivityType::kCudaRuntime, 810, 811, 0);
  s_.Add(stream_, "k", ActivityType::kConcurrentKernel, 850, 860, 1);
  s_.Add(stream_, "of nobody", ActivityType::kConcurrentKernel, 870, 880, 0);
  s_.Add(stream_, "wait", ActivityType::kCudaSync, 890, 899, 1);
  EXPECT_EQ(Project(), std::vector<std::string>{"open 7 849-861"});
}

// Numbers of calls are a process's, and streams a device's.
TEST_F(DeviceAnnotationsTest, ProcessesAndDevicesStandApart) {
  const auto second_device = s_.AddTrack(model::TrackKind::kStream, 7, 1);
  const auto other_main = s_.AddTrack(model::TrackKind::kThread, 1);
  const auto other_stream = s_.AddTrack(model::TrackKind::kStream, 7, 0);
  for (const auto track : {other_main, other_stream}) {
    s_.shard.tracks[track].pid = 2;
  }
  s_.Add(main_, "a", ActivityType::kUserAnnotation, 100, 200);
  s_.Add(main_, "call", ActivityType::kCudaRuntime, 110, 120, 1);
  s_.Add(main_, "call", ActivityType::kCudaRuntime, 130, 140, 2);
  s_.Add(other_main, "b", ActivityType::kUserAnnotation, 100, 200);
  s_.Add(other_main, "call", ActivityType::kCudaRuntime, 110, 120, 1);
  s_.Add(stream_, "k", ActivityType::kConcurrentKernel, 300, 310, 1);
  s_.Add(second_device, "k", ActivityType::kConcurrentKernel, 400, 410, 2);
  s_.Add(other_stream, "k", ActivityType::kConcurrentKernel, 500, 510, 1);
  const TraceShard shard = ProjectAnnotations({&s_.shard, 1});
  EXPECT_EQ(Text(shard), (std::vector<std::string>{"a 7 299-311", "a 7 399-411",
                                                   "b 7 499-511"}));
  ASSERT_EQ(shard.tracks.size(), 3u);
  EXPECT_EQ(shard.tracks[0].pid, 1);
  EXPECT_EQ(shard.tracks[0].device_index, 0);
  EXPECT_EQ(shard.tracks[1].device_index, 1);
  EXPECT_EQ(shard.tracks[2].pid, 2);
  for (const model::TrackEvents& events : shard.events) {
    EXPECT_EQ(shard.tracks[events.track].kind, model::TrackKind::kStream);
    EXPECT_EQ(events.type[0], ActivityType::kGpuUserAnnotation);
    EXPECT_EQ(events.scope[0], model::RecordScope::kUserScope);
    EXPECT_EQ(events.flags[0], 0);
  }
}

// Records need not stand in the order of time, nor in one shard.
TEST_F(DeviceAnnotationsTest, ThePartsOfABlockAndOtherShardsAreRead) {
  s_.Add(main_, "call", ActivityType::kCudaRuntime, 110, 120, 1);
  s_.Add(main_, "step", ActivityType::kUserAnnotation, 100, 200);
  ShardMaker work;
  const auto idle = work.AddTrack(model::TrackKind::kStream, 3, 0);
  const auto stream = work.AddTrack(model::TrackKind::kStream, 7, 0);
  work.Add(stream, "k", ActivityType::kConcurrentKernel, 300, 310, 1);
  // The same records as a block.
  model::EventBlock& block = work.shard.block;
  static_cast<model::EventColumns&>(block) = work.shard.events[stream];
  work.shard.events.clear();
  block.parts = {{.track = idle, .end = 0}, {.track = stream, .end = 1}};
  std::vector<TraceShard> shards;
  shards.push_back(std::move(s_.shard));
  shards.push_back(std::move(work.shard));
  EXPECT_EQ(Text(ProjectAnnotations(shards)),
            std::vector<std::string>{"step 7 299-311"});
}

}  // namespace
}  // namespace kymo::normalize
