// log_writer.h - writes the records of gpu_record.h, in the program.
//
//   LogWriter writer;                     // static: it is large
//   writer.Open({.append = WriteToFile, .to = &file});
//   CallRecord call = {...};
//   call.header.name = writer.TextId("cudaLaunchKernel");
//   writer.Write(RecordKind::kCall, call);
//   writer.Flush();
//
// Each text is written once, before the first record that names it. The writer
// remembers which id a pointer had last; one comparison of texts tells whether
// that id is still right.
//
// Threads: none of its own; the caller locks.
// Errors: a text that finds no room gets id 0 and is counted (texts_lost). The
//   sink counts what it cannot write.
// Standard library: nothing that needs linking, for the injected library.
#ifndef KYMO_BACKENDS_CUPTI_LOG_LOG_WRITER_H_
#define KYMO_BACKENDS_CUPTI_LOG_LOG_WRITER_H_

#include <string.h>

#include <cstddef>
#include <cstdint>

#include "backends/cupti/log/gpu_record.h"

namespace kymo::cupti {

// Takes finished records: whole records, in order.
struct LogSink {
  void (*append)(void* to, const void* data, size_t size) noexcept = nullptr;
  void* to = nullptr;
};

class LogWriter {
 public:
  constexpr LogWriter() noexcept = default;
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Begins a new log, which has no texts yet.
  void Open(const LogSink& sink) noexcept;

  // Writes a record; fills in its header except for the name.
  template <typename R>
  void Write(RecordKind kind, R& record) noexcept {
    static_assert(kIsRecord<R>);
    record.header.kind = kind;
    WriteBytes(&record.header, sizeof(R));
  }
  // A record of another length. REQUIRES: whole words, at most 4 KiB.
  void WriteBytes(RecordHeader* record, size_t size) noexcept {
    record->words = static_cast<uint16_t>(size / 8);
    if (used_ + size > kBufferBytes) Flush();
    memcpy(buffer_ + used_, record, size);
    used_ += size;
    ++records_;
  }

  // Null and the empty text have id 0.
  uint32_t TextId(const char* text) noexcept {
    if (text == nullptr || *text == '\0') return 0;
    const Known& known = by_pointer_[PointerIndex(text)];
    if (known.pointer == text && strncmp(known.copy, text, kMaxTextBytes) == 0)
        [[likely]] {
      return known.id;
    }
    return TextIdSlow(text);
  }

  // Hands everything to the sink.
  void Flush() noexcept;

  uint64_t records() const noexcept { return records_; }
  uint64_t texts_lost() const noexcept { return texts_lost_; }

 private:
  static constexpr size_t kBufferBytes = 32 * 1024;
  static constexpr uint32_t kMaxTexts = 1u << 16;
  static constexpr int kPointerBits = 12;
  static_assert(kBufferBytes >= kMaxTextBytes + sizeof(TextRecord) + 8);

  // A text that was written; `copy` is NUL-terminated.
  struct Text {
    const char* copy;
    uint64_t hash;
  };
  struct Known {
    const char* pointer;
    const char* copy;
    uint32_t id;
  };

  static size_t PointerIndex(const char* text) noexcept {
    return reinterpret_cast<uint64_t>(text) * 0x9e3779b97f4a7c15u >>
           (64 - kPointerBits);
  }
  uint32_t TextIdSlow(const char* text) noexcept;
  // The text's place in `texts_`, or a free place for it.
  uint32_t Find(const char* text, uint64_t hash) const noexcept;
  // Keeps a copy, NUL-terminated; null if memory is short.
  const char* Keep(const char* text, size_t size) noexcept;
  void WriteText(uint32_t id, const char* text, size_t size) noexcept;

  LogSink sink_;
  size_t used_ = 0;
  uint64_t records_ = 0;
  uint64_t texts_lost_ = 0;
  Text* texts_ = nullptr;    // open addressing, 2 * kMaxTexts slots
  uint32_t* ids_ = nullptr;  // by slot; 0 = free
  uint32_t text_count_ = 0;
  // One bit per id: this log has the text. The table of texts outlives a log.
  uint64_t written_[kMaxTexts / 64 + 1] = {};
  char* slab_ = nullptr;  // memory for texts; free from here to slab_end_
  char* slab_end_ = nullptr;
  Known by_pointer_[size_t{1} << kPointerBits] = {};
  alignas(8) unsigned char buffer_[kBufferBytes] = {};
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_LOG_LOG_WRITER_H_
