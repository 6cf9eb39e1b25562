#include "backends/cupti/target/test_cupti_api.h"

#include <string.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "backends/cupti/log/log_writer.h"
#include "profiler/base/clock.h"

namespace kymo::cupti {
namespace {

FakeCupti* fake = nullptr;

}  // namespace

// The header of each record in a buffer.
struct FakeCupti::Entry {
  uint64_t size;
  const char* name;
};

FakeCupti::FakeCupti() {
  if (fake != nullptr) abort();
  fake = this;
  api_ = {
      .version = 999'001,
      .subscribe =
          [](char* other, void (*cuda_is_up)()) noexcept {
            fake->cuda_is_up_ = cuda_is_up;
            strncpy(other, fake->other_subscriber.c_str(),
                    kSubscriberNameBytes - 1);
            fake->is_subscribed = fake->subscribe_status == ApiStatus::kOk;
            return fake->subscribe_status;
          },
      .unsubscribe = []() noexcept { fake->is_subscribed = false; },
      .register_callbacks =
          [](RequestBuffer request, CompleteBuffer complete) noexcept {
            const std::lock_guard<std::mutex> locked(fake->lock_);
            fake->request_ = request;
            fake->complete_ = complete;
            return fake->register_status;
          },
      .enable =
          [](ActivityKind kind) noexcept {
            const std::lock_guard<std::mutex> locked(fake->lock_);
            const auto it = fake->enable_status.find(kind);
            const ApiStatus status =
                it == fake->enable_status.end() ? ApiStatus::kOk : it->second;
            if (status == ApiStatus::kOk) fake->enabled.insert(kind);
            return status;
          },
      .enable_and_describe =
          [](ActivityKind kind) noexcept {
            fake->described.insert(kind);
            return fake->api_.enable(kind);
          },
      .disable =
          [](ActivityKind kind) noexcept {
            const std::lock_guard<std::mutex> locked(fake->lock_);
            fake->enabled.erase(kind);
            return ApiStatus::kOk;
          },
      .configure =
          [](ApiSetting setting, bool on) noexcept {
            if (!on) {
              fake->configured.erase(setting);
              return ApiStatus::kOk;
            }
            const auto it = fake->setting_status.find(setting);
            const ApiStatus status =
                it == fake->setting_status.end() ? ApiStatus::kOk : it->second;
            if (status == ApiStatus::kOk) fake->configured.insert(setting);
            return status;
          },
      .flush =
          [](bool forced) noexcept {
            ++(forced ? fake->forced_flushes : fake->flushes);
            if (forced || !fake->is_busy) fake->FillBuffer();
            return ApiStatus::kOk;
          },
      .set_clock =
          [](uint64_t (*)()) noexcept {
            return fake->takes_our_clock ? ApiStatus::kOk : ApiStatus::kMissing;
          },
      .timestamp =
          [](uint64_t* ns) noexcept {
            *ns = static_cast<uint64_t>(MonotonicNs() + fake->clock_offset_ns);
            return ApiStatus::kOk;
          },
      .dropped =
          [](void*, uint32_t, size_t* count) noexcept {
            *count = std::exchange(fake->next_dropped, 0);
            return ApiStatus::kOk;
          },
      .translate =
          [](uint8_t* buffer, size_t valid_bytes, LogWriter& writer) noexcept {
            for (size_t at = 0; at < valid_bytes;) {
              Entry entry;
              memcpy(&entry, buffer + at, sizeof(entry));
              alignas(8) unsigned char bytes[512];
              memcpy(bytes, buffer + at + sizeof(entry), entry.size);
              auto* const header = reinterpret_cast<RecordHeader*>(bytes);
              header->name = writer.TextId(entry.name);
              writer.WriteBytes(header, entry.size);
              at += sizeof(entry) + entry.size;
            }
          },
      .text = [](ApiStatus) noexcept { return "an error of the script"; },
  };
}

FakeCupti::~FakeCupti() { fake = nullptr; }

void FakeCupti::EmitBytes(const RecordHeader* record, size_t size,
                          const char* name) {
  std::unique_lock<std::mutex> lock(lock_);
  if (enabled.empty()) return;
  const Entry entry = {size, name};
  if (buffer_ != nullptr && used_ + sizeof(entry) + size > size_) {
    HandBack(lock);
  }
  if (buffer_ == nullptr) {
    size_t max_records = 0;
    request_(&buffer_, &size_, &max_records);
    used_ = 0;
  }
  if (buffer_ == nullptr) {
    ++lost;
    return;
  }
  memcpy(buffer_ + used_, &entry, sizeof(entry));
  memcpy(buffer_ + used_ + sizeof(entry), record, size);
  used_ += sizeof(entry) + size;
}

void FakeCupti::HandBack(std::unique_lock<std::mutex>& lock) {
  uint8_t* const buffer = std::exchange(buffer_, nullptr);
  if (buffer == nullptr) return;
  const size_t size = size_;
  const size_t used = used_;
  lock.unlock();
  complete_(nullptr, 0, buffer, size, used);
  lock.lock();
}

void FakeCupti::FillBuffer() {
  std::unique_lock<std::mutex> lock(lock_);
  HandBack(lock);
}

}  // namespace kymo::cupti
