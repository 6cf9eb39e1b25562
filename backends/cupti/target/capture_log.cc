#include "backends/cupti/target/capture_log.h"

#include <unistd.h>

namespace kymo::cupti {
namespace {

// CUPTI before that of CUDA 12.9 crashes if it gets no buffer.
constexpr uint32_t kTakesRefusals = 27;

}  // namespace

void CaptureLog::Open(const CuptiApi& api, const CaptureSettings& settings,
                      const LogSink& sink, LogHeader* header) noexcept {
  header->magic = kLogMagic;
  header->version = kLogVersion;
  header->pid = getpid();
  header->cupti_version = api.version;
  const Locked log(log_lock_);
  const Locked buffers(buffers_lock_);
  buffers_.SetLimits(settings.buffer_bytes, api.version < kTakesRefusals
                                                ? SIZE_MAX
                                                : settings.max_bytes);
  writer_.Open(sink);
  api_ = &api;
  header_ = header;
}

void CaptureLog::Close() noexcept {
  const Locked log(log_lock_);
  const Locked buffers(buffers_lock_);
  if (header_ == nullptr) return;
  WriteDropped(nullptr, 0);
  WriteLoss(LossReason::kTexts, writer_.texts_lost());
  writer_.Flush();
  header_ = nullptr;
}

void CaptureLog::Forget() noexcept {
  // Threads of the parent may have held the locks at the fork.
  log_lock_ = PTHREAD_MUTEX_INITIALIZER;
  buffers_lock_ = PTHREAD_MUTEX_INITIALIZER;
  header_ = nullptr;
}

void CaptureLog::Request(uint8_t** buffer, size_t* size) noexcept {
  const Locked locked(buffers_lock_);
  *buffer = buffers_.Take();
  *size = *buffer == nullptr ? 0 : buffers_.buffer_bytes();
  if (header_ == nullptr) return;
  if (*buffer == nullptr) {
    header_->buffers_refused.fetch_add(1, std::memory_order_relaxed);
  }
  header_->buffers_out.store(buffers_.taken(), std::memory_order_relaxed);
}

void CaptureLog::Complete(void* context, uint32_t stream, uint8_t* buffer,
                          size_t valid_bytes) noexcept {
  bool is_ours = true;
  if (buffer != nullptr) {
    const Locked locked(buffers_lock_);
    is_ours = buffers_.Owns(buffer);
  }
  {
    const Locked locked(log_lock_);
    if (header_ != nullptr) {
      if (!is_ours) {
        WriteLoss(LossReason::kForeign, 1);
      } else if (valid_bytes > 0) {
        api_->translate(buffer, valid_bytes, writer_);
      }
      WriteDropped(context, stream);
      writer_.Flush();
      header_->records.store(writer_.records(), std::memory_order_relaxed);
    }
  }
  if (!is_ours || buffer == nullptr) return;
  const Locked locked(buffers_lock_);
  buffers_.Return(buffer);
  if (header_ == nullptr) return;
  header_->buffers_out.store(buffers_.taken(), std::memory_order_relaxed);
}

size_t CaptureLog::buffers_out() noexcept {
  const Locked locked(buffers_lock_);
  return buffers_.taken();
}

void CaptureLog::WriteLoss(LossReason reason, uint64_t count) noexcept {
  if (count == 0) return;
  LossRecord loss = {};
  loss.count = count;
  loss.reason = reason;
  writer_.Write(RecordKind::kLoss, loss);
}

void CaptureLog::WriteDropped(void* context, uint32_t stream) noexcept {
  size_t dropped = 0;
  if (api_->dropped(context, stream, &dropped) != ApiStatus::kOk) return;
  WriteLoss(LossReason::kDropped, dropped);
}

}  // namespace kymo::cupti
