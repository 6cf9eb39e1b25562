// time_base.h - the time that is 0 in an XSpace.
//
//   const TimeBase base(trace);
//   base.OffsetPs(trace.start()[event])   // ps after base.start_ns()
//
// XProf counts picoseconds in 64 bits, which is enough for 106 days. Times
// therefore count from the start of the recording, or from the first event if
// that came later. A time after kMaxNs is written as kMaxNs.
#ifndef KYMO_EXPORTERS_TENSORBOARD_XSPACE_TIME_BASE_H_
#define KYMO_EXPORTERS_TENSORBOARD_XSPACE_TIME_BASE_H_

#include <algorithm>
#include <cstdint>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

class TimeBase {
 public:
  static constexpr uint64_t kMaxNs = 9'000'000'000'000'000;  // 104 days
  static constexpr uint64_t kPsPerNs = 1'000;

  explicit TimeBase(const model::Trace& trace);

  // No time of the trace is earlier.
  TimeNs start_ns() const { return start_ns_; }
  // The end of the recording, or of the last event if that is later.
  TimeNs end_ns() const { return end_ns_; }

  uint64_t OffsetPs(TimeNs time_ns) const {
    const uint64_t ns =
        static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(start_ns_);
    return std::min(ns, kMaxNs) * kPsPerNs;
  }

 private:
  TimeNs start_ns_ = 0;
  TimeNs end_ns_ = 0;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_XSPACE_TIME_BASE_H_
