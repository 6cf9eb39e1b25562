// kept_raw.h - a raw file that is too large for a trace, as a KeptRecording.
//
//   if (TraceMemoryBytes(bytes) > limit) {
//     return Collected{KeptRaw(path, bytes, limit)};
//   }
#ifndef KYMO_BACKENDS_STREAM_KEPT_RAW_H_
#define KYMO_BACKENDS_STREAM_KEPT_RAW_H_

#include <cstdint>
#include <string>

#include "profiler/plugin/kept_recording.h"

namespace kymo::stream {

// The file has so many bytes of records, and its trace may take
// `memory_limit`.
KeptRecording KeptRaw(const std::string& path, uint64_t record_bytes,
                      uint64_t memory_limit);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_KEPT_RAW_H_
