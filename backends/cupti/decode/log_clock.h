// log_clock.h - from the times of a log to the one clock of a trace.
//
//   LogClockConverter clock(EpochOffsetNs());
//   clock.Add(anchor);                      // every AnchorRecord of the log
//   clock.Finish();
//   TimeNs t = clock.ToEpochNs(kernel.start);
//
// A log in CLOCK_MONOTONIC needs an addition. One in CUPTI's own clock is
// interpolated between the anchors around a time; outside of them the nearest
// one's offset counts. The result is off by at most
//
//   error = largest uncertainty of an anchor
//         + largest change of the offset from one anchor to the next
//
// the second since a clock that was stepped may have been so at any time in
// between. What CUPTI itself does to bring the device's clock to the host's is
// not in it: see DecodedLog::early_ns.
//
// Threads: ToEpochNs is not const: it remembers where it was.
#ifndef KYMO_BACKENDS_CUPTI_DECODE_LOG_CLOCK_H_
#define KYMO_BACKENDS_CUPTI_DECODE_LOG_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cupti/log/gpu_record.h"
#include "profiler/base/time.h"

namespace kymo::cupti {

class LogClockConverter {
 public:
  // `epoch_offset_ns`: epoch minus CLOCK_MONOTONIC.
  explicit LogClockConverter(int64_t epoch_offset_ns)
      : epoch_offset_ns_(epoch_offset_ns) {}

  void Add(const AnchorRecord& anchor);
  // REQUIRES: nothing is added afterwards.
  void Finish();

  // 0 stays 0: a time that is not known.
  TimeNs ToEpochNs(uint64_t log_ns) {
    if (log_ns == 0) return 0;
    if (points_.empty()) [[likely]] {
      return static_cast<TimeNs>(log_ns + epoch_offset_ns_);
    }
    return Interpolate(log_ns);
  }

  int64_t error_ns() const { return error_ns_; }

 private:
  struct Point {
    uint64_t log_ns;
    int64_t offset_ns;  // epoch minus log
  };

  TimeNs Interpolate(uint64_t log_ns);

  const uint64_t epoch_offset_ns_;  // unsigned: it may wrap on odd input
  int64_t error_ns_ = 0;
  std::vector<Point> points_;  // by log_ns; empty: the log is in our clock
  size_t at_ = 0;              // points_[at_] was the last one at or before
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_LOG_CLOCK_H_
