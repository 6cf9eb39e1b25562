// capture_log.h - brings the records of CUPTI's buffers into the log.
//
//   CaptureLog log;                             // constinit
//   log.Open(api, settings, sink, header);
//   log.Request(&buffer, &size);                // CUPTI wants a buffer
//   log.Complete(context, stream, buffer, n);   // and returns it
//   log.Close();
//
// Threads: everything but Open and Close may be called concurrently. Threads of
//   the program ask for buffers in the middle of a launch. They never wait
//   until the records of another thread are translated and written.
// Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_CAPTURE_LOG_H_
#define KYMO_BACKENDS_CUPTI_TARGET_CAPTURE_LOG_H_

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "backends/cupti/log/gpu_log.h"
#include "backends/cupti/log/log_writer.h"
#include "backends/cupti/target/buffer_pool.h"
#include "backends/cupti/target/capture.h"
#include "backends/cupti/target/cupti_api.h"

namespace kymo::cupti {

class CaptureLog {
 public:
  constexpr CaptureLog() noexcept = default;
  CaptureLog(const CaptureLog&) = delete;
  CaptureLog& operator=(const CaptureLog&) = delete;

  // `api`, `sink` and `header` must live until Close.
  void Open(const CuptiApi& api, const CaptureSettings& settings,
            const LogSink& sink, LogHeader* header) noexcept;
  // Buffers that come later are ignored.
  void Close() noexcept;
  // For a forked child: the log belongs to its parent.
  void Forget() noexcept;

  // Sets *buffer to null if CUPTI holds too many buffers.
  void Request(uint8_t** buffer, size_t* size) noexcept;
  // Translates and writes a returned buffer. If the buffer is not ours, an
  // earlier client left it with CUPTI. Its records may be older than the log
  // and its memory is that client's, so it is only counted.
  void Complete(void* context, uint32_t stream, uint8_t* buffer,
                size_t valid_bytes) noexcept;
  // How many buffers CUPTI holds.
  size_t buffers_out() noexcept;

  // Writes one record. `text` may be null.
  template <typename R>
  void Write(RecordKind kind, R record, const char* text = nullptr) noexcept {
    const Locked locked(log_lock_);
    if (header_ == nullptr) return;
    record.header.name = writer_.TextId(text);
    writer_.Write(kind, record);
    writer_.Flush();
  }

 private:
  class Locked {
   public:
    explicit Locked(pthread_mutex_t& lock) noexcept : lock_(lock) {
      pthread_mutex_lock(&lock_);
    }
    ~Locked() { pthread_mutex_unlock(&lock_); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

   private:
    pthread_mutex_t& lock_;
  };

  // REQUIRES: log_lock_ is held.
  void WriteLoss(LossReason reason, uint64_t count) noexcept;
  void WriteDropped(void* context, uint32_t stream) noexcept;

  // Held for an instant, and never inside of log_lock_ except in Open and
  // Close.
  pthread_mutex_t buffers_lock_ = PTHREAD_MUTEX_INITIALIZER;
  // Held while a buffer is translated and written.
  pthread_mutex_t log_lock_ = PTHREAD_MUTEX_INITIALIZER;

  // Written with both locks held. Null: no records are wanted.
  LogHeader* header_ = nullptr;
  const CuptiApi* api_ = nullptr;
  BufferPool buffers_;  // needs buffers_lock_
  LogWriter writer_;    // needs log_lock_
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_CAPTURE_LOG_H_
