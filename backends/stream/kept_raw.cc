#include "backends/stream/kept_raw.h"

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/stream/raw/raw_windows.h"
#include "backends/stream/trace_memory.h"

namespace kymo::stream {

KeptRecording KeptRaw(const std::string& path, uint64_t record_bytes,
                      uint64_t memory_limit) {
  return {
      .path = path,
      .why = absl::StrCat("a trace of the ", record_bytes / kMib,
                          " MiB of records would take ",
                          TraceMemoryBytes(record_bytes) / kMib,
                          " MiB of memory, more than the ", memory_limit / kMib,
                          " MiB that may be taken (--cpu_max_memory)"),
      .open = [path](uint64_t window_bytes)
          -> absl::StatusOr<std::unique_ptr<TraceWindows>> {
        return RawWindows::Open(path, window_bytes);
      },
      .window_bytes = WindowBytesFor(memory_limit),
      .read_flag = "--raw_windows=always"};
}

}  // namespace kymo::stream
