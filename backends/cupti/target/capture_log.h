// capture_log.h - from CUPTI's buffers into the log.
//
//   CaptureLog log;                             // constinit
//   log.Open(api, settings, sink, header);
//   log.Request(&buffer, &size);                // CUPTI wants one
//   log.Complete(context, stream, buffer, n);   // and hands it back
//   log.Close();
//
// Threads: everything but Open and Close may be called concurrently. Threads of
//   the program ask for buffers, in the middle of a launch: they never wait for
//   another one's records to be translated and written.
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
  // What comes afterwards is nobody's.
  void Close() noexcept;
  // In a forked child: the log is its parent's.
  void Forget() noexcept;

  // *buffer null: too many are out.
  void Request(uint8_t** buffer, size_t* size) noexcept;
  // A buffer that is not of ours was left behind by a client before us. What is
  // in it may be older than the log, and the memory is that client's.
  void Complete(void* context, uint32_t stream, uint8_t* buffer,
                size_t valid_bytes) noexcept;
  // Buffers that are out.
  size_t buffers_out() noexcept;

  // `text`: null = none.
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

  // Held for an instant; never inside of log_lock_ but for Open and Close.
  pthread_mutex_t buffers_lock_ = PTHREAD_MUTEX_INITIALIZER;
  // Held while a buffer is translated and written.
  pthread_mutex_t log_lock_ = PTHREAD_MUTEX_INITIALIZER;

  // Written with both locks held; null: nothing is wanted.
  LogHeader* header_ = nullptr;
  const CuptiApi* api_ = nullptr;
  BufferPool buffers_;  // buffers_lock_
  LogWriter writer_;    // log_lock_
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_CAPTURE_LOG_H_
