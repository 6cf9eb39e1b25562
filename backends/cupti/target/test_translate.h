// test_translate.h - a fixture for tests of the translation.
//
//   auto call = Zero<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
//   Put(call);
//   Translate();
//   Get<CallRecord>(RecordKind::kCall)
//
// Uses the toolkit's header, and a library of its own. That library steps from
// record to record as CUPTI does: by lengths that depend on the version.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_TEST_TRANSLATE_H_
#define KYMO_BACKENDS_CUPTI_TARGET_TEST_TRANSLATE_H_

#include <cuda.h>
#include <cupti.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/cupti/log/log_reader.h"
#include "backends/cupti/log/test_log.h"
#include "backends/cupti/target/translate.h"

namespace kymo::cupti {

// The lengths of records in this buffer, by offset.
inline std::map<size_t, size_t> lengths;

// From this offset on, the library can read nothing.
inline size_t broken_at = SIZE_MAX;

inline int NextRecord(uint8_t* buffer, size_t valid_bytes, void** record) {
  size_t at = 0;
  if (*record != nullptr) {
    at = static_cast<size_t>(static_cast<uint8_t*>(*record) - buffer);
    at += lengths.at(at);
  }
  if (at >= valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  if (at >= broken_at) return CUPTI_ERROR_INVALID_KIND;
  *record = buffer + at;
  return 0;
}

inline int CallbackName(int domain, uint32_t cbid, const char** name) {
  *name = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "cudaLaunchKernel_v7000"
                                                : "cuLaunchKernel";
  return cbid == 9999 ? 1 : 0;
}

inline constexpr RecordFunctions kFunctions = {.next_record = NextRecord,
                                               .callback_name = CallbackName};

class TranslateTest : public ::testing::Test {
 protected:
  TranslateTest() {
    lengths.clear();
    broken_at = SIZE_MAX;
    writer_->Open(AppendTo(log_));
  }

  // Adds the first `size` bytes of a record, as an older library does.
  template <typename T>
  void Put(const T& record, size_t size = sizeof(T)) {
    lengths[buffer_.size()] = size;
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&record);
    buffer_.insert(buffer_.end(), bytes, bytes + size);
  }

  void Translate() {
    TranslateBuffer(kFunctions, buffer_.data(), buffer_.size(), *writer_);
    writer_->Flush();
  }

  // The only record of a kind.
  template <typename R>
  R Get(RecordKind kind) {
    R record = {};
    int found = 0;
    for (LogReader reader(log_); reader.Next();) {
      if (reader.kind() != kind) continue;
      record = reader.Get<R>();
      ++found;
    }
    EXPECT_EQ(found, 1);
    return record;
  }

  // The texts, by id.
  std::map<uint32_t, std::string> Texts() const {
    std::map<uint32_t, std::string> texts;
    for (LogReader reader(log_); reader.Next();) {
      if (reader.kind() != RecordKind::kText) continue;
      texts[reader.name()] = reader.text();
    }
    return texts;
  }

  std::vector<uint8_t> buffer_;
  std::vector<std::byte> log_;
  std::unique_ptr<LogWriter> writer_ = std::make_unique<LogWriter>();
};

template <typename T>
T Zero(CUpti_ActivityKind kind) {
  T record;
  memset(static_cast<void*>(&record), 0, sizeof(record));
  record.kind = kind;
  return record;
}

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_TEST_TRANSLATE_H_
