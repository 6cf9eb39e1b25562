#include "importers/load/rank_clocks.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kymo {
namespace {

// The numbers of the arguments of one event.
int64_t NumberOf(const model::TraceShard& shard, const model::Detail& detail,
                 std::string_view key) {
  for (uint32_t i = detail.args_begin; i < detail.args_end; ++i) {
    const model::Arg& arg = shard.args[i];
    if (shard.strings.Get(arg.key) != key) continue;
    return arg.type == model::ArgType::kDouble
               ? static_cast<int64_t>(arg.double_value())
               : arg.int_value();
  }
  return 0;
}

// Calls use(time, detail) for each event of that name with details.
template <typename Use>
void ForEachNamed(const model::TraceShard& shard, std::string_view text,
                  Use use) {
  const std::optional<model::NameId> name = shard.strings.Find(text);
  if (!name) return;
  const auto look = [&](const model::EventColumns& events) {
    if (events.detail.empty()) return;
    for (size_t i = 0; i < events.size(); ++i) {
      if (events.name[i] != *name || events.detail[i] == model::kNoDetail) {
        continue;
      }
      use(events.start_ns[i], shard.details[events.detail[i]]);
    }
  };
  look(shard.block);
  for (const model::TrackEvents& events : shard.events) look(events);
}

// How much rank 0's clock is ahead of the file's times at `point`.
int64_t AheadAt(const ClockPoint& point) {
  return point.mono_ns + point.offset_ns - point.time_ns;
}

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
      ForEachNamed(shard, name, [&](TimeNs time, const model::Detail& detail) {
        use(shard, time, detail);
      });
    }
  };
  const auto read_rank = [&](const model::TraceShard& shard, TimeNs /*time*/,
                             const model::Detail& detail) {
    const int64_t rank = NumberOf(shard, detail, "rank");
    has_several |= clock && clock->rank != rank;
    clock = RankClock{.rank = rank};
  };
  for_each("MPI ranks", read_rank);
  for_each("job rank", read_rank);
  if (!clock || has_several) return std::nullopt;
  const auto read_clock = [&](const model::TraceShard& shard, TimeNs time,
                              const model::Detail& detail) {
    clock->points.push_back({.time_ns = time,
                             .mono_ns = NumberOf(shard, detail, "mono_ns"),
                             .offset_ns = NumberOf(shard, detail, "offset_ns"),
                             .bound_ns = NumberOf(shard, detail, "bound_ns")});
  };
  // Where MPI has measured the clock, its messages were the faster ones.
  for_each("MPI clock", read_clock);
  if (clock->points.empty()) for_each("job clock", read_clock);
  std::sort(clock->points.begin(), clock->points.end(),
            [](const ClockPoint& a, const ClockPoint& b) {
              return a.time_ns < b.time_ns;
            });
  return clock;
}

model::TimeMap MapToReference(const RankClock& clock,
                              const RankClock& reference) {
  // Times of rank 0's CLOCK_MONOTONIC, and from there those of the reference.
  const ClockPoint& first = clock.points.front();
  const ClockPoint& last = clock.points.back();
  const ClockPoint& its_first = reference.points.front();
  const ClockPoint& its_last = reference.points.back();
  const auto to_reference = [&](int64_t rank_0_ns) {
    const TimeNs time = rank_0_ns - AheadAt(its_first);
    const DurationNs length = its_last.time_ns - its_first.time_ns;
    if (length <= 0) return time;
    const double part = static_cast<double>(time - its_first.time_ns) /
                        static_cast<double>(length);
    return time - static_cast<DurationNs>(
                      part * static_cast<double>(AheadAt(its_last) -
                                                 AheadAt(its_first)));
  };
  model::TimeMap map = {.from_ns = first.time_ns,
                        .to_ns = to_reference(first.time_ns + AheadAt(first))};
  const DurationNs length = last.time_ns - first.time_ns;
  if (length > 0) {
    const TimeNs end = to_reference(last.time_ns + AheadAt(last));
    map.drift = static_cast<double>(end - map.to_ns - length) /
                static_cast<double>(length);
  }
  return map;
}

void AlignRanks(std::span<const RankFile> files) {
  std::vector<std::optional<RankClock>> clocks;
  const RankClock* reference = nullptr;
  for (const RankFile& file : files) {
    clocks.push_back(FindRankClock(file.shards));
  }
  for (const std::optional<RankClock>& clock : clocks) {
    if (!clock || clock->points.empty()) continue;
    if (reference == nullptr || clock->rank < reference->rank) {
      reference = &*clock;
    }
  }
  for (size_t i = 0; i < files.size(); ++i) {
    if (!clocks[i] || &*clocks[i] == reference) continue;
    if (clocks[i]->points.empty()) {
      files[i].findings->push_back(NotAligned(clocks[i]->rank));
      continue;
    }
    const model::TimeMap map = MapToReference(*clocks[i], *reference);
    for (model::TraceShard& shard : files[i].shards) {
      model::MoveTimes(shard, map);
    }
    for (TimeNs* const time : {files[i].start_ns, files[i].end_ns}) {
      if (*time != 0) *time = map(*time);
    }
  }
}

}  // namespace kymo
