// critical_path.h - the chain of work that a trace's length is due to.
//
//   const CriticalPath path = FindCriticalPath(trace, Launches(trace), {});
//   for (const PathStep& step : path.steps) Print(step);
//
// Starts and ends of ranges are the nodes of a graph, whose edges say what
// waited for what; the path is the one on which most time is spent:
//
//   host        along each thread: into a range, from one to the next, out of
//               it. The end of a call that waits for the device is no work: its
//               time is the device's.
//   kernel      from the start of a kernel, copy or set to its end
//   launch      from a call's start to what it launched, where that found its
//               stream empty
//   queue       from a stream's last end to its next work, where that was
//               launched earlier
//   dependency  a stream waited for an event of another (Stream Wait Event);
//               a call waited for a stream, an event or the device (Stream
//               Sync, Event Sync, Context Sync); one range of a thread after
//               another. Takes no time itself.
//
// HolisticTraceAnalysis: critical_path_analysis, whose graph this is, but for
// two things. A late launch is a launch also where the host had launched more
// by the time the work began; there it is queueing. And without records of
// synchronisation (cuda_sync) a call that waits by its name (such as
// cudaDeviceSynchronize) waits for what its process had launched before.
//
// Ties are broken by the order of edges: the path is the same everywhere.
// Cost: linear in the events and a sort; about 150 bytes an event.
#ifndef KYMO_PROFILER_ANALYSIS_CRITICAL_PATH_H_
#define KYMO_PROFILER_ANALYSIS_CRITICAL_PATH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/path_cause.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct CriticalPathOptions {
  // Only what threads began in [start_ns, end_ns], and what they launched in
  // that time, whenever it ran; both 0: all. A step of a training loop, say.
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
};

// A part of the path: `event` did it, or waited.
struct PathStep {
  PathCause cause = PathCause::kHost;
  model::EventIndex event = model::kNoEvent;
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  DurationNs weight_ns = 0;  // its part in the path's length
};

struct CriticalPath {
  std::vector<PathStep> steps;  // in time
  DurationNs length_ns = 0;     // sum of the weights
};

CriticalPath FindCriticalPath(const model::Trace& trace,
                              const Launches& launches,
                              const CriticalPathOptions& options);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_CRITICAL_PATH_H_
