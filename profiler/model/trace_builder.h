// trace_builder.h - small shards by hand, for tests, importers and examples.
//
//   ShardBuilder builder;
//   TrackIndex main = builder.AddThread(/*pid=*/1, /*tid=*/1, "main");
//   builder.AddRange(main, "forward", 100, 900);
//   builder.AddRange(main, "matmul", 200, 700);
//   TraceShard shard = std::move(builder).Build();
//
// Ranges of a track must be added in start order. Nesting comes from the times
// unless a depth is given.
#ifndef KYMO_PROFILER_MODEL_TRACE_BUILDER_H_
#define KYMO_PROFILER_MODEL_TRACE_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/model/trace_shard.h"

namespace kymo::model {

class ShardBuilder {
 public:
  void AddProcess(int64_t pid, std::string_view name) {
    shard_.processes.push_back({.pid = pid, .name = Intern(name)});
  }

  TrackIndex AddThread(int64_t pid, int64_t tid, std::string_view name) {
    shard_.tracks.push_back({.kind = TrackKind::kThread,
                             .pid = pid,
                             .id = tid,
                             .name = Intern(name)});
    const TrackIndex track = static_cast<TrackIndex>(shard_.tracks.size() - 1);
    shard_.events.emplace_back().track = track;
    return track;
  }

  // `end_ns` 0 = open.
  void AddRange(TrackIndex track, std::string_view name, TimeNs start_ns,
                TimeNs end_ns, ActivityType type = ActivityType::kCpuOp,
                std::initializer_list<Arg> args = {}) {
    Add(track, name, start_ns, end_ns, type, 0, args);
  }

  void AddInstant(TrackIndex track, std::string_view name, TimeNs time_ns,
                  std::initializer_list<Arg> args = {}) {
    Add(track, name, time_ns, time_ns, ActivityType::kCpuInstantEvent,
        kEventInstant, args);
  }

  void AddCounter(TrackIndex track, std::string_view name, TimeNs time_ns,
                  double value) {
    shard_.counters.push_back({track, Intern(name), time_ns, value});
  }

  // Frames by function name, outermost first.
  void AddSample(TrackIndex track, TimeNs time_ns, DurationNs weight_ns,
                 std::initializer_list<std::string_view> frames) {
    StackId stack = kEmptyStack;
    for (const std::string_view function : frames) {
      stack = shard_.stacks.Push(
          stack, shard_.stacks.AddFrame({.function = Intern(function)}));
    }
    shard_.samples.push_back({track, stack, time_ns, weight_ns});
  }

  NameId Intern(std::string_view text) { return shard_.strings.Intern(text); }
  TraceShard& shard() { return shard_; }
  TraceShard Build() && { return std::move(shard_); }

 private:
  void Add(TrackIndex track, std::string_view name, TimeNs start_ns,
           TimeNs end_ns, ActivityType type, uint8_t flags,
           std::initializer_list<Arg> args) {
    TrackEvents& events = shard_.events[track];
    events.start_ns.push_back(start_ns);
    events.end_ns.push_back(end_ns);
    events.name.push_back(Intern(name));
    events.type.push_back(type);
    events.scope.push_back(type == ActivityType::kUserAnnotation
                               ? RecordScope::kUserScope
                               : RecordScope::kFunction);
    events.flags.push_back(flags);
    DetailIndex detail = kNoDetail;
    if (args.size() != 0) {
      detail = static_cast<DetailIndex>(shard_.details.size());
      const uint32_t begin = static_cast<uint32_t>(shard_.args.size());
      shard_.args.insert(shard_.args.end(), args);
      shard_.details.push_back(
          {.args_begin = begin,
           .args_end = static_cast<uint32_t>(shard_.args.size())});
    }
    events.detail.push_back(detail);
  }

  TraceShard shard_;
};

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_TRACE_BUILDER_H_
