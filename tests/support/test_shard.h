// test_shard.h - small shards by hand, for tests.
//
//   TestShard t;
//   const TrackIndex main = t.AddThread(/*pid=*/1, /*tid=*/1, "main");
//   t.AddRange(main, "forward", 100, 900);
//   t.AddRange(main, "matmul", 200, 700);
//   model::TraceShard shard = std::move(t).Build();
//
// Add the ranges of a track in start order. Nesting comes from the times unless
// a depth is given.
#ifndef KYMO_TESTS_SUPPORT_TEST_SHARD_H_
#define KYMO_TESTS_SUPPORT_TEST_SHARD_H_

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "profiler/base/record_scope.h"
#include "profiler/base/time.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"
#include "profiler/model/trace_shard.h"

namespace kymo {

class TestShard {
 public:
  void AddProcess(int64_t pid, std::string_view name) {
    shard_.processes.push_back({.pid = pid, .name = Intern(name)});
  }

  model::TrackIndex AddThread(int64_t pid, int64_t tid, std::string_view name) {
    shard_.tracks.push_back({.kind = model::TrackKind::kThread,
                             .pid = pid,
                             .id = tid,
                             .name = Intern(name)});
    const model::TrackIndex track =
        static_cast<model::TrackIndex>(shard_.tracks.size() - 1);
    shard_.events.emplace_back().track = track;
    return track;
  }

  // `end_ns` 0 = open.
  void AddRange(model::TrackIndex track, std::string_view name, TimeNs start_ns,
                TimeNs end_ns,
                model::ActivityType type = model::ActivityType::kCpuOp,
                std::initializer_list<model::Arg> args = {}) {
    Add(track, name, start_ns, end_ns, type, 0, args);
  }

  void AddInstant(model::TrackIndex track, std::string_view name,
                  TimeNs time_ns, std::initializer_list<model::Arg> args = {}) {
    Add(track, name, time_ns, time_ns, model::ActivityType::kCpuInstantEvent,
        model::kEventInstant, args);
  }

  // Frames by function name, outermost first.
  void AddSample(model::TrackIndex track, TimeNs time_ns, DurationNs weight_ns,
                 std::initializer_list<std::string_view> frames) {
    model::StackId stack = model::kEmptyStack;
    for (const std::string_view function : frames) {
      stack = shard_.stacks.Push(
          stack, shard_.stacks.AddFrame({.function = Intern(function)}));
    }
    shard_.samples.push_back({track, stack, time_ns, weight_ns});
  }

  model::NameId Intern(std::string_view text) {
    return shard_.strings.Intern(text);
  }
  model::TraceShard& shard() { return shard_; }
  model::TraceShard Build() && { return std::move(shard_); }

 private:
  void Add(model::TrackIndex track, std::string_view name, TimeNs start_ns,
           TimeNs end_ns, model::ActivityType type, uint8_t flags,
           std::initializer_list<model::Arg> args) {
    model::TrackEvents& events = shard_.events[track];
    events.start_ns.push_back(start_ns);
    events.end_ns.push_back(end_ns);
    events.name.push_back(Intern(name));
    events.type.push_back(type);
    events.scope.push_back(type == model::ActivityType::kUserAnnotation
                               ? RecordScope::kUserScope
                               : RecordScope::kFunction);
    events.flags.push_back(flags);
    model::DetailIndex detail = model::kNoDetail;
    if (args.size() != 0) {
      detail = static_cast<model::DetailIndex>(shard_.details.size());
      const uint32_t begin = static_cast<uint32_t>(shard_.args.size());
      shard_.args.insert(shard_.args.end(), args);
      shard_.details.push_back(
          {.args_begin = begin,
           .args_end = static_cast<uint32_t>(shard_.args.size())});
    }
    events.detail.push_back(detail);
  }

  model::TraceShard shard_;
};

}  // namespace kymo

#endif  // KYMO_TESTS_SUPPORT_TEST_SHARD_H_
