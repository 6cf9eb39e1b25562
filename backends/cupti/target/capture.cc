#include "backends/cupti/target/capture.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include <atomic>

#include "backends/cupti/target/capture_kinds.h"
#include "backends/cupti/target/capture_log.h"
#include "profiler/base/clock.h"

namespace kymo::cupti {
namespace {

// A global, because CUPTI's callbacks carry no pointer of ours.
struct CaptureState {
  // Null: no capture. Read without a lock by threads that flush.
  std::atomic<const CuptiApi*> api{nullptr};
  LogHeader* header = nullptr;
  LogClock clock = LogClock::kCupti;
  CaptureLog log;
  pthread_mutex_t kinds_lock = PTHREAD_MUTEX_INITIALIZER;
  CaptureKinds kinds;  // kinds_lock
  std::atomic<bool> cuda_is_up{false};
  bool forks_are_seen = false;
};
constinit CaptureState state;

class KindsLocked {
 public:
  KindsLocked() noexcept { pthread_mutex_lock(&state.kinds_lock); }
  ~KindsLocked() { pthread_mutex_unlock(&state.kinds_lock); }
  KindsLocked(const KindsLocked&) = delete;
  KindsLocked& operator=(const KindsLocked&) = delete;
};

uint64_t Now() { return static_cast<uint64_t>(MonotonicNs()); }

void Request(uint8_t** buffer, size_t* size, size_t* max_records) {
  *max_records = 0;  // as many as fit
  state.log.Request(buffer, size);
}

void Complete(void* context, uint32_t stream, uint8_t* buffer, size_t,
              size_t valid_bytes) {
  state.log.Complete(context, stream, buffer, valid_bytes);
}

// Runs on a thread in the middle of cuInit, which may hold locks of CUPTI. So
// it does not wait for a thread that is switching kinds. That thread checks
// `cuda_is_up` when it is done.
void CudaIsUp() {
  state.cuda_is_up.store(true, std::memory_order_seq_cst);
  if (pthread_mutex_trylock(&state.kinds_lock) != 0) return;
  const CuptiApi* const api = state.api.load(std::memory_order_acquire);
  if (api != nullptr) state.kinds.CudaIsUp(*api);
  pthread_mutex_unlock(&state.kinds_lock);
}

// The child has a copy of the state and must not use it: the log and CUPTI's
// state belong to the parent.
void ForgetCapture() {
  state.api.store(nullptr, std::memory_order_release);
  state.log.Forget();
  state.kinds_lock = PTHREAD_MUTEX_INITIALIZER;
}

// Pairs the log's clock with ours, by the closest of a few readings.
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
  state.log.Write(RecordKind::kAnchor, best);
}

// Writes into the log that CUPTI refused something that was requested.
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
  state.log.Write(RecordKind::kRefused, refused, words);
}

// Tells the user what to do about a status.
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

// Runs once per process: a forked child has no capture.
void SeeForks() noexcept {
  if (state.forks_are_seen) return;
  state.forks_are_seen = pthread_atfork(nullptr, nullptr, ForgetCapture) == 0;
}

// Switches on the kinds that the settings request.
ApiStatus StartKinds(const CuptiApi& api,
                     const CaptureSettings& settings) noexcept {
  const ApiStatus status = [&] {
    const KindsLocked locked;
    return state.kinds.Start(api, settings.flags, settings.is_late,
                             WriteRefused);
  }();
  if (status == ApiStatus::kOk &&
      state.cuda_is_up.load(std::memory_order_seq_cst)) {
    const KindsLocked locked;
    state.kinds.CudaIsUp(api);
  }
  return status;
}

// Most work on a device ends within milliseconds. Its buffers then come back
// without force, and with times.
void FlushPatiently(const CuptiApi& api) noexcept {
  constexpr timespec kInstant = {0, 2'000'000};
  for (int i = 0; i < 5 && state.log.buffers_out() > 0; ++i) {
    if (i > 0) nanosleep(&kInstant, nullptr);
    (void)api.flush(false);
  }
}

}  // namespace

bool StartCapture(const CuptiApi& api, const CaptureSettings& settings,
                  const LogSink& sink, LogHeader* header) noexcept {
  if (state.api.load(std::memory_order_acquire) != nullptr) {
    return FailBusy(header, "Kymo");
  }
  SeeForks();
  state.cuda_is_up.store(false, std::memory_order_seq_cst);
  char other[kSubscriberNameBytes] = {};
  ApiStatus status = api.subscribe(other, CudaIsUp);
  if (status != ApiStatus::kOk) {
    return status == ApiStatus::kOtherSubscriber
               ? FailBusy(header, other)
               : Fail(api, header, "cannot subscribe", status);
  }
  state.header = header;
  state.log.Open(api, settings, sink, header);
  // If CUPTI does not take our clock, its own clock is paired with ours.
  state.clock = api.set_clock(Now) == ApiStatus::kOk ? LogClock::kMonotonic
                                                     : LogClock::kCupti;
  status = api.register_callbacks(Request, Complete);
  if (status == ApiStatus::kOk) {
    state.api.store(&api, std::memory_order_release);
    status = StartKinds(api, settings);
  }
  if (status != ApiStatus::kOk) {
    state.api.store(nullptr, std::memory_order_release);
    state.log.Close();
    api.unsubscribe();
    return Fail(api, header, "cannot record activities", status);
  }
  header->state.store(LogState::kOpen, std::memory_order_release);
  WriteAnchor(api);
  return true;
}

ApiStatus ResumeCapture() noexcept {
  const CuptiApi* const api = state.api.load(std::memory_order_acquire);
  if (api == nullptr) return ApiStatus::kOk;
  const KindsLocked locked;
  return state.kinds.Enable(*api, /*describes=*/true);
}

void PauseCapture(void (*settle)() noexcept) noexcept {
  const CuptiApi* const api = state.api.load(std::memory_order_acquire);
  if (api == nullptr) return;
  const KindsLocked locked;
  state.kinds.DisableCalls(*api);
  if (settle != nullptr) settle();
  state.kinds.Disable(*api);
}

void FlushCapture(FlushMode mode) noexcept {
  const CuptiApi* const api = state.api.load(std::memory_order_acquire);
  if (api == nullptr) return;
  WriteAnchor(*api);
  // flush calls Complete, so no lock may be held here.
  (void)api->flush(mode == FlushMode::kEverything);
}

void StopCapture(StopMode mode, void (*settle)() noexcept) noexcept {
  const CuptiApi* const api = state.api.load(std::memory_order_acquire);
  if (api == nullptr) return;
  if (mode == StopMode::kExit) {
    FlushPatiently(*api);
    FlushCapture(FlushMode::kEverything);
    state.header->state.store(LogState::kClosed, std::memory_order_release);
    return;
  }
  PauseCapture(settle);
  FlushCapture(FlushMode::kEverything);
  {
    const KindsLocked locked;
    state.kinds.Stop(*api);
  }
  state.log.Close();
  state.api.store(nullptr, std::memory_order_release);
  api->unsubscribe();
  state.header->state.store(LogState::kClosed, std::memory_order_release);
}

}  // namespace kymo::cupti
