#include "importers/load/message_clocks.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "profiler/model/mpi_names.h"

namespace kymo {
namespace {

// The calls that no rank leaves before all ranks have entered.
constexpr std::string_view kMeetings[] = {"MPI_Barrier", "MPI_Allreduce",
                                          "MPI_Allgather", "MPI_Alltoall"};

struct Interval {
  TimeNs begin_ns = 0;
  TimeNs end_ns = 0;  // 0: it was open when the recording ended
  bool operator<(const Interval& other) const {
    return begin_ns < other.begin_ns;
  }
};

// The other rank, the communicator and the tag.
using MessageKey = std::tuple<int64_t, int64_t, int64_t>;
// The communicator, and the name of the call.
using MeetingKey = std::pair<int64_t, std::string>;

// What a rank told others, in its own times and in the order of their begins.
struct Calls {
  std::map<MessageKey, std::vector<Interval>> sends;
  std::map<MessageKey, std::vector<Interval>> receives;
  std::map<MeetingKey, std::vector<Interval>> meetings;
  // By number, when MPI_Mprobe and its like found a message.
  std::map<int64_t, TimeNs> found;
};

struct CallArgs {
  int64_t comm = -1;
  int64_t to = -1;
  int64_t from = -1;
  int64_t tag = -1;
  std::optional<int64_t> from_tag;
  std::optional<int64_t> message;
  bool has_failed = false;
};

CallArgs ArgsOf(const model::TraceShard& shard, const model::Detail& detail) {
  CallArgs args;
  for (uint32_t i = detail.args_begin; i < detail.args_end; ++i) {
    const model::Arg& arg = shard.args[i];
    if (arg.type != model::ArgType::kInt) continue;
    const std::string_view key = shard.strings.Get(arg.key);
    if (key == "comm") args.comm = arg.int_value();
    if (key == "to") args.to = arg.int_value();
    if (key == "from") args.from = arg.int_value();
    if (key == "tag") args.tag = arg.int_value();
    if (key == "from_tag") args.from_tag = arg.int_value();
    if (key == "message") args.message = arg.int_value();
    if (key == "failed") args.has_failed = true;
  }
  return args;
}

void AddCall(std::string_view name, const CallArgs& args, bool is_request,
             const Interval& when, Calls& calls) {
  if (!model::StandsForMessages(name, is_request, args.has_failed, args.from)) {
    return;
  }
  const auto key = [&](int64_t rank, int64_t tag) {
    return MessageKey(rank, args.comm, model::LaneOfTag(name, tag));
  };
  if (args.to >= 0) calls.sends[key(args.to, args.tag)].push_back(when);
  if (args.from >= 0) {
    Interval received = when;
    // Nobody else could receive it from when it was found.
    if (const auto at = calls.found.find(args.message.value_or(-1));
        at != calls.found.end()) {
      received.begin_ns = at->second;
    }
    calls.receives[key(args.from, args.from_tag.value_or(args.tag))].push_back(
        received);
  }
  if (!is_request && std::ranges::count(kMeetings, name) != 0) {
    calls.meetings[{args.comm, std::string(name)}].push_back(when);
  }
}

void NoteFound(const model::TraceShard& shard, const model::EventColumns& from,
               Calls& calls) {
  if (from.detail.empty()) return;
  for (size_t i = 0; i < from.size(); ++i) {
    const std::string_view name = shard.strings.Get(from.name[i]);
    if (!model::IsMatchedProbe(name) || from.detail[i] == model::kNoDetail) {
      continue;
    }
    const CallArgs args = ArgsOf(shard, shard.details[from.detail[i]]);
    if (args.message) calls.found[*args.message] = from.end_ns[i];
  }
}

void AddEvents(const model::TraceShard& shard, const model::EventColumns& from,
               Calls& calls) {
  if (from.detail.empty()) return;
  for (size_t i = 0; i < from.size(); ++i) {
    const std::string_view name = shard.strings.Get(from.name[i]);
    if (!name.starts_with("MPI_") || from.detail[i] == model::kNoDetail ||
        (from.flags[i] & model::kEventInstant) != 0) {
      continue;
    }
    const bool is_open = (from.flags[i] & model::kEventOpen) != 0;
    AddCall(name, ArgsOf(shard, shard.details[from.detail[i]]),
            (from.flags[i] & model::kEventAsync) != 0,
            {from.start_ns[i], is_open ? 0 : from.end_ns[i]}, calls);
  }
}

Calls CallsOf(const FileOfRank& file) {
  Calls calls;
  for (const auto use : {NoteFound, AddEvents}) {
    for (const model::TraceShard& shard : file.shards) {
      use(shard, shard.block, calls);
      for (const model::TrackEvents& events : shard.events) {
        use(shard, events, calls);
      }
    }
  }
  const auto sort = [](auto& by_key) {
    for (auto& [key, intervals] : by_key)
      std::stable_sort(intervals.begin(), intervals.end());
  };
  sort(calls.sends);
  sort(calls.receives);
  sort(calls.meetings);
  return calls;
}

// Limits of the differences between the clocks of files.
class Limits {
 public:
  explicit Limits(size_t files) : files_(files) {}

  // What must be added to the times of `file` is more than what must be added
  // to those of `other` by at most so much.
  void Add(size_t file, size_t other, DurationNs most) {
    const auto [at, is_new] = most_.try_emplace({file, other}, most);
    if (!is_new) at->second = std::min(at->second, most);
  }

  // The first began before the second one ended.
  void AddOrder(size_t file, const std::vector<Interval>& first, size_t other,
                const std::vector<Interval>& second) {
    // Of different numbers, it is not known which ones belong together.
    if (file == other || first.size() != second.size()) return;
    for (size_t i = 0; i < first.size(); ++i) {
      if (second[i].end_ns == 0) continue;
      Add(file, other, second[i].end_ns - first[i].begin_ns);
    }
  }

  // By file: how much more must be added to its times than to those of
  // `reference`, at most or (if `least`) at least. Nothing for files without a
  // limit; nothing at all if the limits contradict.
  std::map<size_t, DurationNs> Solve(size_t reference, bool least) const {
    std::map<size_t, DurationNs> found = {{reference, 0}};
    for (size_t round = 0; round <= files_; ++round) {
      bool changes = false;
      for (const auto& [pair, most] : most_) {
        const auto [file, other] = pair;
        const auto from = found.find(least ? file : other);
        if (from == found.end()) continue;
        const DurationNs limit =
            least ? from->second - most : from->second + most;
        const auto [at, is_new] =
            found.try_emplace(least ? other : file, limit);
        const bool is_tighter = least ? limit > at->second : limit < at->second;
        if (is_tighter) at->second = limit;
        changes |= is_new || is_tighter;
      }
      if (!changes) return found;
    }
    return {};
  }

 private:
  const size_t files_;
  std::map<std::pair<size_t, size_t>, DurationNs> most_;
};

Limits LimitsOf(std::span<const FileOfRank> files) {
  std::vector<Calls> calls;
  std::map<int64_t, size_t> by_rank;
  for (size_t i = 0; i < files.size(); ++i) {
    calls.push_back(CallsOf(files[i]));
    by_rank[files[i].rank] = i;
  }
  Limits limits(files.size());
  std::map<MeetingKey, size_t> hubs;  // all others are compared with this one
  for (size_t i = 0; i < files.size(); ++i) {
    for (const auto& [key, sends] : calls[i].sends) {
      const auto& [to, comm, tag] = key;
      const auto other = by_rank.find(to);
      if (other == by_rank.end()) continue;
      const auto& theirs = calls[other->second].receives;
      const auto at = theirs.find({files[i].rank, comm, tag});
      if (at == theirs.end()) continue;
      limits.AddOrder(i, sends, other->second, at->second);
    }
    for (const auto& [key, meetings] : calls[i].meetings) {
      const size_t hub = hubs.try_emplace(key, i).first->second;
      const std::vector<Interval>& others = calls[hub].meetings.at(key);
      limits.AddOrder(hub, others, i, meetings);
      limits.AddOrder(i, meetings, hub, others);
    }
  }
  return limits;
}

// The least and the most that must be added to the times of a file.
using Ranges = std::map<size_t, std::pair<DurationNs, DurationNs>>;

Ranges RangesOf(const Limits& limits, size_t reference) {
  const std::map<size_t, DurationNs> most = limits.Solve(reference, false);
  const std::map<size_t, DurationNs> least = limits.Solve(reference, true);
  Ranges ranges;
  for (const auto& [file, limit] : most) {
    const auto at = least.find(file);
    if (at != least.end()) ranges[file] = {at->second, limit};
  }
  return ranges;
}

// The same with all files of a host on one clock.
Ranges RangesByHost(std::span<const FileOfRank> files, Limits limits,
                    size_t reference) {
  std::map<std::string, size_t> first_of;
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].is_known || files[i].host.empty()) continue;
    const size_t first = first_of.try_emplace(files[i].host, i).first->second;
    limits.Add(i, first, 0);
    limits.Add(first, i, 0);
  }
  return RangesOf(limits, reference);
}

}  // namespace

std::vector<std::optional<FoundClock>> ClocksFromMessages(
    std::span<const FileOfRank> files) {
  std::vector<std::optional<FoundClock>> clocks(files.size());
  if (files.empty()) return clocks;
  const auto known = std::ranges::find(files, true, &FileOfRank::is_known);
  const size_t reference = known == files.end() ? 0 : known - files.begin();
  Limits limits = LimitsOf(files);
  for (size_t i = 0; i < files.size(); ++i) {
    if (!files[i].is_known) continue;
    limits.Add(i, reference, 0);
    limits.Add(reference, i, 0);
  }
  const Ranges ranges = RangesOf(limits, reference);
  const Ranges by_host = RangesByHost(files, limits, reference);
  for (const auto& [file, range] : ranges) {
    const auto [least, most] = range;
    const auto at = by_host.find(file);
    const auto [low, high] = at != by_host.end() ? at->second : range;
    const DurationNs ahead = low + (high - low) / 2;
    clocks[file] = FoundClock{
        .ahead_ns = ahead, .bound_ns = std::max(most - ahead, ahead - least)};
  }
  return clocks;
}

}  // namespace kymo
