#include "tools/profile_command/job/rank_shard.h"

#include <sys/wait.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "profiler/base/clock.h"

namespace kymo::tools {
namespace {

class InstantWriter {
 public:
  InstantWriter(model::TraceShard& shard, int64_t pid) : shard_(shard) {
    shard_.tracks.push_back({.pid = pid, .id = pid});
    shard_.events.emplace_back();
  }

  model::Arg Number(std::string_view key, int64_t value) {
    return model::Arg::Int(shard_.strings.Intern(key), value);
  }
  model::Arg Text(std::string_view key, std::string_view value) {
    return model::Arg::String(shard_.strings.Intern(key),
                              shard_.strings.Intern(value));
  }

  void Add(std::string_view name, TimeNs time,
           std::initializer_list<model::Arg> args) {
    const auto begin = static_cast<uint32_t>(shard_.args.size());
    for (const model::Arg& arg : args) shard_.args.push_back(arg);
    model::TrackEvents& events = shard_.events.front();
    events.start_ns.push_back(time);
    events.end_ns.push_back(time);
    events.name.push_back(shard_.strings.Intern(name));
    events.type.push_back(model::ActivityType::kCpuInstantEvent);
    events.scope.push_back(model::RecordScope::kFunction);
    events.flags.push_back(model::kEventInstant);
    events.detail.push_back(
        static_cast<model::DetailIndex>(shard_.details.size()));
    shard_.details.push_back(
        {.args_begin = begin,
         .args_end = static_cast<uint32_t>(shard_.args.size())});
  }

 private:
  model::TraceShard& shard_;
};

}  // namespace

model::TraceShard RankShard(const RankOfTrace& rank,
                            const std::vector<ClockReading>& clocks) {
  model::TraceShard shard;
  InstantWriter writer(shard, rank.pid);
  const auto say_rank = [&](TimeNs time) {
    writer.Add(
        "job rank", time,
        {writer.Number("rank", rank.rank), writer.Number("size", rank.size),
         writer.Text("host", rank.host)});
  };
  say_rank(rank.start_ns);
  for (const ClockReading& clock : clocks) {
    // The offset holds for a little earlier or later, too.
    const TimeNs time =
        std::clamp(clock.mono_ns + EpochOffsetNs(), rank.start_ns, rank.end_ns);
    writer.Add("job clock", time,
               {writer.Number("mono_ns", time - EpochOffsetNs()),
                writer.Number("offset_ns", clock.offset_ns),
                writer.Number("bound_ns", clock.bound_ns)});
  }
  say_rank(rank.end_ns);
  return shard;
}

analysis::RankEnd EndOf(int wait_status, TimeNs time_ns) {
  const bool is_killed = WIFSIGNALED(wait_status);
  return {.time_ns = time_ns,
          .signal = is_killed ? WTERMSIG(wait_status) : 0,
          .status = is_killed ? 0 : WEXITSTATUS(wait_status)};
}

model::TraceShard RankEndShard(const RankOfTrace& rank,
                               const analysis::RankEnd& end) {
  model::TraceShard shard;
  InstantWriter writer(shard, rank.pid);
  writer.Add(
      "rank end", std::clamp(end.time_ns, rank.start_ns, rank.end_ns),
      {writer.Number("rank", rank.rank), writer.Number("signal", end.signal),
       writer.Number("status", end.status)});
  return shard;
}

}  // namespace kymo::tools
