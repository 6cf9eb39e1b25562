// launches.h - which call of the runtime launched what a device did.
//
//   const Launches launches(trace);
//   launches.LauncherOf(kernel)     // the event of cudaLaunchKernel
//   launches.IsLauncher(call)       // it launched something
//   launches.OperationOf(kernel)    // the cpu_op around that call
//   launches.FileId(kernel)         // an id of the two, for files
//
// CUPTI's rule: events with the same correlation id in the same process belong
// together. Where a call of the runtime and one of the driver share an id, the
// runtime's counts. An operation is the innermost cpu_op around a call, on its
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

// The correlation id of such events is the driver's, which calls and what they
// launched share; that of others is an operation's.
bool HasLaunchId(model::ActivityType type);

// A device that waits, and the moments that others wait for; no work.
bool IsWait(model::ActivityType type);

class Launches {
 public:
  // `trace` must outlive the object.
  explicit Launches(const model::Trace& trace);

  // kNoEvent for events of threads and for what nobody launched.
  model::EventIndex LauncherOf(model::EventIndex event) const {
    return launcher_.empty() ? model::kNoEvent : launcher_[event];
  }
  bool IsLauncher(model::EventIndex event) const {
    return !is_launcher_.empty() && is_launcher_[event];
  }
  // Of a call, or of what a call launched; kNoEvent where there is none.
  model::EventIndex OperationOf(model::EventIndex event) const;
  // The correlation id, for files that know no processes: the first process has
  // its ids, further ones, which count their own, a number in the upper half.
  // REQUIRES: the event has a correlation id.
  uint64_t FileId(model::EventIndex event) const;

 private:
  const model::Trace& trace_;
  std::vector<model::EventIndex> launcher_;  // by event; empty: no stream
  std::vector<bool> is_launcher_;            // by event; empty: no stream
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_DEVICE_LAUNCHES_H_
