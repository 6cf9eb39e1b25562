// trace_windows.h - a recording that is larger than memory, part by part.
//
//   while (!windows->is_done()) {
//     KYMO_ASSIGN_OR_RETURN(TraceWindow window, windows->Next());
//     shards.push_back(std::move(window.shard));
//     Normalize(std::move(shards), {window.start_ns, window.end_ns});
//   }
//
// Windows follow each other in time, and each is small enough for a trace of
// its own. An event counts in one window. A later window repeats it with
// kEventRepeated where it encloses events of that window. A loss counts in one
// window as well; the exception is kRangesOpenAtEnd, which only the last window
// has right.
//
// Threads: one call at a time.
// Errors:  kDataLoss where the recording can no longer be read.
#ifndef KYMO_PROFILER_PLUGIN_TRACE_WINDOWS_H_
#define KYMO_PROFILER_PLUGIN_TRACE_WINDOWS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"

namespace kymo {

struct TraceWindow {
  model::TraceShard shard;
  // The start and end of the whole recording. If nobody ended it, only the last
  // window has its end; earlier windows have a time after all others.
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  bool is_last = false;
};

class TraceWindows {
 public:
  TraceWindows() = default;
  TraceWindows(const TraceWindows&) = delete;
  TraceWindows& operator=(const TraceWindows&) = delete;
  virtual ~TraceWindows() = default;

  virtual bool is_done() const = 0;
  // REQUIRES: !is_done().
  virtual absl::StatusOr<TraceWindow> Next() = 0;

  // Sentences about the recording for the user.
  virtual std::vector<std::string> Notes() const = 0;
};

// A file that an importer offers in windows, and why.
struct LargeTrace {
  std::unique_ptr<TraceWindows> windows;
  uint64_t record_bytes = 0;  // in the file
  uint64_t trace_bytes = 0;   // memory that a trace of the whole file takes
  uint64_t memory_limit = 0;  // bytes that a trace may take
  std::string whole_flag;     // how a user asks for it as a whole
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_TRACE_WINDOWS_H_
