#include "profiler/analysis/first_time.h"

#include <algorithm>

#include "profiler/model/records.h"
#include "profiler/model/thread_states.h"

namespace kymo::analysis {

using model::TrackIndex;

TimeNs FirstTimeNs(const model::Trace& trace) {
  TimeNs base = trace.start_ns();
  for (TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    if (trace.track_begin(t) < trace.track_end(t)) {
      base = std::min(base, trace.start()[trace.track_begin(t)]);
    }
  }
  for (const auto& sample : trace.samples()) {
    base = std::min(base, sample.time_ns);
  }
  for (const auto& counter : trace.counters()) {
    base = std::min(base, counter.time_ns);
  }
  for (const auto& record : trace.memory()) {
    base = std::min(base, record.time_ns);
  }
  if (trace.thread_states() != nullptr) {
    for (const auto& wait : trace.thread_states()->waits) {
      base = std::min(base, wait.begin_ns);
    }
  }
  return base;
}

}  // namespace kymo::analysis
