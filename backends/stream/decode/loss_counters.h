// loss_counters.h - an arena's counts of lost records, at one moment.
#ifndef KYMO_BACKENDS_STREAM_DECODE_LOSS_COUNTERS_H_
#define KYMO_BACKENDS_STREAM_DECODE_LOSS_COUNTERS_H_

#include <cstdint>

namespace kymo::stream {

// The header's and streams' loss counters. They only grow; a session's losses
// are the difference between its two ends.
struct LossCounters {
  uint64_t dropped = 0;
  uint64_t dropped_in_handlers = 0;
  uint64_t overwritten = 0;
  uint64_t without_stream = 0;
  uint64_t names_lost = 0;
  uint64_t texts_truncated = 0;
  uint64_t heap_samples_lost = 0;
  uint64_t heaps_not_watched = 0;
  uint64_t processes_not_recorded = 0;
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_LOSS_COUNTERS_H_
