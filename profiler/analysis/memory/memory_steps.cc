#include "profiler/analysis/memory/memory_steps.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/analysis/steps.h"
#include "profiler/base/parallel.h"
#include "profiler/base/per_worker.h"
#include "profiler/model/folded_memory.h"

namespace kymo::analysis {
namespace {

using model::MemoryEvent;
using model::MemoryIndex;
using model::MemoryRecord;

constexpr size_t kStepsGrain = 64 * 1024;

using StepNames = std::map<model::NameId, int64_t>;

StepNames FindStepNames(const model::StringTable& strings) {
  StepNames names;
  for (uint32_t i = 0; i < strings.size(); ++i) {
    const std::optional<int64_t> number =
        StepNumber(strings.Get(model::NameId{i}));
    if (number) names[model::NameId{i}] = *number;
  }
  return names;
}

// The records between two cuts, summed up.
struct Interval {
  MemoryAmount allocated;
  MemoryMoment last;  // the latest record that set `live`
  int64_t live = 0;
  bool is_used = false;

  void SetLive(const MemoryMoment& moment, int64_t bytes) {
    if (is_used && moment < last) return;
    last = moment;
    live = bytes;
    is_used = true;
  }
  void Merge(const Interval& other) {
    allocated += other.allocated;
    if (other.is_used) SetLive(other.last, other.live);
  }
};

// The steps of one pool. Their bounds cut time into the intervals [-inf,
// cuts[0]), [cuts[0], cuts[1]), ... A step's records are those of the intervals
// from the cut at its start up to the cut right after its end.
struct PoolSteps {
  std::vector<MemoryStep> steps;
  std::vector<TimeNs> cuts;

  size_t IntervalOf(TimeNs time_ns) const {
    return static_cast<size_t>(
        std::upper_bound(cuts.begin(), cuts.end(), time_ns) - cuts.begin());
  }
};

// By pid, and index of the process in the trace.
using StepsOfProcess =
    std::map<std::pair<int64_t, uint32_t>, std::vector<MemoryStep>>;

StepsOfProcess FindSteps(const model::Trace& trace, const MemoryPools& pools) {
  StepsOfProcess found;
  const StepNames names = FindStepNames(trace.strings());
  if (names.empty()) return found;
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    if (trace.tracks()[t].kind != model::TrackKind::kThread) continue;
    for (auto i = trace.track_begin(t); i < trace.track_end(t); ++i) {
      const auto name = names.find(trace.name()[i]);
      if (name == names.end()) continue;
      const TimeNs start_ns = trace.start()[i];
      found[{trace.tracks()[t].pid, pools.ProcessAt(t, start_ns)}].push_back(
          {.number = name->second,
           .start_ns = start_ns,
           .end_ns = trace.end()[i]});
    }
  }
  return found;
}

PoolSteps StepsOf(const StepsOfProcess& of_process, const MemoryPool& pool) {
  const auto found = of_process.find({pool.pid, pool.process});
  if (found == of_process.end()) return {};
  PoolSteps steps = {.steps = found->second, .cuts = {}};
  std::sort(steps.steps.begin(), steps.steps.end(),
            [](const MemoryStep& a, const MemoryStep& b) {
              return std::tie(a.start_ns, a.number, a.end_ns) <
                     std::tie(b.start_ns, b.number, b.end_ns);
            });
  for (const MemoryStep& step : steps.steps) {
    steps.cuts.insert(steps.cuts.end(), {step.start_ns, step.end_ns + 1});
  }
  std::sort(steps.cuts.begin(), steps.cuts.end());
  steps.cuts.erase(std::unique(steps.cuts.begin(), steps.cuts.end()),
                   steps.cuts.end());
  return steps;
}

void Measure(const std::vector<Interval>& intervals, PoolSteps& pool) {
  // By interval: the sum of all intervals up to its end.
  std::vector<MemoryAmount> allocated(intervals.size());
  std::vector<int64_t> live(intervals.size());
  MemoryAmount sum;
  int64_t latest = 0;
  for (size_t i = 0; i < intervals.size(); ++i) {
    sum += intervals[i].allocated;
    if (intervals[i].is_used) latest = intervals[i].live;
    allocated[i] = sum;
    live[i] = latest;
  }
  for (MemoryStep& step : pool.steps) {
    const size_t before = pool.IntervalOf(step.start_ns) - 1;
    const size_t last = pool.IntervalOf(step.end_ns);
    step.live_begin_bytes = live[before];
    step.live_end_bytes = live[last];
    const MemoryAmount within = {
        allocated[last].units - allocated[before].units,
        allocated[last].bytes - allocated[before].bytes};
    step.allocations = within.count();
    step.allocated_bytes = within.bytes;
  }
}

std::vector<Interval> FoldedIntervals(const model::FoldedHeap& heap,
                                      const PoolSteps& steps) {
  std::vector<Interval> intervals(steps.cuts.size() + 1);
  // `live` is first the growth within the interval.
  for (const model::FoldedThread& thread : heap.threads) {
    size_t i = 0;
    thread.changes.ForEach([&](const model::FoldedChange& change) {
      while (i < steps.cuts.size() && steps.cuts[i] <= change.time_ns) ++i;
      intervals[i].live += change.bytes;
      if (change.kind == model::FoldedChangeKind::kAllocation) {
        intervals[i].allocated += {MemoryAmount::kOne, change.bytes};
      }
    });
  }
  int64_t live = 0;
  for (Interval& interval : intervals) {
    live += interval.live;
    interval.live = live;
    interval.is_used = true;
  }
  return intervals;
}

class Steps {
 public:
  Steps(const model::Trace& trace, const MemoryPools& pools,
        const LiveBytes& live)
      : trace_(trace), pools_(pools), live_(live), blocks_(trace) {}

  std::vector<std::vector<MemoryStep>> Run() {
    std::vector<std::vector<MemoryStep>> steps(pools_.size());
    if (pools_.size() == 0) return steps;
    const StepsOfProcess of_process = FindSteps(trace_, pools_);
    if (of_process.empty()) return steps;
    for (const MemoryPool& pool : pools_.all()) {
      of_pool_.push_back(StepsOf(of_process, pool));
    }
    const Intervals intervals = AddRecords();
    for (size_t p = 0; p < steps.size(); ++p) {
      Measure(intervals[p], of_pool_[p]);
      steps[p] = std::move(of_pool_[p].steps);
    }
    return steps;
  }

 private:
  using Intervals = std::vector<std::vector<Interval>>;  // by pool

  Intervals NoIntervals() const {
    Intervals intervals(of_pool_.size());
    for (size_t p = 0; p < intervals.size(); ++p) {
      intervals[p].resize(of_pool_[p].cuts.size() + 1);
    }
    return intervals;
  }

  Intervals AddRecords() const {
    PerWorker<Intervals> workers([&] { return NoIntervals(); });
    ParallelFor(trace_.memory().size(), kStepsGrain,
                [&](size_t begin, size_t end) {
                  Intervals& intervals = workers.Local();
                  for (size_t i = begin; i < end; ++i) {
                    AddRecord(static_cast<MemoryIndex>(i), intervals);
                  }
                });
    Intervals all = NoIntervals();
    workers.ForEach([&](const Intervals& part) {
      for (size_t p = 0; p < all.size(); ++p) {
        for (size_t i = 0; i < all[p].size(); ++i) all[p][i].Merge(part[p][i]);
      }
    });
    return all;
  }

  void AddRecord(MemoryIndex i, Intervals& intervals) const {
    const MemoryRecord& record = trace_.memory()[i];
    if (record.event != MemoryEvent::kAllocation) return;
    const size_t pool = pools_.IndexOf(record);
    if (of_pool_[pool].cuts.empty()) return;
    Interval& interval =
        intervals[pool][of_pool_[pool].IntervalOf(record.time_ns)];
    interval.SetLive(blocks_.MomentOf(i), live_.After(i));
    if (!blocks_.IsFree(i)) interval.allocated += blocks_.AmountOf(i);
  }

  const model::Trace& trace_;
  const MemoryPools& pools_;
  const LiveBytes& live_;
  const MemoryBlocks blocks_;
  std::vector<PoolSteps> of_pool_;
};

}  // namespace

std::vector<std::vector<MemoryStep>> MemorySteps(const model::Trace& trace,
                                                 const MemoryPools& pools,
                                                 const LiveBytes& live) {
  return Steps(trace, pools, live).Run();
}

std::vector<std::vector<MemoryStep>> FoldedMemorySteps(
    const model::Trace& trace, const MemoryPools& pools,
    std::span<const MemoryPool> of_heaps) {
  const StepsOfProcess of_process = FindSteps(trace, pools);
  std::vector<std::vector<MemoryStep>> steps(of_heaps.size());
  if (of_process.empty()) return steps;
  for (size_t h = 0; h < steps.size(); ++h) {
    PoolSteps of_heap = StepsOf(of_process, of_heaps[h]);
    if (of_heap.steps.empty()) continue;
    Measure(FoldedIntervals(trace.folded_memory()->heaps[h], of_heap), of_heap);
    steps[h] = std::move(of_heap.steps);
  }
  return steps;
}

}  // namespace kymo::analysis
