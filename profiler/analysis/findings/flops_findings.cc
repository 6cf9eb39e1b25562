#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/device/device_work.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/findings/families.h"
#include "profiler/analysis/findings/finding_text.h"
#include "profiler/analysis/flops.h"
#include "profiler/model/op_inputs.h"
#include "profiler/text/text_cells.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::NameId;
using model::Trace;

// A rate of a fifth and less is "far below": between shapes that a library is
// good at, rates differ by two or three.
constexpr double kFarBelow = 5;

double PerSecond(int64_t flops, DurationNs ns) {
  return static_cast<double>(flops) * kNsPerSecond / static_cast<double>(ns);
}

struct Call {
  EventIndex event = model::kNoEvent;
  int64_t flops = 0;
  DurationNs ns = 0;
};

// An operation's calls with equal inputs.
struct Calls {
  NameId inputs = model::kEmptyName;
  // The first call loads code and touches memory, so it may be slow by itself.
  // It is not in the sums.
  Call first;
  int64_t flops = 0;
  DurationNs ns = 0;
  int64_t count = 0;
  EventIndex longest = model::kNoEvent;

  // The rate that they reached: of the first one only if the others are too
  // short for one.
  double Reached() const {
    return ns >= kLeastNs ? PerSecond(flops, ns)
                          : PerSecond(flops + first.flops, ns + first.ns);
  }

  void Add(Call call, const Trace& trace) {
    const auto& start = trace.start();
    if (first.event == model::kNoEvent ||
        start[call.event] < start[first.event]) {
      std::swap(call, first);
    }
    if (call.event == model::kNoEvent) return;
    flops += call.flops;
    ns += call.ns;
    ++count;
    const auto length = [&](EventIndex event) {
      return trace.end()[event] - start[event];
    };
    if (longest == model::kNoEvent || length(call.event) > length(longest)) {
      longest = call.event;
    }
  }
};

// By event: the time of the device's work that the operation, or an operation
// inside of it, launched. Empty if no device worked.
std::vector<DurationNs> DeviceTimesOfOperations(
    const Trace& trace, const std::vector<int64_t>& flops) {
  std::vector<DurationNs> times;
  const std::vector<Device> devices = FindDevices(trace);
  if (devices.empty()) return times;
  times.resize(trace.event_count());
  const Launches launches(trace);
  for (const Device& device : devices) {
    for (const DeviceStream& stream : device.streams) {
      for (const EventIndex work : stream.work) {
        EventIndex event = launches.OperationOf(work);
        while (event != model::kNoEvent && flops[event] <= 0) {
          event = trace.parent()[event];
        }
        if (event == model::kNoEvent) continue;
        times[event] += trace.end()[work] - trace.start()[work];
      }
    }
  }
  return times;
}

using CallsByName = std::map<NameId, std::map<NameId, Calls>>;

CallsByName FindCalls(const Trace& trace, const std::vector<int64_t>& flops) {
  const std::vector<DurationNs> device_ns =
      DeviceTimesOfOperations(trace, flops);
  CallsByName all;
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    if (flops[i] <= 0 || (trace.flags()[i] & model::kEventInstant)) continue;
    const DurationNs ns =
        device_ns.empty() ? trace.end()[i] - trace.start()[i] : device_ns[i];
    if (ns <= 0) continue;
    const NameId inputs = trace.detail(i)->inputs;
    Calls& calls = all[trace.name()[i]][inputs];
    calls.inputs = inputs;
    calls.Add({.event = i, .flops = flops[i], .ns = ns}, trace);
  }
  return all;
}

// "2.10 TFLOP/s".
std::string RateText(double per_second) {
  for (const auto& [unit, name] :
       {std::pair(1e12, " TFLOP/s"), std::pair(1e9, " GFLOP/s"),
        std::pair(1e6, " MFLOP/s")}) {
    if (per_second >= unit) {
      return report::FormatFixed(per_second / unit, 2) + name;
    }
  }
  return report::FormatFixed(per_second, 0) + " FLOP/s";
}

std::string ShapesText(const Trace& trace, NameId inputs) {
  return NameText(model::InputShapesText(trace.Name(inputs)));
}

}  // namespace

void AddFlopsFindings(const FindingRun& run, std::vector<Finding>& findings) {
  const Trace& trace = run.trace;
  bool has_inputs = false;
  for (const model::Detail& detail : trace.data().details) {
    has_inputs |= detail.inputs != model::kEmptyName;
  }
  if (!has_inputs) return;
  const std::vector<int64_t> flops =
      EstimateFlops(trace, FlopsRegistry::Process()).flops;
  for (const auto& [name, by_inputs] : FindCalls(trace, flops)) {
    const Calls* best = nullptr;
    for (const auto& [inputs, calls] : by_inputs) {
      // The rate of a shorter time may be chance.
      if (calls.ns + calls.first.ns < kLeastNs) continue;
      if (best == nullptr || calls.Reached() > best->Reached()) best = &calls;
    }
    if (best == nullptr) continue;
    for (const auto& [inputs, calls] : by_inputs) {
      if (calls.count == 0) continue;
      const double rate = PerSecond(calls.flops, calls.ns);
      if (rate * kFarBelow > best->Reached()) continue;
      const DurationNs lost_ns =
          calls.ns - static_cast<DurationNs>(static_cast<double>(calls.flops) *
                                             kNsPerSecond / best->Reached());
      if (!run.Matters(lost_ns)) continue;
      Finding finding = run.OfTime(FindingKind::kLowFlops, lost_ns);
      finding.title =
          absl::StrCat(NameText(trace.Name(name)), " with inputs ",
                       ShapesText(trace, inputs), " reached ", RateText(rate),
                       " in ", CountText(calls.count, "call", "calls"), " of ",
                       TimeText(calls.ns), ", and ", RateText(best->Reached()),
                       " with ", ShapesText(trace, best->inputs));
      finding.next_step =
          "Make these inputs larger, for example by batching calls, or give "
          "them the sizes, types and memory layout of the faster ones";
      finding.evidence = run.OfEvent(calls.longest);
      findings.push_back(std::move(finding));
    }
  }
}

}  // namespace kymo::analysis
