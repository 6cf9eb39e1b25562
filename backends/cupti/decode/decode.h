// decode.h - turns a log of device activities into a shard.
//
//   DecodedLog decoded = DecodeLog(facts, records, {}, shard);
//
// Records become these parts of the shard, with Kineto's names and arguments:
//
//   kernels, copies, sets, graphs  events of the stream that they ran on
//   calls                          events of the calling thread; calls that
//                                  only ask something are left out (IsQuery)
//   waits, recorded events         events of a row beside the stream
//   overhead                       asynchronous ranges of its thread
//   memory                         memory records of the device, on the thread
//                                  that asked for it; pinned memory and pools:
//                                  counters
//   markers                        what a program says through NVTX, see
//                                  marker_decoder.h
//   unified memory                 transfers are events of the device's stream
//                                  -1; faults and the like are counters
//
// Correlation ids are CUPTI's. They link a device's work to the call that asked
// for it. Ids that the program pushed itself are "External id".
//
// Two kinds of activities are counted and not shown: those without times, and
// those that seem to begin before the call that launched them, because the
// clocks are not close enough. Queries of the device that found work left are
// not shown.
//
// Threads: none. The log may hold any bytes.
#ifndef KYMO_BACKENDS_CUPTI_DECODE_DECODE_H_
#define KYMO_BACKENDS_CUPTI_DECODE_DECODE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backends/cupti/log/gpu_log.h"
#include "backends/cupti/log/gpu_record.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"

namespace kymo::cupti {

// The facts in a log's header.
struct LogFacts {
  int64_t pid = 0;
  uint32_t cupti_version = 0;
  LogState state = LogState::kClosed;
  uint64_t buffers_out = 0;
  uint64_t buffers_refused = 0;
  uint64_t bytes_lost = 0;
  std::string problem;  // why nothing was recorded, if so
};

struct DecodeOptions {
  int64_t epoch_offset_ns = 0;  // epoch minus CLOCK_MONOTONIC
  bool with_queries = false;    // show calls that only ask something
};

struct DecodedLog {
  // By how much times may differ from the host's (log_clock.h).
  DurationNs clock_error_ns = 0;
  // The most by which a device's activity seems to begin before its launch.
  DurationNs early_ns = 0;
  // The most by which an activity seems to end after a wait for it
  // (wait_table.h).
  DurationNs late_ns = 0;
  // Requested kinds that CUPTI refused: "unified memory: ... (28)".
  std::vector<std::string> refused;
  // The devices that the log describes, with their names.
  struct Device {
    DeviceRecord record;
    std::string name;
  };
  std::map<uint32_t, Device> devices;
  // The streams that the log describes, once each, by device, context and id;
  // at most the first kMaxStreams.
  struct Stream {
    int64_t pid;
    uint32_t device, context, id;
    int32_t priority;
    uint32_t flag;  // CUPTI's number
    auto operator<=>(const Stream&) const = default;
  };
  static constexpr size_t kMaxStreams = 1000;
  std::set<Stream> streams;
};

DecodedLog DecodeLog(const LogFacts& facts, std::span<const std::byte> records,
                     const DecodeOptions& options, model::TraceShard& shard);

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_DECODE_H_
