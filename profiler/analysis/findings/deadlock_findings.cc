#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/findings/families.h"
#include "profiler/analysis/findings/finding_text.h"
#include "profiler/analysis/lock_deadlocks.h"
#include "profiler/analysis/wait_names.h"
#include "profiler/base/time.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"

namespace kymo::analysis {
namespace {

using model::Trace;
using model::Wait;

constexpr size_t kMostSteps = 4;

// "waits in Transfer for the lock journal"
std::string StepText(const Trace& trace, WaitPlaces& places, const Wait& wait) {
  return absl::StrCat("waits in ", NameText(places.Of(wait.stack)),
                      " for the lock ",
                      NameText(LockName(trace, wait.object, wait.object_name)));
}

// "process 7"
std::string ProcessText(const Trace& trace, model::TrackIndex track) {
  return absl::StrCat("process ", trace.tracks()[track].pid);
}

// "thread a (8) waits ..., held by thread b (9), which waits ..., held by ..."
std::string ChainText(const Trace& trace, WaitPlaces& places,
                      const LockDeadlock& deadlock) {
  const std::vector<Wait>& waits = trace.thread_states()->waits;
  const std::vector<uint32_t>& circle = deadlock.circle;
  const Wait& first = waits[circle.front()];
  std::string text = TrackText(trace, first.track) + " ";
  switch (deadlock.cause) {
    case DeadlockCause::kEndedHolder:
      return absl::StrCat(text, StepText(trace, places, first), ", held by ",
                          TrackText(trace, first.holder), ", which has ended");
    case DeadlockCause::kFork:
      return absl::StrCat(text, StepText(trace, places, first), ", which ",
                          TrackText(trace, first.holder), " of ",
                          ProcessText(trace, first.holder),
                          " held when that forked ",
                          ProcessText(trace, first.track));
    case DeadlockCause::kCircle:
      break;
  }
  if (circle.size() == 1) {
    return text + StepText(trace, places, first) + ", which it holds itself";
  }
  for (size_t i = 0; i < std::min(circle.size(), kMostSteps); ++i) {
    const Wait& wait = waits[circle[i]];
    absl::StrAppend(&text, i == 0 ? "" : ", which ",
                    StepText(trace, places, wait), ", held by ",
                    TrackText(trace, wait.holder));
  }
  if (circle.size() > kMostSteps) text += ", and so on";
  return text;
}

std::string_view NextStep(const LockDeadlock& deadlock) {
  switch (deadlock.cause) {
    case DeadlockCause::kEndedHolder:
      return "A thread must give back its locks before it ends, also by "
             "pthread_exit or an exception: std::lock_guard does so";
    case DeadlockCause::kFork:
      return "fork() copies the locks, but of the threads only the one that "
             "calls it: fork before there are threads, or call exec after it "
             "and nothing that locks";
    case DeadlockCause::kCircle:
      break;
  }
  return deadlock.circle.size() == 1
             ? "The thread has this lock already: move what it does with it "
               "into a function that does not lock, and call that from both "
               "places"
             : "Take these locks in the same order everywhere, or together "
               "(std::scoped_lock)";
}

}  // namespace

void AddDeadlockFindings(const FindingRun& run,
                         std::vector<Finding>& findings) {
  const Trace& trace = run.trace;
  WaitPlaces places(trace);
  for (const LockDeadlock& deadlock : run.Deadlocks()) {
    const std::vector<Wait>& waits = trace.thread_states()->waits;
    const Wait& first = waits[deadlock.circle.front()];
    DurationNs all_ns = 0;
    DurationNs shortest_ns = first.duration_ns;
    for (const uint32_t i : deadlock.circle) {
      all_ns += waits[i].duration_ns;
      shortest_ns = std::min(shortest_ns, waits[i].duration_ns);
    }
    for (const uint32_t i : deadlock.others) all_ns += waits[i].duration_ns;
    Finding finding = run.OfTime(FindingKind::kDeadlock, all_ns);
    const auto count = static_cast<int64_t>(deadlock.circle.size());
    finding.title = absl::StrCat(
        "Deadlock of ", CountText(count, "thread", "threads"), " for ",
        TimeText(shortest_ns), ": ", ChainText(trace, places, deadlock),
        OthersText(static_cast<int64_t>(deadlock.others.size()), "thread",
                   "threads"));
    finding.next_step = NextStep(deadlock);
    finding.evidence = {.kind = EvidenceKind::kInterval,
                        .name = places.Of(first.stack),
                        .table = "locks",
                        .track = first.track,
                        .begin_ns = first.begin_ns,
                        .duration_ns = first.duration_ns,
                        .stack = first.stack};
    findings.push_back(std::move(finding));
  }
}

}  // namespace kymo::analysis
