// log_clock.h - converts the times of a log to the one clock of a trace.
//
//   LogClockConverter clock(EpochOffsetNs());
//   clock.Add(anchor);                      // every AnchorRecord of the log
//   clock.Finish();
//   TimeNs t = clock.ToEpochNs(kernel.start);
//
// Times of CLOCK_MONOTONIC only need an addition. Times of CUPTI's own clock
// are interpolated between the anchors around them; outside of the anchors the
// nearest anchor's offset counts. The result is off by at most
//
//   error = largest uncertainty of an anchor
//         + largest change of the offset from one anchor to the next
//
// The second part is there because a clock that was stepped may have been
// stepped at any time in between. The error does not include what CUPTI does to
// match the device's clock with the host's: see DecodedLog::early_ns.
//
// Threads: none. ToEpochNs is not const: it remembers its last position.
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

  // 0 means that a time is not known, and stays 0.
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

  const uint64_t epoch_offset_ns_;  // unsigned: may wrap on odd input
  int64_t error_ns_ = 0;
  std::vector<Point> points_;  // by log_ns; empty: the log is in our clock
  size_t at_ = 0;              // points_[at_]: the last at or before a time
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_LOG_CLOCK_H_
