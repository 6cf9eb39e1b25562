#include "profiler/normalize/device_annotations.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
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

}  // namespace
}  // namespace kymo::normalize
