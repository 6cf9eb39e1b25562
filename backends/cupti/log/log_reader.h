// log_reader.h - reads the records of a log one by one, and trusts nothing.
//
//   LogReader reader(bytes);
//   while (reader.Next()) {
//     if (reader.kind() == RecordKind::kKernel) {
//       const KernelRecord kernel = reader.Get<KernelRecord>();
//     }
//   }
//   reader.corrupt();                       // how many could not be read
//
// Threads: none.
#ifndef KYMO_BACKENDS_CUPTI_LOG_LOG_READER_H_
#define KYMO_BACKENDS_CUPTI_LOG_LOG_READER_H_

#include <string.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "backends/cupti/log/gpu_record.h"

namespace kymo::cupti {

class LogReader {
 public:
  // `bytes` must outlive the reader. They need no alignment.
  explicit LogReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  // Goes to the next record; false at the end. A log that was cut in the middle
  // of a record ends before that record. If a header makes no sense, nothing
  // behind it can be found: that counts as one corrupt record, and the log
  // ends.
  bool Next() {
    rest_ = rest_.subspan(size_);
    size_ = 0;
    if (rest_.size() < sizeof(RecordHeader)) return false;
    memcpy(&header_, rest_.data(), sizeof(header_));
    const size_t size = size_t{header_.words} * 8;
    if (size == 0 || header_.kind == RecordKind{0} ||
        header_.kind >= RecordKind::kEnd) {
      ++corrupt_;
      rest_ = {};
      return false;
    }
    if (size > rest_.size()) return false;
    size_ = size;
    return true;
  }

  RecordKind kind() const { return header_.kind; }
  uint32_t name() const { return header_.name; }

  // The record as an R. If it is shorter than R, the missing fields are 0.
  template <typename R>
  R Get() const {
    static_assert(kIsRecord<R>);
    if (size_ >= sizeof(R)) [[likely]] {
      R record;
      memcpy(&record, rest_.data(), sizeof(R));
      return record;
    }
    R record = {};
    memcpy(&record, rest_.data(), size_);
    return record;
  }

  // The text of a kText record; valid as long as the bytes.
  std::string_view text() const {
    if (size_ < sizeof(TextRecord)) return {};
    const size_t room = size_ - sizeof(TextRecord);
    const char* const begin =
        reinterpret_cast<const char*>(rest_.data()) + sizeof(TextRecord);
    return {begin, static_cast<size_t>(
                       std::min<uint64_t>(Get<TextRecord>().size_bytes, room))};
  }

  uint64_t corrupt() const { return corrupt_; }

 private:
  std::span<const std::byte> rest_;  // from the current record on
  size_t size_ = 0;                  // of the current record
  RecordHeader header_ = {};
  uint64_t corrupt_ = 0;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_LOG_LOG_READER_H_
