#include "tools/report_command/check_trace.h"

#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/steps.h"
#include "profiler/base/strings.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/loss_ledger.h"

namespace kymo::tools {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::Trace;
using model::TrackIndex;
using model::TrackKind;
using Severity = ImportFinding::Severity;

// Work that a call of a device's runtime starts on the device.
bool IsDeviceWork(ActivityType type) {
  return type == ActivityType::kConcurrentKernel ||
         type == ActivityType::kGpuMemcpy || type == ActivityType::kGpuMemset;
}

class Checker {
 public:
  explicit Checker(const Trace& trace) : trace_(trace), launches_(trace) {}

  std::vector<TraceFinding> Run() {
    CheckInvariants();
    CheckLedger();
    CheckTimes();
    CheckLaunches();
    CheckCorrelation();
    CheckForward();
    CheckSteps();
    CheckOperations();
    CheckDurations();
    return std::move(findings_);
  }

 private:
  // Counts a rule's events, and keeps the first.
  class Count {
   public:
    void Add(EventIndex event) {
      if (count_++ == 0) first_ = event;
    }
    uint64_t count() const { return count_; }
    EventIndex first() const { return first_; }

   private:
    uint64_t count_ = 0;
    EventIndex first_ = model::kNoEvent;
  };

  void Report(Severity severity, std::string rule, std::string message,
              const Count& count) {
    if (count.count() == 0) return;
    findings_.push_back({severity, std::move(rule), std::move(message),
                         count.count(), count.first()});
  }

  void CheckInvariants() {
    const absl::Status status = model::ValidateTrace(trace_);
    if (status.ok()) return;
    findings_.push_back({Severity::kError, "trace_invalid",
                         std::string(status.message()), 1, model::kNoEvent});
  }

  void CheckLedger() {
    for (int i = 0; i < static_cast<int>(model::Loss::kCount); ++i) {
      const auto loss = static_cast<model::Loss>(i);
      const uint64_t count = trace_.ledger().Get(loss);
      if (count == 0) continue;
      findings_.push_back(
          {model::IsLoss(loss) ? Severity::kWarning : Severity::kNote,
           std::string(model::LossName(loss)),
           model::LossText(trace_.ledger(), loss), count,
           loss == model::Loss::kRangesOverlapping ? FirstOnLane()
                                                   : model::kNoEvent});
    }
  }

  // Overlapping ranges are on lanes: further tracks of a thread with the same
  // ids. So are asynchronous ranges, which may overlap.
  EventIndex FirstOnLane() const {
    EventIndex first = model::kNoEvent;
    for (TrackIndex t = 1; t < trace_.tracks().size(); ++t) {
      const model::Track& a = trace_.tracks()[t - 1];
      const model::Track& b = trace_.tracks()[t];
      if (b.kind != TrackKind::kThread ||
          std::tie(a.pid, a.kind, a.device_index, a.id) !=
              std::tie(b.pid, b.kind, b.device_index, b.id)) {
        continue;
      }
      EventIndex event = trace_.track_begin(t);
      const EventIndex end = trace_.track_end(t);
      while (event < end && (trace_.flags()[event] & model::kEventAsync) != 0) {
        ++event;
      }
      if (event < end && (first == model::kNoEvent ||
                          trace_.start()[event] < trace_.start()[first])) {
        first = event;
      }
    }
    return first;
  }

  void CheckTimes() {
    Count count;
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      if (trace_.start()[i] <= 0) count.Add(i);
    }
    Report(Severity::kWarning, "time_not_positive",
           "an event is at or before the epoch", count);
  }

  void CheckLaunches() {
    Count missing;
    Count late;
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      if (!IsDeviceWork(trace_.type()[i])) continue;
      const EventIndex launcher = launches_.LauncherOf(i);
      if (launcher == model::kNoEvent) {
        missing.Add(i);
      } else if (trace_.start()[i] < trace_.start()[launcher]) {
        late.Add(i);
      }
    }
    Report(Severity::kWarning, "launch_missing",
           "no call of the runtime has the correlation id of this device work",
           missing);
    Report(Severity::kWarning, "launch_late",
           "this device work begins before the call that launched it", late);
  }

  void CheckCorrelation() {
    absl::flat_hash_set<std::tuple<int64_t, ActivityType, uint64_t>> seen;
    Count count;
    for (TrackIndex t = 0; t < trace_.tracks().size(); ++t) {
      const model::Track& track = trace_.tracks()[t];
      if (track.kind != TrackKind::kThread) continue;
      for (EventIndex i = trace_.track_begin(t); i < trace_.track_end(t); ++i) {
        const model::Detail* const detail = trace_.detail(i);
        if (detail == nullptr || detail->correlation_id == 0) continue;
        const ActivityType type = trace_.type()[i];
        if (!analysis::IsRuntimeCall(type)) continue;
        if (!seen.emplace(track.pid, type, detail->correlation_id).second) {
          count.Add(i);
        }
      }
    }
    Report(Severity::kWarning, "correlation_duplicate",
           "another call of this process has the same correlation id", count);
  }

  // Sequence numbers and threads link a backward operation to its forward one.
  void CheckForward() {
    absl::flat_hash_set<std::pair<uint64_t, int64_t>> forward;
    std::vector<EventIndex> backward;
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      const model::Detail* const detail = trace_.detail(i);
      if (detail == nullptr || detail->sequence_nr < 0) continue;
      if (trace_.rare(*detail).forward_thread != 0) {
        backward.push_back(i);
      } else {
        forward.emplace(trace_.tracks()[trace_.track()[i]].logical_id,
                        detail->sequence_nr);
      }
    }
    Count count;
    for (const EventIndex i : backward) {
      const model::Detail& detail = *trace_.detail(i);
      // If the trace has no logical ids, the number alone must match.
      const uint64_t thread = trace_.rare(detail).forward_thread;
      if (!forward.contains({thread, detail.sequence_nr}) &&
          !forward.contains({0, detail.sequence_nr})) {
        count.Add(i);
      }
    }
    Report(Severity::kWarning, "forward_missing",
           "no forward operation has the sequence number of this backward one",
           count);
  }

  void CheckSteps() {
    TraceFinding finding{Severity::kWarning, "step_missing", "", 0,
                         model::kNoEvent};
    for (const analysis::ProcessSteps& process : analysis::FindSteps(trace_)) {
      for (size_t i = 1; i < process.steps.size(); ++i) {
        const int64_t before = process.steps[i - 1].number;
        const int64_t number = process.steps[i].number;
        if (number <= before + 1) continue;
        if (finding.count == 0) {
          finding.first = process.steps[i].event;
          finding.message =
              absl::StrCat("after step ", before, " comes step ", number);
        }
        finding.count += static_cast<uint64_t>(number - before - 1);
      }
    }
    if (finding.count != 0) findings_.push_back(std::move(finding));
  }

  // As in profiler/analysis/device/device_kernels.h, a range of NVTX counts if
  // there is no operation.
  bool IsInOperation(EventIndex call) const {
    if (launches_.OperationOf(call) != model::kNoEvent) return true;
    EventIndex at = trace_.parent()[call];
    while (at != model::kNoEvent &&
           trace_.type()[at] != model::ActivityType::kNvtxRange) {
      at = trace_.parent()[at];
    }
    return at != model::kNoEvent;
  }

  void CheckOperations() {
    Count count;
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      if (launches_.IsLauncher(i) && !IsInOperation(i)) count.Add(i);
    }
    Report(Severity::kNote, "operation_missing",
           "no operation is around this call, which launched device work",
           count);
  }

  void CheckDurations() {
    Count count;
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      if (trace_.start()[i] == trace_.end()[i] &&
          (trace_.flags()[i] & model::kEventInstant) == 0) {
        count.Add(i);
      }
    }
    Report(Severity::kNote, "duration_zero", "this range took no time", count);
  }

  const Trace& trace_;
  const analysis::Launches launches_;
  std::vector<TraceFinding> findings_;
};

}  // namespace

std::vector<TraceFinding> CheckTrace(const Trace& trace) {
  return Checker(trace).Run();
}

}  // namespace kymo::tools
