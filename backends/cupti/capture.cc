#include "backends/cupti/capture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <iterator>

#include "backends/cupti/buffer_pool.h"
#include "profiler/base/clock.h"

namespace kymo::cupti {
namespace {

struct WantedKind {
  ActivityKind kind;
  uint32_t flags;  // CaptureFlag bits, any of which asks for it; 0: always
  bool is_needed;  // without it there is no capture
};

// In the order in which they are switched on: what describes comes first.
constexpr WantedKind kWantedKinds[] = {
    {ActivityKind::kDevice, 0, false},
    {ActivityKind::kContext, 0, false},
    {ActivityKind::kStream, 0, false},
    {ActivityKind::kExternal, 0, false},
    {ActivityKind::kOverhead, 0, false},
    {ActivityKind::kSync, kCaptureSync, false},
    {ActivityKind::kEvent, kCaptureSync, false},
    {ActivityKind::kMemory, kCaptureMemory, false},
    {ActivityKind::kPool, kCaptureMemory, false},
    {ActivityKind::kUnified, kCaptureUnified, false},
    {ActivityKind::kGraph, kCaptureGraphs, false},
    {ActivityKind::kDriver, 0, false},
    {ActivityKind::kRuntime, 0, true},
    {ActivityKind::kSet, 0, true},
    {ActivityKind::kPeerCopy, 0, false},
    {ActivityKind::kCopy, 0, true},
    {ActivityKind::kKernel, 0, true},
};

// CUPTI's callbacks carry no pointer of ours, so there is one of all this.
struct CaptureState {
  // Null: no capture. Read without the lock by threads that flush.
  std::atomic<const CuptiApi*> api{nullptr};
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  LogHeader* header = nullptr;  // null: what comes back is not wanted
  CaptureSettings settings;
  LogClock clock = LogClock::kCupti;
  bool enabled[std::size(kWantedKinds)] = {};
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
  if (state.header != nullptr && api != nullptr) {
    if (buffer != nullptr && valid_bytes > 0) {
      api->translate(buffer, valid_bytes, state.writer);
    }
    CountDropped(*api, context, stream);
    state.writer.Flush();
    state.header->records.store(state.writer.records(),
                                std::memory_order_relaxed);
    if (buffer != nullptr) {
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

void DisableKinds(const CuptiApi& api) noexcept {
  for (size_t i = std::size(kWantedKinds); i-- > 0;) {
    if (state.enabled[i]) (void)api.disable(kWantedKinds[i].kind);
    state.enabled[i] = false;
  }
}

// The status of the first needed kind that could not be switched on; then none
// is on.
ApiStatus EnableKinds(const CuptiApi& api) noexcept {
  if (state.settings.flags & kCaptureUnified) (void)api.configure_unified();
  if (state.settings.flags & kCaptureLatency) (void)api.enable_latency(true);
  for (size_t i = 0; i < std::size(kWantedKinds); ++i) {
    const WantedKind& wanted = kWantedKinds[i];
    if (wanted.flags != 0 && (wanted.flags & state.settings.flags) == 0) {
      continue;
    }
    const ApiStatus status = api.enable(wanted.kind);
    state.enabled[i] = status == ApiStatus::kOk;
    if (status != ApiStatus::kOk && wanted.is_needed) {
      DisableKinds(api);
      return status;
    }
  }
  return ApiStatus::kOk;
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
  // Without our clock, CUPTI's is paired with it; without system thread ids,
  // those that it makes up are of no use, but the device's work is.
  state.clock = api.set_clock(Now) == ApiStatus::kOk ? LogClock::kMonotonic
                                                     : LogClock::kCupti;
  (void)api.use_system_threads();
  status = api.register_callbacks(Request, Complete);
  if (status == ApiStatus::kOk) {
    state.api.store(&api, std::memory_order_release);
    status = EnableKinds(api);
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
    (void)EnableKinds(*api);
  } else {
    DisableKinds(*api);
  }
}

void FlushCapture(FlushMode mode) noexcept {
  const CuptiApi* const api = state.api.load(std::memory_order_acquire);
  if (api == nullptr) return;
  WriteAnchor(*api);
  // Calls Complete, so it must not hold the lock.
  (void)api->flush(mode == FlushMode::kEverything);
}

void StopCapture(StopMode mode) noexcept {
  const CuptiApi* const api = state.api.load(std::memory_order_acquire);
  if (api == nullptr) return;
  LogHeader* const header = state.header;
  FlushCapture(FlushMode::kEverything);
  if (mode == StopMode::kDetach) {
    DisableKinds(*api);
    // What the disabling itself has finished.
    FlushCapture(FlushMode::kEverything);
  }
  state.api.store(nullptr, std::memory_order_release);
  if (mode == StopMode::kDetach) api->unsubscribe();
  CloseLog();
  header->state.store(LogState::kClosed, std::memory_order_release);
}

}  // namespace kymo::cupti
