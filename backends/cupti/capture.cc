#include "backends/cupti/capture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "backends/cupti/buffer_pool.h"
#include "backends/cupti/capture_kinds.h"
#include "profiler/base/clock.h"

namespace kymo::cupti {
namespace {

// CUPTI's callbacks carry no pointer of ours, so there is one of all this.
struct CaptureState {
  // Null: no capture. Read without the lock by threads that flush.
  std::atomic<const CuptiApi*> api{nullptr};
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  LogHeader* header = nullptr;  // null: what comes back is not wanted
  CaptureSettings settings;
  LogClock clock = LogClock::kCupti;
  CaptureKinds kinds;
  BufferPool buffers;
  LogWriter writer;
};
constinit CaptureState state;

class Locked {
 public:
  Locked() noexcept { pthread_mutex_lock(&state.lock); }
  ~Locked() { pthread_mutex_unlock(&state.lock); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

uint64_t Now() { return static_cast<uint64_t>(MonotonicNs()); }

void Request(uint8_t** buffer, size_t* size, size_t* max_records) {
  *max_records = 0;  // as many as fit
  const Locked locked;
  *buffer = state.buffers.Take();
  *size = *buffer == nullptr ? 0 : state.buffers.buffer_bytes();
  if (state.header == nullptr) return;
  auto& counter = *buffer == nullptr ? state.header->buffers_refused
                                     : state.header->buffers_out;
  counter.fetch_add(1, std::memory_order_relaxed);
}

void CountDropped(const CuptiApi& api, void* context,
                  uint32_t stream) noexcept {
  size_t dropped = 0;
  if (api.dropped(context, stream, &dropped) != ApiStatus::kOk) return;
  if (dropped == 0) return;
  LossRecord loss = {};
  loss.count = dropped;
  loss.reason = LossReason::kDropped;
  state.writer.Write(RecordKind::kLoss, loss);
}

void Complete(void* context, uint32_t stream, uint8_t* buffer, size_t,
              size_t valid_bytes) {
  const Locked locked;
  const CuptiApi* const api = state.api.load(std::memory_order_acquire);
  const bool is_ours = state.buffers.Owns(buffer);
  if (state.header != nullptr && api != nullptr) {
    if (is_ours && valid_bytes > 0) {
      api->translate(buffer, valid_bytes, state.writer);
    }
    CountDropped(*api, context, stream);
    state.writer.Flush();
    state.header->records.store(state.writer.records(),
                                std::memory_order_relaxed);
    if (is_ours) {
      state.header->buffers_out.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  state.buffers.Return(buffer);
}

// Pairs the log's clock with ours: the closest of a few readings.
void WriteAnchor(const CuptiApi& api) noexcept {
  AnchorRecord best = {};
  best.clock = state.clock;
  if (state.clock == LogClock::kMonotonic) {
    best.log_ns = best.monotonic_ns = Now();
  } else {
    best.uncertainty_ns = ~uint64_t{0};
    for (int i = 0; i < 16; ++i) {
      uint64_t log_ns = 0;
      const uint64_t before = Now();
      if (api.timestamp(&log_ns) != ApiStatus::kOk) return;
      const uint64_t after = Now();
      const uint64_t uncertainty = (after - before + 1) / 2;
      if (uncertainty >= best.uncertainty_ns) continue;
      best.log_ns = log_ns;
      best.monotonic_ns = before + (after - before) / 2;
      best.uncertainty_ns = uncertainty;
    }
  }
  const Locked locked;
  if (state.header == nullptr) return;
  state.writer.Write(RecordKind::kAnchor, best);
  state.writer.Flush();
}

// The log says that something is missing that was asked for.
void WriteRefused(const CuptiApi& api, uint32_t kind, const char* name,
                  ApiStatus status) noexcept {
  const char* const text = api.text(status);
  char words[160];
  snprintf(words, sizeof(words), "%s: %s (%d)", name,
           text == nullptr ? "not in this libcupti" : text,
           static_cast<int>(status));
  RefusedRecord refused = {};
  refused.kind = kind;
  refused.status = static_cast<int32_t>(status);
  const Locked locked;
  refused.header.name = state.writer.TextId(words);
  state.writer.Write(RecordKind::kRefused, refused);
}

// What the user can do about it.
const char* Advice(ApiStatus status) noexcept {
  switch (status) {
    case ApiStatus::kNoPrivileges:
      return "; profiling needs the driver's permission: see "
             "NVreg_RestrictProfilingToAdminUsers, or run as root";
    case ApiStatus::kNotInitialized:
    case ApiStatus::kUnknown:
      return "; is there an NVIDIA driver, as new as this libcupti?";
    default:
      return "";
  }
}

bool Fail(const CuptiApi& api, LogHeader* header, const char* step,
          ApiStatus status) noexcept {
  const char* const text = api.text(status);
  snprintf(header->problem, sizeof(header->problem), "CUPTI: %s: %s (%d)%s",
           step, text == nullptr ? "error" : text, static_cast<int>(status),
           Advice(status));
  header->state.store(LogState::kFailed, std::memory_order_release);
  return false;
}

bool FailBusy(LogHeader* header, const char* other) noexcept {
  snprintf(header->problem, sizeof(header->problem),
           "another client uses CUPTI in this program%s%s, and it takes one at "
           "a time; run without the other profiler",
           *other == '\0' ? "" : ": ", other);
  header->state.store(LogState::kFailed, std::memory_order_release);
  return false;
}

void OpenLog(const CuptiApi& api, const LogSink& sink,
             LogHeader* header) noexcept {
  header->magic = kLogMagic;
  header->version = kLogVersion;
  header->pid = getpid();
  header->cupti_version = api.version;
  const Locked locked;
  state.buffers.SetLimits(state.settings.buffer_bytes,
                          state.settings.max_bytes);
  state.writer.Open(sink);
  state.header = header;
}

void CloseLog() noexcept {
  const Locked locked;
  if (state.writer.texts_lost() != 0) {
    LossRecord loss = {};
    loss.count = state.writer.texts_lost();
    loss.reason = LossReason::kTexts;
    state.writer.Write(RecordKind::kLoss, loss);
  }
  state.writer.Flush();
  state.header = nullptr;
}

}  // namespace

bool StartCapture(const CuptiApi& api, const CaptureSettings& settings,
                  const LogSink& sink, LogHeader* header) noexcept {
  if (state.api.load(std::memory_order_acquire) != nullptr) {
    return FailBusy(header, "Kymo");
  }
  state.settings = settings;
  OpenLog(api, sink, header);
  char other[kSubscriberNameBytes] = {};
  ApiStatus status = api.subscribe(other);
  if (status != ApiStatus::kOk) {
    CloseLog();
    return status == ApiStatus::kOtherSubscriber
               ? FailBusy(header, other)
               : Fail(api, header, "cannot subscribe", status);
  }
  // Without our clock, CUPTI's is paired with it.
  state.clock = api.set_clock(Now) == ApiStatus::kOk ? LogClock::kMonotonic
                                                     : LogClock::kCupti;
  status = api.register_callbacks(Request, Complete);
  if (status == ApiStatus::kOk) {
    state.api.store(&api, std::memory_order_release);
    status =
        state.kinds.Start(api, settings.flags, settings.is_late, WriteRefused);
  }
  if (status != ApiStatus::kOk) {
    state.api.store(nullptr, std::memory_order_release);
    api.unsubscribe();
    CloseLog();
    return Fail(api, header, "cannot record activities", status);
  }
  header->state.store(LogState::kOpen, std::memory_order_release);
  WriteAnchor(api);
  return true;
}

void SetCapturing(bool capturing) noexcept {
  const CuptiApi* const api = state.api.load(std::memory_order_acquire);
  if (api == nullptr) return;
  if (capturing) {
    (void)state.kinds.Enable(*api, /*describes=*/true);
  } else {
    state.kinds.Disable(*api);
  }
}

void FlushCapture(FlushMode mode) noexcept {
  const CuptiApi* const api = state.api.load(std::memory_order_acquire);
  if (api == nullptr) return;
  if (mode == FlushMode::kFinished) state.kinds.Retry(*api);
  WriteAnchor(*api);
  // Calls Complete, so it must not hold the lock.
  (void)api->flush(mode == FlushMode::kEverything);
}

void StopCapture(StopMode mode, void (*settle)() noexcept) noexcept {
  const CuptiApi* const api = state.api.load(std::memory_order_acquire);
  if (api == nullptr) return;
  LogHeader* const header = state.header;
  state.kinds.GiveUp(*api);
  if (mode == StopMode::kDetach && settle != nullptr) {
    state.kinds.DisableCalls(*api);
    settle();
  }
  FlushCapture(FlushMode::kEverything);
  if (mode == StopMode::kDetach) {
    state.kinds.Stop(*api);
    // What the disabling itself has finished.
    FlushCapture(FlushMode::kEverything);
  }
  state.api.store(nullptr, std::memory_order_release);
  if (mode == StopMode::kDetach) api->unsubscribe();
  CloseLog();
  header->state.store(LogState::kClosed, std::memory_order_release);
}

void ForgetCapture() noexcept {
  state.api.store(nullptr, std::memory_order_release);
  state.header = nullptr;
  // Another thread of the parent may have held it.
  state.lock = PTHREAD_MUTEX_INITIALIZER;
}

}  // namespace kymo::cupti
