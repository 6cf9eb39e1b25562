#include "profiler/tables/source.h"

#include <algorithm>
#include <numeric>

#include "profiler/analysis/averages/duplicates.h"
#include "profiler/analysis/flops.h"
#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/analysis/open_events.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/parallel.h"

namespace kymo::tables {

namespace {

using model::EventIndex;

void Add(const model::Detail& detail, DetailsHave& have) {
  have.correlation_id |= detail.correlation_id != 0;
  have.sequence_nr |= detail.sequence_nr != -1;
  have.overload_name |= detail.overload_name != model::kEmptyName;
  have.inputs |= detail.inputs != model::kEmptyName;
  have.stack |= detail.stack != model::kEmptyStack;
}

void Add(const model::RareDetail& rare, DetailsHave& have) {
  have.forward_thread |= rare.forward_thread != 0;
  have.debug_handle |= rare.debug_handle != -1;
  have.node_id |= rare.node_id != -1;
}

void Add(const DetailsHave& part, DetailsHave& have) {
  have.correlation_id |= part.correlation_id;
  have.sequence_nr |= part.sequence_nr;
  have.forward_thread |= part.forward_thread;
  have.debug_handle |= part.debug_handle;
  have.node_id |= part.node_id;
  have.overload_name |= part.overload_name;
  have.inputs |= part.inputs;
  have.stack |= part.stack;
}

}  // namespace

Source::Source(const model::Trace& trace)
    : trace_(trace),
      texts_(trace),
      facts_(FindRank(trace)),
      mpi_(texts_.Add("mpi")) {
  if (facts_.launcher) launcher_ = texts_.Add(*facts_.launcher);
  if (facts_.host) host_ = texts_.Add(*facts_.host);
}

const std::vector<RankRow>& Source::ranks() const {
  return ranks_.Get([this] { return RowsOfRanks(trace_, facts_); });
}

std::optional<TextId> Source::LauncherOf(const RankRow& rank) const {
  if (launcher_) return launcher_;
  return rank.is_mpi ? std::optional(mpi_) : std::nullopt;
}

// The metadata of a trace of several ranks is that of one of them.
std::optional<TextId> Source::HostOf(const RankRow& rank) const {
  if (rank.host) return Texts::Of(*rank.host);
  return ranks().size() == 1 ? host_ : std::nullopt;
}

const DetailsHave& Source::details_have() const {
  return details_have_.Get([this] {
    // One pass: a pass for each column took a fifth of an export's time.
    const std::vector<model::Detail>& details = trace_.data().details;
    constexpr size_t kGrain = size_t{1} << 16;
    std::vector<DetailsHave> parts(ParallelRangeCount(details.size(), kGrain));
    ParallelFor(details.size(), kGrain, [&](size_t begin, size_t end) {
      DetailsHave have;
      for (size_t i = begin; i < end; ++i) Add(details[i], have);
      parts[begin / kGrain] = have;
    });
    DetailsHave all;
    for (const DetailsHave& part : parts) Add(part, all);
    for (const model::RareDetail& rare : trace_.data().rare_details.all()) {
      Add(rare, all);
    }
    return all;
  });
}

const Column64& Source::self_ns() const {
  return self_ns_.Get([this] {
    Column64 self(trace_.event_count());
    // A parent stands before its children, and on their track.
    ParallelForEach(trace_.tracks().size(), [&](size_t t) {
      const auto track = static_cast<model::TrackIndex>(t);
      for (EventIndex i = trace_.track_begin(track);
           i < trace_.track_end(track); ++i) {
        const DurationNs duration = trace_.end()[i] - trace_.start()[i];
        self[i] = duration;
        const EventIndex parent = trace_.parent()[i];
        if (parent != model::kNoEvent) self[parent] -= duration;
      }
    });
    return self;
  });
}

const kymo::Column<uint32_t>& Source::depth() const {
  return depth_.Get([this] {
    kymo::Column<uint32_t> depth(trace_.event_count());
    ParallelForEach(trace_.tracks().size(), [&](size_t t) {
      const auto track = static_cast<model::TrackIndex>(t);
      for (EventIndex i = trace_.track_begin(track);
           i < trace_.track_end(track); ++i) {
        const EventIndex parent = trace_.parent()[i];
        depth[i] = parent == model::kNoEvent ? 0 : depth[parent] + 1;
      }
    });
    return depth;
  });
}

const Column64& Source::step() const {
  return step_.Get(
      [this] { return StepsOfEvents(trace_, steps(), launches()); });
}

const std::vector<DurationNs>& Source::wait_ns() const {
  return wait_ns_.Get([this] { return analysis::WaitTimesOfRanges(trace_); });
}

const analysis::MemoryUsage& Source::memory_usage() const {
  return memory_usage_.Get(
      [this] { return analysis::MeasureMemoryUsage(trace_); });
}

const std::vector<int64_t>& Source::flops() const {
  return flops_.Get([this] {
    return EstimateFlops(trace_, FlopsRegistry::WithPyTorchFormulas()).flops;
  });
}

const std::vector<uint8_t>& Source::is_duplicate() const {
  return is_duplicate_.Get([this]() -> std::vector<uint8_t> {
    if (analysis::DuplicatesOf(trace_) == analysis::Duplicates::kKeep) {
      return {};
    }
    return analysis::DuplicateRanges(trace_);
  });
}

const ThreadRows& Source::threads() const {
  return threads_.Get([this] { return FindThreads(trace_); });
}

const std::vector<ArgRow>& Source::args() const {
  return args_.Get([this] {
    std::vector<ArgRow> rows;
    rows.reserve(trace_.data().args.size());
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      const model::Detail* const d = trace_.detail(i);
      if (d == nullptr) continue;
      for (uint32_t arg = d->args_begin; arg < d->args_end; ++arg) {
        rows.push_back({i, arg});
      }
    }
    return rows;
  });
}

const std::vector<uint32_t>& Source::event_counts() const {
  return event_counts_.Get([this] {
    std::vector<uint32_t> counts(trace_.strings().size());
    for (const model::NameId name : trace_.name()) ++counts[Index(name)];
    return counts;
  });
}

const analysis::Launches& Source::launches() const {
  return *launches_.Get(
      [this] { return std::make_unique<analysis::Launches>(trace_); });
}

const std::vector<WorkRow>& Source::device_work() const {
  return device_work_.Get([this] {
    std::vector<WorkRow> rows;
    const auto tracks = trace_.tracks();
    for (model::TrackIndex t = 0; t < tracks.size(); ++t) {
      if (tracks[t].kind != model::TrackKind::kStream) continue;
      for (EventIndex i = trace_.track_begin(t); i < trace_.track_end(t); ++i) {
        const analysis::WorkKind kind = analysis::WorkKindOf(trace_, i);
        if (kind != analysis::WorkKind::kNone) rows.push_back({i, kind});
      }
    }
    return rows;
  });
}

const std::vector<StepRow>& Source::steps() const {
  return steps_.Get([this] { return AllSteps(trace_); });
}

const std::vector<bool>& Source::idle_waits() const {
  return idle_waits_.Get([this] { return analysis::IdleWaits(trace_); });
}

const std::vector<EventIndex>& Source::events_of_waits() const {
  return events_of_waits_.Get([this] {
    std::vector<EventIndex> events;
    if (trace_.thread_states() == nullptr) return events;
    std::optional<analysis::OpenEvents> open;
    model::TrackIndex track = model::kNoTrack;
    for (const model::Wait& wait : trace_.thread_states()->waits) {
      if (wait.track != track) {
        track = wait.track;
        open.emplace(trace_, track, wait.begin_ns);
      }
      events.push_back(open->InnermostAt(wait.begin_ns));
    }
    return events;
  });
}

const std::vector<MemoryByStack>& Source::memory_by_stack() const {
  return memory_by_stack_.Get([this] { return SumMemoryByStack(trace_); });
}

const std::vector<model::Loss>& Source::losses() const {
  return losses_.Get([this] {
    std::vector<model::Loss> losses;
    for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
      const auto loss = static_cast<model::Loss>(i);
      if (trace_.ledger().Get(loss) != 0) losses.push_back(loss);
    }
    return losses;
  });
}

}  // namespace kymo::tables
