#include "exporters/tensorboard/xspace/time_base.h"

#include <limits>

namespace kymo::tensorboard {

TimeBase::TimeBase(const model::Trace& trace) {
  TimeNs first_ns = std::numeric_limits<TimeNs>::max();
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    if (trace.track_begin(t) == trace.track_end(t)) continue;
    first_ns = std::min(first_ns, trace.start()[trace.track_begin(t)]);
  }
  for (const model::MemoryRecord& record : trace.memory()) {
    first_ns = std::min(first_ns, record.time_ns);
  }
  for (const model::StackSample& sample : trace.samples()) {
    first_ns = std::min(first_ns, sample.time_ns);
  }
  for (const model::CounterSample& sample : trace.counters()) {
    first_ns = std::min(first_ns, sample.time_ns);
  }
  start_ns_ = std::min(trace.start_ns(), first_ns);
  end_ns_ = std::max(trace.end_ns(), start_ns_);
  const uint64_t span_ns =
      static_cast<uint64_t>(end_ns_) - static_cast<uint64_t>(start_ns_);
  const bool has_events = first_ns != std::numeric_limits<TimeNs>::max();
  if (span_ns > kMaxNs && has_events) start_ns_ = first_ns;
}

}  // namespace kymo::tensorboard
