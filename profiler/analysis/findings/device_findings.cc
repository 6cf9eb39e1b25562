#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/device/device_idle.h"
#include "profiler/analysis/device/device_kernels.h"
#include "profiler/analysis/device/device_times.h"
#include "profiler/analysis/device/device_work.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/findings/families.h"
#include "profiler/analysis/findings/finding_text.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::NameId;
using model::Trace;
using model::TrackIndex;

// A cause of less than a tenth of the idle time is not worth a clause.
constexpr DurationNs kLeastCausePart = 10;

// "device 0", with the process where there are several.
std::string DeviceText(const Trace& trace, int64_t pid, int32_t device) {
  std::string text = absl::StrCat("device ", device);
  if (trace.processes().size() > 1) absl::StrAppend(&text, " of process ", pid);
  return text;
}

DurationNs LengthOf(const Trace& trace, EventIndex event) {
  return trace.end()[event] - trace.start()[event];
}

class DeviceFindings {
 public:
  DeviceFindings(const FindingRun& run, std::vector<Finding>& findings)
      : run_(run),
        trace_(run.trace),
        findings_(findings),
        launches_(run.trace),
        idle_(ComputeIdleTimes(run.trace, launches_, {})) {}

  void Run() {
    const std::vector<KernelSum> kernels = KernelSums(trace_);
    AddHotKernels(kernels);
    AddSmallKernels(kernels);
    for (const IdleTime& idle : idle_) {
      if (!idle.stream.has_value()) AddIdle(idle);
    }
    AddSynchronisations();
    FindLongest();
    for (const DeviceTimes& times : ComputeDeviceTimes(trace_)) {
      AddNotHidden(times, FindingKind::kCopiesNotHidden);
      AddNotHidden(times, FindingKind::kCommunicationNotHidden);
    }
  }

 private:
  // The idle time of devices for which the host launched too late.
  DurationNs HostIdleNs() const {
    DurationNs sum = 0;
    for (const IdleTime& idle : idle_) {
      if (!idle.stream.has_value()) sum += idle.host_ns;
    }
    return sum;
  }

  void AddHotKernels(const std::vector<KernelSum>& kernels) {
    DurationNs all_ns = 0;
    for (const KernelSum& kernel : kernels) all_ns += kernel.total_ns;
    std::vector<OperationKernel> operations;
    for (const KernelSum& kernel : kernels) {  // by time, the longest first
      if (kernel.total_ns < all_ns / kHotPart ||
          !run_.Matters(kernel.total_ns)) {
        break;
      }
      if (kernel.kind != WorkKind::kCompute) continue;
      if (operations.empty()) operations = OperationKernels(trace_, launches_);
      findings_.push_back(HotKernel(kernel, operations, all_ns));
    }
  }

  Finding HotKernel(const KernelSum& kernel,
                    const std::vector<OperationKernel>& operations,
                    DurationNs all_ns) const {
    const OperationKernel* most = nullptr;
    for (const OperationKernel& row : operations) {
      if (row.kernel != kernel.name || row.operation == model::kEmptyName) {
        continue;
      }
      if (most == nullptr || row.total_ns > most->total_ns) most = &row;
    }
    const auto total_ns = static_cast<double>(kernel.total_ns);
    Finding finding = run_.OfTime(FindingKind::kHotKernel, kernel.total_ns);
    finding.title = absl::StrCat(
        "The kernel ", NameText(trace_.Name(kernel.name)), " took ",
        PercentText(total_ns, static_cast<double>(all_ns)),
        " of the devices' time (", TimeText(kernel.total_ns), ", ",
        CountText(kernel.count, "call", "calls"), ")");
    if (most != nullptr) {
      absl::StrAppend(
          &finding.title, "; ",
          PercentText(static_cast<double>(most->total_ns), total_ns),
          " of that was launched by ", NameText(trace_.Name(most->operation)));
    }
    finding.next_step =
        "See whether other sizes, types or a fused operation make it faster";
    finding.evidence = {.kind = EvidenceKind::kRow,
                        .name = std::string(trace_.Name(kernel.name)),
                        .table = "device_kernels"};
    return finding;
  }

  // The mean time of a call that launches.
  DurationNs MeanLaunchNs() const {
    DurationNs sum = 0;
    int64_t count = 0;
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      if (!launches_.IsLauncher(i)) continue;
      sum += LengthOf(trace_, i);
      ++count;
    }
    return count == 0 ? 0 : sum / count;
  }

  // A device waits for the host if launching takes longer than the work.
  void AddSmallKernels(const std::vector<KernelSum>& kernels) {
    const DurationNs launch_ns = MeanLaunchNs();
    int64_t all = 0;
    int64_t small = 0;
    DurationNs short_ns = 0;
    const KernelSum* most = nullptr;
    for (const KernelSum& kernel : kernels) {
      if (kernel.kind == WorkKind::kMemory || kernel.count == 0) continue;
      all += kernel.count;
      if (kernel.total_ns / kernel.count >= launch_ns) continue;
      small += kernel.count;
      short_ns += launch_ns * kernel.count - kernel.total_ns;
      if (most == nullptr || kernel.count > most->count) most = &kernel;
    }
    // A device that was not idle did not wait.
    const DurationNs lost_ns = std::min(short_ns, HostIdleNs());
    if (most == nullptr || !run_.Matters(lost_ns)) return;
    Finding finding = run_.OfTime(FindingKind::kSmallKernels, lost_ns);
    finding.title = absl::StrCat(
        CountText(small), " of ", CountText(all, "kernel", "kernels"),
        " are of names that are shorter on average than the calls that launch "
        "them (",
        TimeText(launch_ns), "), so the device waits for the host; most often ",
        NameText(trace_.Name(most->name)), ", ", CountText(most->count),
        " times");
    finding.next_step =
        "Launch them together as a CUDA graph, fuse small operations, or use "
        "larger batches";
    finding.evidence = {.kind = EvidenceKind::kRow,
                        .name = std::string(trace_.Name(most->name)),
                        .table = "device_kernels"};
    findings_.push_back(std::move(finding));
  }

  struct Cause {
    DurationNs ns;
    const IdleGap* longest;
    const char* text;
    const char* next_step;
  };

  void AddIdle(const IdleTime& idle) {
    const DurationNs idle_ns = idle.total_ns();
    if (!run_.Matters(idle_ns)) return;
    std::vector<Cause> causes = {
        {idle.host_ns, &idle.host_longest, " because the host launched late",
         "Look at what the host did before the next launch: launch earlier, "
         "prepare data on other threads, and launch less often"},
        {idle.dependency_ns, &idle.dependency_longest,
         " because work waited for other work or a copy",
         "Look at what the work waited for: an event of another stream, a "
         "copy, a resource"},
        {idle.launch_ns, &idle.launch_longest,
         " between kernels that follow each other",
         "Use fewer and larger kernels, or a CUDA graph"}};
    std::ranges::stable_sort(causes, std::ranges::greater(), &Cause::ns);
    Finding finding = run_.OfTime(FindingKind::kDeviceIdle, idle_ns);
    finding.title = absl::StrCat(DeviceText(trace_, idle.pid, idle.device),
                                 " was idle for ", TimeText(idle_ns),
                                 " between its first and its last work");
    finding.title[0] = 'D';
    const char* separator = ": ";
    for (const Cause& cause : causes) {
      if (cause.ns == 0 || cause.ns < idle_ns / kLeastCausePart) continue;
      absl::StrAppend(&finding.title, separator, TimeText(cause.ns),
                      cause.text);
      separator = ", ";
    }
    const IdleGap& longest = *causes.front().longest;
    const EventIndex operation = launches_.OperationOf(longest.next);
    if (operation != model::kNoEvent) {
      absl::StrAppend(&finding.title, "; the longest gap, ",
                      TimeText(longest.duration_ns), ", was before ",
                      NameText(trace_.EventName(operation)));
    }
    finding.next_step = causes.front().next_step;
    finding.evidence = {.kind = EvidenceKind::kInterval,
                        .name = "idle",
                        .table = "device_idle",
                        .track = trace_.track()[longest.next],
                        .begin_ns = longest.begin_ns,
                        .duration_ns = longest.duration_ns,
                        .event = longest.next};
    findings_.push_back(std::move(finding));
  }

  // Whether the call returns only when the device has finished.
  bool Synchronises(EventIndex event) const {
    if (!IsRuntimeCall(trace_.type()[event])) return false;
    const std::string_view name = trace_.EventName(event);
    return name.ends_with("Synchronize") || name == "cudaMemcpy" ||
           name == "hipMemcpy";
  }

  void AddSynchronisations() {
    DurationNs all_ns = 0;
    int64_t count = 0;
    EventIndex longest = model::kNoEvent;
    std::map<NameId, DurationNs> by_operation;
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      if (!Synchronises(i)) continue;
      ++count;
      all_ns += LengthOf(trace_, i);
      if (longest == model::kNoEvent ||
          LengthOf(trace_, i) > LengthOf(trace_, longest)) {
        longest = i;
      }
      const EventIndex operation = launches_.OperationOf(i);
      by_operation[operation == model::kNoEvent ? model::kEmptyName
                                                : trace_.name()[operation]] +=
          LengthOf(trace_, i);
    }
    // While the device works, the host's waiting costs nothing.
    const DurationNs idle_ns = HostIdleNs();
    const DurationNs lost_ns = std::min(all_ns, idle_ns);
    if (!run_.Matters(lost_ns)) return;
    const auto most = std::ranges::max_element(
        by_operation, {}, [](const auto& entry) { return entry.second; });
    Finding finding = run_.OfTime(FindingKind::kSynchronisation, lost_ns);
    finding.title = absl::StrCat(
        "The host waited ", TimeText(all_ns), " for devices in ",
        CountText(count, "call", "calls"), ", and devices were idle for ",
        TimeText(idle_ns), " because it then launched late");
    if (most->first != model::kEmptyName) {
      absl::StrAppend(&finding.title, "; ",
                      PercentText(static_cast<double>(most->second),
                                  static_cast<double>(all_ns)),
                      " of the waiting was inside of ",
                      NameText(trace_.Name(most->first)));
    }
    finding.next_step =
        "Read results of the device later or less often, for example a loss "
        "once in many steps";
    finding.evidence = run_.OfEvent(longest);
    findings_.push_back(std::move(finding));
  }

  // The longest work of each device and kind.
  void FindLongest() {
    for (const Device& device : FindDevices(trace_)) {
      for (const DeviceStream& stream : device.streams) {
        for (const EventIndex work : stream.work) {
          const auto [at, is_new] = longest_.try_emplace(
              {{device.pid, device.index}, WorkKindOf(trace_, work)}, work);
          if (LengthOf(trace_, work) > LengthOf(trace_, at->second)) {
            at->second = work;
          }
        }
      }
    }
  }

  void AddNotHidden(const DeviceTimes& times, FindingKind kind) {
    const bool is_copy = kind == FindingKind::kCopiesNotHidden;
    const DurationNs all_ns =
        is_copy ? times.memory_ns : times.communication_ns;
    const DurationNs hidden_ns =
        is_copy ? times.memory_overlap_ns : times.overlap_ns;
    const DurationNs open_ns = all_ns - hidden_ns;
    // There must be something to hide it behind.
    const DurationNs lost_ns = std::min(open_ns, times.compute_ns - hidden_ns);
    if (!run_.Matters(lost_ns)) return;
    const EventIndex longest =
        longest_.at({{times.pid, times.index},
                     is_copy ? WorkKind::kMemory : WorkKind::kCommunication});
    Finding finding = run_.OfTime(kind, lost_ns);
    finding.title =
        absl::StrCat(is_copy ? "Copies" : "Communication", " on ",
                     DeviceText(trace_, times.pid, times.index), " took ",
                     TimeText(all_ns), ", ", TimeText(open_ns),
                     " of it while no kernel computed; the longest "
                     "was ",
                     NameText(trace_.EventName(longest)), " with ",
                     TimeText(LengthOf(trace_, longest)));
    finding.next_step =
        is_copy ? "Copy from pinned memory on a stream of its own, while "
                  "kernels compute"
                : "Begin it earlier, in smaller parts, on a stream of its own";
    finding.evidence = run_.OfEvent(longest);
    findings_.push_back(std::move(finding));
  }

  const FindingRun& run_;
  const Trace& trace_;
  std::vector<Finding>& findings_;
  const Launches launches_;
  const std::vector<IdleTime> idle_;
  std::map<std::pair<std::pair<int64_t, int32_t>, WorkKind>, EventIndex>
      longest_;
};

}  // namespace

void AddDeviceFindings(const FindingRun& run, std::vector<Finding>& findings) {
  const Trace& trace = run.trace;
  for (TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    if (trace.tracks()[t].kind == model::TrackKind::kStream &&
        trace.track_begin(t) != trace.track_end(t)) {
      DeviceFindings(run, findings).Run();
      return;
    }
  }
}

}  // namespace kymo::analysis
