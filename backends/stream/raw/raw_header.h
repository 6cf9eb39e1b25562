// raw_header.h - the collector's part of a raw file (raw_file.h).
#ifndef KYMO_BACKENDS_STREAM_RAW_RAW_HEADER_H_
#define KYMO_BACKENDS_STREAM_RAW_RAW_HEADER_H_

#include <cstdint>

#include "backends/stream/decode/loss_counters.h"
#include "profiler/base/clock.h"

namespace kymo::stream {

inline constexpr uint64_t kRawHeaderBytes = 4096;

// Plain data, behind the arena.
struct RawHeader {
  static constexpr uint64_t kMagic = 0x77617265746f6d79u;
  static constexpr uint32_t kVersion = 1;

  uint64_t magic = kMagic;
  uint32_t version = kVersion;
  uint32_t with_memory = 0;
  int64_t epoch_offset_ns = 0;
  uint64_t heap_sample_interval = 0;
  uint64_t lost_bytes = 0;  // of drained chunks
  ClockAnchor first_anchor;
  ClockAnchor last_anchor;
  uint32_t is_complete = 0;  // 1: the collector ended the recording
  // 1: a flight recorder with a time to keep; records that it overwrote count
  // as lost.
  uint32_t was_to_hold_time = 0;
  // 1: ranges that began before the kept records are not missing, whatever the
  // arena's policy is.
  uint32_t keeps_newest = 0;
  uint32_t reserved = 0;
  // For a session: the arena's losses when the session began.
  LossCounters losses_before;
};
static_assert(sizeof(RawHeader) <= kRawHeaderBytes);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_RAW_RAW_HEADER_H_
