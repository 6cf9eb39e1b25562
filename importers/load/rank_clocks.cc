#include "importers/load/rank_clocks.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "importers/load/message_clocks.h"
#include "importers/load/rank_metadata.h"

namespace kymo {
namespace {

// What clocks say since boot, and what they differ by, is less. Until 2043,
// times are less than twice as much. Sums of all of them fit.
constexpr int64_t kMostClock = int64_t{1} << 60;

bool MayBeClock(const ClockPoint& point) {
  const auto is_less = [](int64_t ns, int64_t most) {
    return ns > -most && ns < most;
  };
  return point.bound_ns >= 0 && is_less(point.bound_ns, kMostClock) &&
         is_less(point.mono_ns, kMostClock) &&
         is_less(point.offset_ns, kMostClock) &&
         is_less(point.time_ns, 2 * kMostClock);
}

// The numbers of the arguments of one event.
int64_t NumberOf(const model::TraceShard& shard, const model::Detail& detail,
                 std::string_view key) {
  for (uint32_t i = detail.args_begin; i < detail.args_end; ++i) {
    const model::Arg& arg = shard.args[i];
    if (shard.strings.Get(arg.key) != key) continue;
    if (arg.type != model::ArgType::kDouble) return arg.int_value();
    const double value = arg.double_value();
    return std::abs(value) < static_cast<double>(kMostClock)
               ? static_cast<int64_t>(value)
               : 0;
  }
  return 0;
}

std::string TextOf(const model::TraceShard& shard, const model::Detail& detail,
                   std::string_view key) {
  for (uint32_t i = detail.args_begin; i < detail.args_end; ++i) {
    const model::Arg& arg = shard.args[i];
    if (shard.strings.Get(arg.key) == key && arg.has_text()) {
      return std::string(shard.strings.Get(arg.string_value()));
    }
  }
  return "";
}

// The track of the event at `index` of the block.
model::TrackIndex TrackInBlock(const model::EventBlock& block, size_t index) {
  for (const model::EventBlock::Part& part : block.parts) {
    if (index < part.end) return part.track;
  }
  return 0;
}

// Calls use(time, detail, track) for each event of that name with details.
template <typename Use>
void ForEachNamed(const model::TraceShard& shard, std::string_view text,
                  Use use) {
  const std::optional<model::NameId> name = shard.strings.Find(text);
  if (!name) return;
  const auto look = [&](const model::EventColumns& events, auto track_of) {
    if (events.detail.empty()) return;
    for (size_t i = 0; i < events.size(); ++i) {
      if (events.name[i] != *name || events.detail[i] == model::kNoDetail) {
        continue;
      }
      use(events.start_ns[i], shard.details[events.detail[i]], track_of(i));
    }
  };
  look(shard.block, [&](size_t i) { return TrackInBlock(shard.block, i); });
  for (const model::TrackEvents& events : shard.events) {
    look(events, [&](size_t) { return events.track; });
  }
}

std::string Microseconds(DurationNs ns) {
  return absl::StrFormat("%.3f us", static_cast<double>(ns) * 1e-3);
}

ImportFinding AlignedByMessages(int64_t rank, DurationNs bound) {
  return {.severity = ImportFinding::Severity::kNote,
          .rule = "rank_clock_by_messages",
          .message = absl::StrCat(
              "the clock of rank ", rank,
              " was not measured; by the rank's messages it is known to ",
              Microseconds(bound)),
          .count = 1};
}

ImportFinding Jumped(int64_t rank, DurationNs jump) {
  return {.severity = ImportFinding::Severity::kWarning,
          .rule = "rank_clock_jumped",
          .message = absl::StrCat(
              "the clock of rank ", rank, " jumped by ", Microseconds(jump),
              " against that of rank 0 while the job ran, so its times are "
              "wrong by up to so much"),
          .count = 1};
}

// Draws how uncertain the rank's clock is.
class UncertaintyShard {
 public:
  explicit UncertaintyShard(const RankClock& clock) {
    shard_.tracks.push_back(clock.track);
    shard_.events.emplace_back();
  }

  // Such an instant is read as a measurement by analyses.
  void AddClock(TimeNs time, DurationNs bound) {
    AddArgs({{"mono_ns", time}, {"offset_ns", 0}, {"bound_ns", bound}});
    AddEvent("MPI clock", time, time, model::ActivityType::kCpuInstantEvent,
             model::kEventInstant);
  }
  void AddRank(const RankClock& clock, TimeNs time) {
    AddArgs({{"rank", clock.rank}, {"size", clock.told_size}});
    if (!clock.host.empty()) {
      shard_.args.push_back(model::Arg::String(
          shard_.strings.Intern("host"), shard_.strings.Intern(clock.host)));
      ++shard_.details.back().args_end;
    }
    AddEvent("job rank", time, time, model::ActivityType::kCpuInstantEvent,
             model::kEventInstant);
  }
  void AddRange(std::string_view name, TimeNs begin, TimeNs end) {
    AddArgs({});
    AddEvent(name, begin, end, model::ActivityType::kUserAnnotation,
             model::kEventAsync);
  }
  model::TraceShard Take() { return std::move(shard_); }

 private:
  void AddArgs(
      std::initializer_list<std::pair<std::string_view, int64_t>> args) {
    const auto begin = static_cast<uint32_t>(shard_.args.size());
    for (const auto& [key, value] : args) {
      shard_.args.push_back(model::Arg::Int(shard_.strings.Intern(key), value));
    }
    shard_.details.push_back(
        {.args_begin = begin,
         .args_end = static_cast<uint32_t>(shard_.args.size())});
  }
  void AddEvent(std::string_view name, TimeNs begin, TimeNs end,
                model::ActivityType type, uint8_t flags) {
    model::TrackEvents& events = shard_.events.front();
    events.start_ns.push_back(begin);
    events.end_ns.push_back(end);
    events.name.push_back(shard_.strings.Intern(name));
    events.type.push_back(type);
    events.scope.push_back(model::RecordScope::kFunction);
    events.flags.push_back(flags);
    events.detail.push_back(
        static_cast<model::DetailIndex>(shard_.details.size() - 1));
  }

  model::TraceShard shard_;
};

ImportFinding NotAligned(int64_t rank) {
  return {.severity = ImportFinding::Severity::kWarning,
          .rule = "rank_clock_unknown",
          .message = absl::StrCat(
              "the clock of rank ", rank,
              " was not measured, so its times are those of its machine and "
              "may be off against other ranks by milliseconds or more; record "
              "all ranks with --ranks"),
          .count = 1};
}

}  // namespace

std::optional<RankClock> FindRankClock(
    std::span<const model::TraceShard> shards) {
  std::optional<RankClock> clock;
  bool has_several = false;
  const auto for_each = [&](std::string_view name, auto use) {
    for (const model::TraceShard& shard : shards) {
      ForEachNamed(
          shard, name,
          [&](TimeNs time, const model::Detail& detail,
              model::TrackIndex track) { use(shard, time, detail, track); });
    }
  };
  const auto read_rank = [&](const model::TraceShard& shard, TimeNs /*time*/,
                             const model::Detail& detail,
                             model::TrackIndex track) {
    const int64_t rank = NumberOf(shard, detail, "rank");
    has_several |= clock && clock->rank != rank;
    clock = RankClock{.rank = rank, .host = TextOf(shard, detail, "host")};
    if (track < shard.tracks.size()) {
      clock->track = {.pid = shard.tracks[track].pid,
                      .id = shard.tracks[track].id};
    }
  };
  // Of a rank that is alone in MPI, the command knows which one of several it
  // is (`srun --mpi=none`).
  const auto is_of_several = [&](std::string_view name) {
    bool is = false;
    for_each(name,
             [&](const model::TraceShard& shard, TimeNs /*time*/,
                 const model::Detail& detail, model::TrackIndex /*track*/) {
               is |= NumberOf(shard, detail, "size") > 1;
             });
    return is;
  };
  const bool is_alone_in_mpi =
      is_of_several("job rank") && !is_of_several("MPI ranks");
  if (!is_alone_in_mpi) for_each("MPI ranks", read_rank);
  for_each("job rank", read_rank);
  if (!clock || has_several) return std::nullopt;
  const auto read_clock = [&](const model::TraceShard& shard, TimeNs time,
                              const model::Detail& detail,
                              model::TrackIndex /*track*/) {
    const ClockPoint point = {.time_ns = time,
                              .mono_ns = NumberOf(shard, detail, "mono_ns"),
                              .offset_ns = NumberOf(shard, detail, "offset_ns"),
                              .bound_ns = NumberOf(shard, detail, "bound_ns")};
    if (MayBeClock(point)) clock->points.push_back(point);
  };
  // Where MPI has measured the clock, its messages were the faster ones.
  if (!is_alone_in_mpi) for_each("MPI clock", read_clock);
  if (clock->points.empty()) for_each("job clock", read_clock);
  std::sort(clock->points.begin(), clock->points.end(),
            [](const ClockPoint& a, const ClockPoint& b) {
              return a.time_ns < b.time_ns;
            });
  return clock;
}

namespace {

void Move(const RankFile& file, const model::TimeMap& map) {
  for (model::TraceShard& shard : file.shards) model::MoveTimes(shard, map);
  for (TimeNs* const time : {file.start_ns, file.end_ns}) {
    if (*time != 0) *time = map(*time);
  }
}

// The time of the recording; of a file that does not say it, that of its
// events.
std::pair<TimeNs, TimeNs> TimesOf(const RankFile& file) {
  if (*file.start_ns != 0 || *file.end_ns != 0) {
    return {*file.start_ns, *file.end_ns};
  }
  TimeNs first = std::numeric_limits<TimeNs>::max();
  TimeNs last = 0;
  const auto look = [&](const model::EventColumns& events) {
    for (size_t i = 0; i < events.size(); ++i) {
      first = std::min(first, events.start_ns[i]);
      last = std::max({last, events.start_ns[i], events.end_ns[i]});
    }
  };
  for (const model::TraceShard& shard : file.shards) {
    look(shard.block);
    for (const model::TrackEvents& events : shard.events) look(events);
  }
  return {std::min(first, last), last};
}

using Clocks = std::vector<std::optional<RankClock>>;

// The files of ranks whose clocks were not measured.
std::vector<model::TraceShard> AlignByMessages(std::span<const RankFile> files,
                                               const Clocks& clocks) {
  std::vector<FileOfRank> ranks;
  std::vector<size_t> file_of;
  for (size_t i = 0; i < files.size(); ++i) {
    if (!clocks[i]) continue;
    ranks.push_back({.rank = clocks[i]->rank,
                     .host = clocks[i]->host,
                     .shards = files[i].shards,
                     .is_known = !clocks[i]->points.empty()});
    file_of.push_back(i);
  }
  std::vector<model::TraceShard> drawn;
  if (std::ranges::all_of(ranks, &FileOfRank::is_known)) return drawn;
  const auto found = ClocksFromMessages(ranks);
  // The reference's own does not count.
  const bool is_any_known = std::ranges::any_of(ranks, &FileOfRank::is_known);
  const bool is_any_found = std::ranges::count_if(found, [](const auto& f) {
                              return f.has_value();
                            }) > (is_any_known ? 0 : 1);
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].is_known) continue;
    const RankFile& file = files[file_of[i]];
    const RankClock& clock = *clocks[file_of[i]];
    UncertaintyShard uncertain(clock);
    if (clock.told_size > 0) {
      const auto [begin, end] = TimesOf(file);
      uncertain.AddRank(clock, begin);
      uncertain.AddRank(clock, end);
    }
    if (found[i] && is_any_found) {
      const auto& [ahead, bound] = *found[i];
      Move(file, {.from_ns = 0, .to_ns = ahead});
      const auto [begin, end] = TimesOf(file);
      uncertain.AddClock(begin, bound);
      if (bound != 0) {
        file.findings->push_back(AlignedByMessages(ranks[i].rank, bound));
        uncertain.AddRange(absl::StrCat("clock +- ", Microseconds(bound)),
                           begin, std::min(begin + 2 * bound, end));
      }
    } else {
      file.findings->push_back(NotAligned(ranks[i].rank));
      const auto [begin, end] = TimesOf(file);
      uncertain.AddRange("clock not measured", begin, end);
    }
    drawn.push_back(uncertain.Take());
  }
  return drawn;
}

// The files of which only their metadata says of which rank they are.
void AddToldRanks(std::span<const RankFile> files, Clocks& clocks) {
  Clocks told(files.size());
  std::set<int64_t> ranks;
  for (size_t i = 0; i < files.size(); ++i) {
    if (clocks[i]) continue;
    const std::optional<RankMetadata> of = FindRankMetadata(files[i].shards);
    if (!of) continue;
    told[i] = RankClock{.rank = of->rank,
                        .host = of->host,
                        .track = of->track,
                        .told_size = of->size};
    ranks.insert(of->rank);
  }
  // Several files of one rank are no job, but perhaps runs that are compared.
  const auto count = std::ranges::count_if(
      told, [](const auto& clock) { return clock.has_value(); });
  if (ranks.size() < 2 || static_cast<size_t>(count) != ranks.size()) return;
  for (size_t i = 0; i < files.size(); ++i) {
    if (told[i]) clocks[i] = std::move(told[i]);
  }
}

}  // namespace

std::vector<model::TraceShard> AlignRanks(std::span<const RankFile> files) {
  Clocks clocks;
  const RankClock* reference = nullptr;
  for (const RankFile& file : files) {
    clocks.push_back(FindRankClock(file.shards));
  }
  AddToldRanks(files, clocks);
  for (const std::optional<RankClock>& clock : clocks) {
    if (!clock || clock->points.empty()) continue;
    if (reference == nullptr || clock->rank < reference->rank) {
      reference = &*clock;
    }
  }
  for (size_t i = 0; i < files.size(); ++i) {
    if (!clocks[i] || clocks[i]->points.empty()) continue;
    if (const DurationNs jump = JumpOf(clocks[i]->points); jump != 0) {
      files[i].findings->push_back(Jumped(clocks[i]->rank, jump));
    }
    if (&*clocks[i] == reference) continue;
    Move(files[i], MapToReference(clocks[i]->points, reference->points));
  }
  return AlignByMessages(files, clocks);
}

}  // namespace kymo
