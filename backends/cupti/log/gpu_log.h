// gpu_log.h - the log of one process: a header and records.
//
//   +-----------+------------------------------+
//   | LogHeader | records (gpu_record.h)       |
//   | 4096 B    | in whole blocks              |
//   +-----------+------------------------------+
//
// In a child of the command the log is a file that the process appends to. Its
// header is mapped, so it is up to date until the instant at which the process
// is killed. In this process the log is memory.
//
// The reader trusts nothing in it.
#ifndef KYMO_BACKENDS_CUPTI_LOG_GPU_LOG_H_
#define KYMO_BACKENDS_CUPTI_LOG_GPU_LOG_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kymo::cupti {

inline constexpr uint64_t kLogMagic = 0x67706f6d796b0a1au;
inline constexpr uint32_t kLogVersion = 1;
inline constexpr size_t kLogHeaderBytes = 4096;

enum class LogState : uint32_t {
  kOpening = 0,
  kOpen = 1,    // being written; stays so in a killed process
  kClosed = 2,  // everything has been written
  kFailed = 3,  // CUPTI could not be used; `problem` says why
};

struct LogHeader {
  uint64_t magic = 0;
  uint32_t version = 0;
  int32_t pid = 0;
  uint32_t cupti_version = 0;
  std::atomic<LogState> state{LogState::kOpening};
  // Buffers that CUPTI holds. Their records are not in the log yet.
  std::atomic<uint64_t> buffers_out{0};
  // Requests for buffers that were refused, because CUPTI held too many.
  std::atomic<uint64_t> buffers_refused{0};
  std::atomic<uint64_t> records{0};
  std::atomic<uint64_t> bytes_lost{0};  // bytes that could not be written
  char problem[256] = {};
};
static_assert(sizeof(LogHeader) <= kLogHeaderBytes);

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_LOG_GPU_LOG_H_
