// launches.h - which runtime call launched each piece of a device's work.
//
//   const Launches launches(trace);
//   launches.LauncherOf(kernel)     // the event of cudaLaunchKernel
//   launches.IsLauncher(call)       // it launched something
//   launches.OperationOf(kernel)    // the cpu_op around that call
//   launches.FileId(kernel)         // the id that the two share, for files
//
// CUPTI's rule: events of one process that have the same correlation id belong
// together. If a runtime call and a driver call share an id, the runtime call
// counts. The operation of a call is the innermost cpu_op around it, on its
// thread.
//
// Cost: nothing where no stream has events, else linear.
// Threads: const after construction.
#ifndef KYMO_PROFILER_ANALYSIS_DEVICE_LAUNCHES_H_
#define KYMO_PROFILER_ANALYSIS_DEVICE_LAUNCHES_H_

#include <cstdint>
#include <vector>

#include "profiler/model/activity_type.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// A call of a device's runtime or driver.
bool IsRuntimeCall(model::ActivityType type);

// Whether the event's correlation id comes from the driver, which gives a call
// and the work that it launched the same id. Other events have an operation's
// id.
bool HasLaunchId(model::ActivityType type);

// Whether the event is a device that waits, or a moment that others wait for.
// Neither is work.
bool IsWait(model::ActivityType type);

class Launches {
 public:
  // `trace` must outlive the object.
  explicit Launches(const model::Trace& trace);

  // kNoEvent for events of threads, and for work that no call launched.
  model::EventIndex LauncherOf(model::EventIndex event) const {
    return launcher_.empty() ? model::kNoEvent : launcher_[event];
  }
  bool IsLauncher(model::EventIndex event) const {
    return !is_launcher_.empty() && is_launcher_[event];
  }
  // The operation of a call, or of the work that a call launched; kNoEvent if
  // there is none.
  model::EventIndex OperationOf(model::EventIndex event) const;
  // The correlation id, for files that know no processes. The first process
  // keeps its ids. Every further process counts its own, so its ids get a
  // number in the upper half. REQUIRES: the event has a correlation id.
  uint64_t FileId(model::EventIndex event) const;

 private:
  const model::Trace& trace_;
  std::vector<model::EventIndex> launcher_;  // by event; empty: no stream
  std::vector<bool> is_launcher_;            // by event; empty: no stream
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_DEVICE_LAUNCHES_H_
