#include "profiler/normalize/merge_thread_states.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "profiler/model/join_neighbours.h"

namespace kymo {

using model::ThreadTimes;
using model::TrackIndex;
using model::Wait;
using model::WaitSum;

namespace {

auto KeyOf(const WaitSum& sum) {
  return std::tuple(sum.track, sum.kind, sum.stack, sum.object,
                    sum.object_name);
}

// Greater if the limit stopped threads for longer.
auto StrengthOf(const model::CpuLimit& limit) {
  return std::tuple(limit.throttled_ns, limit.throttled_periods, limit.periods,
                    limit.quota_ns, limit.period_ns);
}

// Makes one of the sums that differ only in their numbers.
void Combine(std::vector<WaitSum>& sums) {
  std::ranges::stable_sort(sums, {}, KeyOf);
  model::JoinNeighbours(sums, KeyOf, [](const WaitSum& from, WaitSum& into) {
    into.count += from.count;
    into.duration_ns += from.duration_ns;
    into.longest_ns = std::max(into.longest_ns, from.longest_ns);
  });
}

}  // namespace

void ThreadStatesMerger::Add(const model::ThreadStates& from, const Ids& ids) {
  cpu_count_ = std::max(cpu_count_, from.cpu_count);
  if (StrengthOf(from.cpu_limit) > StrengthOf(cpu_limit_)) {
    cpu_limit_ = from.cpu_limit;
  }
  kymo_cpu_ns_ = std::max(kymo_cpu_ns_, from.kymo_cpu_ns);
  min_wait_ns_ = std::max(min_wait_ns_, from.min_wait_ns);
  AddTimes(from, ids);
  AddSums(from, ids);
  for (Wait wait : from.waits) {
    wait.track = ids.tracks[wait.track];
    wait.stack = ids.stacks[Index(wait.stack)];
    wait.object_name = ids.names[Index(wait.object_name)];
    for (TrackIndex* const other : {&wait.waker, &wait.holder}) {
      if (*other != model::kNoTrack) *other = ids.tracks[*other];
    }
    wait.waker_stack = ids.stacks[Index(wait.waker_stack)];
    wait.holder_stack = ids.stacks[Index(wait.holder_stack)];
    waits_.push_back(wait);
  }
}

void ThreadStatesMerger::AddTimes(const model::ThreadStates& from,
                                  const Ids& ids) {
  for (ThreadTimes times : from.threads) {
    times.track = ids.tracks[times.track];
    if (times.creator != model::kNoTrack) {
      times.creator = ids.tracks[times.creator];
    }
    const auto [at, is_new] = times_.try_emplace(times.track, times);
    if (!is_new) at->second += times;
  }
}

void ThreadStatesMerger::AddSums(const model::ThreadStates& from,
                                 const Ids& ids) {
  for (WaitSum sum : from.short_waits) {
    sum.track = ids.tracks[sum.track];
    sum.stack = ids.stacks[Index(sum.stack)];
    sum.object_name = ids.names[Index(sum.object_name)];
    sums_.push_back(sum);
  }
}

std::vector<Wait> ThreadStatesMerger::MergedWaits(const Window& window,
                                                  model::LossLedger& ledger) {
  // By everything: ties keep no order of shards.
  std::ranges::sort(waits_, {}, [](const Wait& w) {
    return std::tuple(w.track, w.begin_ns, -w.duration_ns, w.kind, w.stack,
                      w.object, w.object_name, w.runnable_ns, w.waker,
                      w.waker_stack, w.holder, w.holder_stack, w.is_open);
  });
  waits_.erase(std::unique(waits_.begin(), waits_.end()), waits_.end());
  std::vector<Wait> merged;
  for (Wait wait : waits_) {
    TimeNs begin_ns = std::max(wait.begin_ns, window.start_ns);
    const TimeNs end_ns = std::min(wait.end_ns(), window.end_ns);
    if (end_ns < begin_ns) {
      ledger.Add(model::Loss::kEventsOutOfWindow, 1);
      continue;
    }
    if (!merged.empty() && merged.back().track == wait.track &&
        merged.back().end_ns() > begin_ns) {
      begin_ns = merged.back().end_ns();
      if (end_ns <= begin_ns) {
        ledger.Add(model::Loss::kRangesOverlapping, 1);
        continue;
      }
    }
    wait.begin_ns = begin_ns;
    wait.duration_ns = end_ns - begin_ns;
    wait.runnable_ns = std::min(wait.runnable_ns, wait.duration_ns);
    merged.push_back(wait);
  }
  waits_ = {};
  return merged;
}

model::ThreadStates ThreadStatesMerger::Finish(const Window& window,
                                               model::LossLedger& ledger) {
  model::ThreadStates states;
  states.cpu_count = cpu_count_;
  states.cpu_limit = cpu_limit_;
  states.kymo_cpu_ns = kymo_cpu_ns_;
  states.min_wait_ns = min_wait_ns_;
  for (const auto& [track, times] : times_) states.threads.push_back(times);
  Combine(sums_);
  states.short_waits = std::move(sums_);
  states.waits = MergedWaits(window, ledger);
  return states;
}

}  // namespace kymo
