// log_file.h - a process's log in a file of the collector's folder.
//
//   static constinit LogFile file;
//   if (file.Open("/tmp/x")) {              // /tmp/x/cuda-1234-5678.log
//     StartCapture(*api, settings, file.sink(), file.header());
//   }
//
// No descriptor is kept: programs close those that they do not know, and use
// their numbers again. Each block opens the file, which takes microseconds.
//
// Threads: one at a time. Errors: bytes that cannot be written are counted in
//   the header. Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_CUPTI_LOG_LOG_FILE_H_
#define KYMO_BACKENDS_CUPTI_LOG_LOG_FILE_H_

#include <cstddef>
#include <cstdint>

#include "backends/cupti/log/gpu_log.h"
#include "backends/cupti/log/log_writer.h"

namespace kymo::cupti {

class LogFile {
 public:
  constexpr LogFile() noexcept = default;
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // A log of nothing so far. False when the folder takes no file, and then
  // leaves none.
  bool Open(const char* folder) noexcept;

  // Mapped: what is stored there is seen by the collector, whatever happens to
  // this process. REQUIRES: Open succeeded.
  LogHeader* header() noexcept { return header_; }
  LogSink sink() noexcept { return {.append = Append, .to = this}; }

 private:
  static void Append(void* to, const void* data, size_t size) noexcept;

  char path_[1024] = {};
  LogHeader* header_ = nullptr;
  uint64_t offset_ = kLogHeaderBytes;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_LOG_LOG_FILE_H_
