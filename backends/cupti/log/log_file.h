// log_file.h - writes a process's log into a file in the collector's folder.
//
//   static constinit LogFile file;
//   if (file.Open("/tmp/x")) {              // /tmp/x/cuda-1234-5678.log
//     StartCapture(*api, settings, file.sink(), file.header());
//   }
//
// It keeps no descriptor, since programs close descriptors that they do not
// know, and use their numbers again. Each block opens the file, which takes
// microseconds.
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

  // Makes an empty log. False, and no file is left, if the folder takes no
  // file.
  bool Open(const char* folder) noexcept;

  // The header is mapped: the collector sees what is stored there, whatever
  // happens to this process. REQUIRES: Open succeeded.
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
