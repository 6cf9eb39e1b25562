#include "profiler/analysis/device/device_kernels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/records.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::kNoEvent;
using model::NameId;
using model::Trace;

// Calls f(event) for all work of devices.
template <typename F>
void ForEachWork(const Trace& trace, const F& f) {
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    if (trace.tracks()[t].kind != model::TrackKind::kStream) continue;
    for (EventIndex i = trace.track_begin(t); i < trace.track_end(t); ++i) {
      if (WorkKindOf(trace, i) != WorkKind::kNone) f(i);
    }
  }
}

DurationNs DurationOf(const Trace& trace, EventIndex event) {
  return trace.end()[event] - trace.start()[event];
}

bool IsOperation(const Trace& trace, EventIndex event) {
  return trace.type()[event] == ActivityType::kCpuOp ||
         trace.type()[event] == ActivityType::kNvtxRange;
}

// The operation that a piece of work belongs to, or kNoEvent.
EventIndex CauseOf(const Trace& trace, const Launches& launches,
                   EventIndex work) {
  const EventIndex call = launches.LauncherOf(work);
  if (call == kNoEvent) return kNoEvent;
  const EventIndex operation = launches.OperationOf(call);
  if (operation != kNoEvent) return operation;
  EventIndex at = trace.parent()[call];
  while (at != kNoEvent && !IsOperation(trace, at)) at = trace.parent()[at];
  return at;
}

struct Sums {
  KernelSum sum;
  double squares = 0;  // of durations
};

}  // namespace

std::vector<KernelSum> KernelSums(const Trace& trace) {
  absl::flat_hash_map<NameId, Sums> by_name;
  ForEachWork(trace, [&](EventIndex work) {
    const DurationNs duration = DurationOf(trace, work);
    Sums& sums = by_name[trace.name()[work]];
    KernelSum& sum = sums.sum;
    if (sum.count++ == 0) {
      sum.name = trace.name()[work];
      sum.kind = WorkKindOf(trace, work);
      sum.min_ns = sum.max_ns = duration;
    }
    sum.total_ns += duration;
    sum.min_ns = std::min(sum.min_ns, duration);
    sum.max_ns = std::max(sum.max_ns, duration);
    sums.squares += static_cast<double>(duration) * double(duration);
  });
  std::vector<KernelSum> list;
  for (auto& [name, sums] : by_name) {
    KernelSum& sum = sums.sum;
    if (sum.count > 1) {
      const double n = static_cast<double>(sum.count);
      const double total = static_cast<double>(sum.total_ns);
      sum.stddev_ns = std::sqrt(
          std::max(0.0, (sums.squares - total * (total / n)) / (n - 1)));
    }
    list.push_back(sum);
  }
  std::sort(list.begin(), list.end(),
            [&](const KernelSum& a, const KernelSum& b) {
              if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
              return trace.Name(a.name) < trace.Name(b.name);
            });
  return list;
}

std::vector<OperationSum> OperationSums(const Trace& trace,
                                        const Launches& launches) {
  absl::flat_hash_map<NameId, OperationSum> by_name;
  std::vector<NameId> seen;  // names in the stack that is being walked
  ForEachWork(trace, [&](EventIndex work) {
    const DurationNs duration = DurationOf(trace, work);
    EventIndex at = CauseOf(trace, launches, work);
    const NameId own = at == kNoEvent ? model::kEmptyName : trace.name()[at];
    OperationSum& self = by_name[own];
    ++self.launch_count;
    self.self_ns += duration;
    if (at == kNoEvent) self.total_ns += duration;
    seen.clear();
    for (; at != kNoEvent; at = trace.parent()[at]) {
      const NameId name = trace.name()[at];
      if (!IsOperation(trace, at) ||
          std::find(seen.begin(), seen.end(), name) != seen.end()) {
        continue;
      }
      seen.push_back(name);
      by_name[name].total_ns += duration;
    }
  });
  std::vector<OperationSum> list;
  for (auto& [name, sum] : by_name) {
    sum.name = name;
    list.push_back(sum);
  }
  std::sort(list.begin(), list.end(),
            [&](const OperationSum& a, const OperationSum& b) {
              if (a.self_ns != b.self_ns) return a.self_ns > b.self_ns;
              if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
              return trace.Name(a.name) < trace.Name(b.name);
            });
  return list;
}

std::vector<OperationKernel> OperationKernels(const Trace& trace,
                                              const Launches& launches) {
  absl::flat_hash_map<std::pair<NameId, NameId>, OperationKernel> by_names;
  ForEachWork(trace, [&](EventIndex work) {
    const EventIndex cause = CauseOf(trace, launches, work);
    const NameId operation =
        cause == kNoEvent ? model::kEmptyName : trace.name()[cause];
    OperationKernel& sum = by_names[{operation, trace.name()[work]}];
    sum.operation = operation;
    sum.kernel = trace.name()[work];
    ++sum.count;
    sum.total_ns += DurationOf(trace, work);
  });
  std::vector<OperationKernel> list;
  for (const auto& [names, sum] : by_names) list.push_back(sum);
  std::sort(list.begin(), list.end(),
            [&](const OperationKernel& a, const OperationKernel& b) {
              if (a.operation != b.operation) {
                return trace.Name(a.operation) < trace.Name(b.operation);
              }
              if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
              return trace.Name(a.kernel) < trace.Name(b.kernel);
            });
  return list;
}

}  // namespace kymo::analysis
