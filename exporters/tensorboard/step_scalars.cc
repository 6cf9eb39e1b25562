#include "exporters/tensorboard/step_scalars.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exporters/tensorboard/range_sweep.h"
#include "exporters/tensorboard/xspace/memory_pool_names.h"
#include "profiler/analysis/memory/live_bytes.h"
#include "profiler/analysis/memory/memory_pools.h"
#include "profiler/analysis/memory/memory_steps.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/event_calls.h"

namespace kymo::tensorboard {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::NameId;
using model::Trace;

constexpr size_t kMaxNamedOperations = 20;

double Milliseconds(DurationNs ns) {
  return static_cast<double>(ns) / static_cast<double>(kNsPerMs);
}

double Seconds(TimeNs ns) {
  return static_cast<double>(ns) / static_cast<double>(kNsPerSecond);
}

// The times of all steps that have one number.
struct StepSums {
  TimeNs end_ns = std::numeric_limits<TimeNs>::min();
  DurationNs time_ns = 0;
  DurationNs operator_ns = 0;
  int64_t operator_count = 0;
  std::vector<DurationNs> named_ns;  // beside the named operations
};
using StepTable = std::map<int64_t, StepSums>;

// One range that is a step.
struct StepRange {
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  StepSums* sums = nullptr;
};

bool IsOperation(const Trace& trace, EventIndex event) {
  return trace.type()[event] == ActivityType::kCpuOp;
}

// Adds up the self time of each name's operations.
struct NameTimes {
  const Trace& trace;
  const StepNames& steps;
  std::vector<DurationNs> self_ns;  // by name

  void Enter(EventIndex) {}
  void Memory(model::MemoryIndex) {}
  void Leave(EventIndex event, DurationNs ns) {
    const NameId name = trace.name()[event];
    if (IsOperation(trace, event) && !steps.Number(name)) {
      self_ns[Index(name)] += ns;
    }
  }
};

// The names that took the most, most first.
std::vector<NameId> FindNamedOperations(const Trace& trace,
                                        const StepNames& steps) {
  NameTimes times{trace, steps,
                  std::vector<DurationNs>(trace.strings().size())};
  SweepRanges(trace, times);
  std::vector<NameId> names;
  for (uint32_t i = 0; i < times.self_ns.size(); ++i) {
    if (times.self_ns[i] > 0) names.push_back(NameId{i});
  }
  const size_t kept = std::min(names.size(), kMaxNamedOperations);
  const auto is_before = [&](NameId a, NameId b) {
    const DurationNs x = times.self_ns[Index(a)];
    const DurationNs y = times.self_ns[Index(b)];
    return x != y ? x > y : Index(a) < Index(b);
  };
  std::partial_sort(names.begin(),
                    names.begin() + static_cast<std::ptrdiff_t>(kept),
                    names.end(), is_before);
  names.resize(kept);
  return names;
}

// Adds operations to the steps that they belong to.
class StepTimes {
 public:
  StepTimes(const Trace& trace, const StepNames& steps,
            const std::vector<NameId>& named)
      : trace_(trace), steps_(steps) {
    for (size_t i = 0; i < named.size(); ++i) named_[named[i]] = i;
    for (EventIndex i = 0; i < trace.event_count(); ++i) {
      const std::optional<int64_t> number = steps.Number(trace.name()[i]);
      if (number) AddStep(i, *number);
    }
    for (auto& [pid, ranges] : ranges_) {
      std::stable_sort(ranges.begin(), ranges.end(),
                       [](const StepRange& a, const StepRange& b) {
                         return a.start_ns < b.start_ns;
                       });
    }
  }

  void Enter(EventIndex event) {
    const std::optional<int64_t> number = steps_.Number(trace_.name()[event]);
    StepSums* step = nullptr;
    if (number) {
      step = &table_.at(*number);
    } else if (!open_.empty() && open_.back() != nullptr) {
      step = open_.back();
    } else {
      step = FindAround(event);
    }
    open_.push_back(step);
  }

  void Leave(EventIndex event, DurationNs self_ns) {
    StepSums* const step = open_.back();
    open_.pop_back();
    if (step == nullptr || !IsOperation(trace_, event)) return;
    const NameId name = trace_.name()[event];
    if (steps_.Number(name)) return;
    step->operator_ns += self_ns;
    step->operator_count += model::Calls(trace_, event);
    const auto it = named_.find(name);
    if (it != named_.end()) step->named_ns[it->second] += self_ns;
  }

  void Memory(model::MemoryIndex) {}

  const StepTable& table() const { return table_; }

 private:
  void AddStep(EventIndex event, int64_t number) {
    StepSums& sums = table_[number];
    const TimeNs start_ns = trace_.start()[event];
    const TimeNs end_ns = trace_.end()[event];
    sums.named_ns.resize(named_.size());
    sums.time_ns = std::max(sums.time_ns, end_ns - start_ns);
    sums.end_ns = std::max(sums.end_ns, end_ns);
    const int64_t pid = trace_.tracks()[trace_.track()[event]].pid;
    ranges_[pid].push_back({start_ns, end_ns, &sums});
  }

  // The step of another thread that an event begins in.
  StepSums* FindAround(EventIndex event) const {
    const auto it = ranges_.find(trace_.tracks()[trace_.track()[event]].pid);
    if (it == ranges_.end()) return nullptr;
    const TimeNs time_ns = trace_.start()[event];
    auto next = std::upper_bound(it->second.begin(), it->second.end(), time_ns,
                                 [](TimeNs time, const StepRange& range) {
                                   return time < range.start_ns;
                                 });
    if (next == it->second.begin()) return nullptr;
    --next;
    return time_ns < next->end_ns ? next->sums : nullptr;
  }

  const Trace& trace_;
  const StepNames& steps_;
  std::map<NameId, size_t> named_;
  StepTable table_;
  std::map<int64_t, std::vector<StepRange>> ranges_;  // by pid
  std::vector<StepSums*> open_;
};

// The scalars of one step.
class ScalarList {
 public:
  ScalarList(std::vector<Scalar>& scalars, int64_t step, TimeNs end_ns)
      : scalars_(scalars), step_(step), wall_time_s_(Seconds(end_ns)) {}

  void Add(std::string tag, double value) {
    scalars_.push_back({std::move(tag), value, step_, wall_time_s_});
  }

 private:
  std::vector<Scalar>& scalars_;
  const int64_t step_;
  const double wall_time_s_;
};

// Tags of the named operations: they are part of an address, which is short.
std::vector<std::string> OperationTags(const Trace& trace,
                                       const std::vector<NameId>& named) {
  constexpr size_t kMaxBytes = 200;
  std::vector<std::string> tags;
  for (size_t i = 0; i < named.size(); ++i) {
    std::string name(trace.Name(named[i]));
    if (name.empty()) name = "(unnamed)";
    // A number, because others may begin like it. What is left of a character
    // at the cut is replaced with all that is no UTF-8.
    if (name.size() > kMaxBytes) {
      name.resize(kMaxBytes);
      absl::StrAppend(&name, "... #", i + 1);
    }
    tags.push_back(absl::StrCat("operator_time_ms/", name));
  }
  return tags;
}

void AppendTimes(const Trace& trace, const std::vector<NameId>& named,
                 const StepTable& table, std::vector<Scalar>& scalars) {
  const std::vector<std::string> tags = OperationTags(trace, named);
  for (const auto& [number, sums] : table) {
    ScalarList list(scalars, number, sums.end_ns);
    list.Add("steps/time_ms", Milliseconds(sums.time_ns));
    list.Add("steps/operator_time_ms", Milliseconds(sums.operator_ns));
    list.Add("steps/operator_count", static_cast<double>(sums.operator_count));
    for (size_t i = 0; i < named.size(); ++i) {
      list.Add(tags[i], Milliseconds(sums.named_ns[i]));
    }
  }
}

void AppendMemory(const Trace& trace, std::vector<Scalar>& scalars) {
  if (trace.memory().empty()) return;
  const analysis::MemoryPools pools(trace);
  const analysis::LiveBytes live(trace, pools);
  const std::vector<std::string> names = MemoryPoolNames(pools);
  const auto steps = analysis::MemorySteps(trace, pools, live);
  for (size_t pool = 0; pool < pools.size(); ++pool) {
    std::map<int64_t, analysis::MemoryStep> last;  // by number
    for (const analysis::MemoryStep& step : steps[pool]) {
      last[step.number] = step;
    }
    const std::string tag = absl::StrCat("memory/", names[pool]);
    for (const auto& [number, step] : last) {
      ScalarList list(scalars, number, step.end_ns);
      list.Add(tag + "_in_use_bytes", static_cast<double>(step.live_end_bytes));
      list.Add(tag + "_allocated_bytes",
               static_cast<double>(step.allocated_bytes));
      list.Add(tag + "_allocations", static_cast<double>(step.allocations));
    }
  }
}

}  // namespace

std::vector<Scalar> StepScalars(const Trace& trace, const StepNames& steps) {
  std::vector<Scalar> scalars;
  if (steps.empty()) return scalars;
  const std::vector<NameId> named = FindNamedOperations(trace, steps);
  StepTimes times(trace, steps, named);
  SweepRanges(trace, times);
  AppendTimes(trace, named, times.table(), scalars);
  AppendMemory(trace, scalars);
  std::stable_sort(scalars.begin(), scalars.end(),
                   [](const Scalar& a, const Scalar& b) {
                     return std::pair(a.step, std::string_view(a.tag)) <
                            std::pair(b.step, std::string_view(b.tag));
                   });
  return scalars;
}

}  // namespace kymo::tensorboard
