// test_cupti_api.h - a CUPTI that follows a script and needs no driver.
//
//   FakeCupti fake;                         // one at a time
//   StartCapture(fake.api(), ...);
//   KernelRecord kernel = {...};
//   fake.Emit(RecordKind::kKernel, kernel, "sgemm");
//   fake.FillBuffer();                      // returns the buffer, full
//
// Buffers come from the client that registered. They hold Kymo's own records,
// wrapped so that their sizes are odd. They are returned when they are full, or
// on request. While no kind is enabled, nothing is recorded.
//
// Threads: Emit may be called from several threads, as in CUPTI.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_TEST_CUPTI_API_H_
#define KYMO_BACKENDS_CUPTI_TARGET_TEST_CUPTI_API_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "backends/cupti/log/gpu_record.h"
#include "backends/cupti/target/cupti_api.h"

namespace kymo::cupti {

class FakeCupti {
 public:
  FakeCupti();
  ~FakeCupti();
  FakeCupti(const FakeCupti&) = delete;
  FakeCupti& operator=(const FakeCupti&) = delete;

  const CuptiApi& api() const { return api_; }

  // --- the script ---

  void SetVersion(uint32_t version) { api_.version = version; }
  ApiStatus subscribe_status = ApiStatus::kOk;
  std::string other_subscriber;
  ApiStatus register_status = ApiStatus::kOk;
  std::map<ActivityKind, ApiStatus> enable_status;  // others: kOk
  std::map<ApiSetting, ApiStatus> setting_status;   // others: kOk
  bool takes_our_clock = true;
  // Its own clock is CLOCK_MONOTONIC plus this.
  int64_t clock_offset_ns = 1'000'000'000'000;
  size_t next_dropped = 0;  // reported once
  // The device is working: only a forced flush returns anything.
  std::atomic<bool> is_busy = false;

  // A device did something. `name` must stay alive. If `size` is not 0, only
  // the first `size` bytes are written, as by an older CUPTI.
  template <typename R>
  void Emit(RecordKind kind, R record, const char* name = nullptr,
            size_t size = 0) {
    record.header.kind = kind;
    EmitBytes(&record.header, size == 0 ? sizeof(R) : size, name);
  }
  // Returns the current buffer, as CUPTI's own thread does.
  void FillBuffer();
  // Returns a buffer that it did not get from the client that registered last.
  void HandBackForeign(uint8_t* buffer, size_t size) {
    complete_(nullptr, 0, buffer, size, size);
  }
  // A thread of the program has called cuInit.
  void InitializeCuda() { cuda_is_up_(); }

  // --- what happened ---

  std::set<ActivityKind> enabled;
  std::set<ActivityKind> described;
  std::set<ApiSetting> configured;
  bool is_subscribed = false;
  std::atomic<int> flushes = 0;
  std::atomic<int> forced_flushes = 0;
  uint64_t lost = 0;  // records for which there was no buffer

 private:
  struct Entry;

  void EmitBytes(const RecordHeader* record, size_t size, const char* name);
  void HandBack(std::unique_lock<std::mutex>& lock);

  CuptiApi api_;
  RequestBuffer request_ = nullptr;
  CompleteBuffer complete_ = nullptr;
  void (*cuda_is_up_)() = nullptr;
  std::mutex lock_;
  uint8_t* buffer_ = nullptr;
  size_t size_ = 0;
  size_t used_ = 0;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_TEST_CUPTI_API_H_
