#include "backends/cupti/log/log_writer.h"

#include <sys/mman.h>

namespace kymo::cupti {
namespace {

constexpr size_t kSlabBytes = size_t{1} << 20;

void* Map(size_t bytes) noexcept {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// FNV-1a.
uint64_t HashOf(const char* text, size_t* size) noexcept {
  uint64_t hash = 0xcbf29ce484222325u;
  const char* at = text;
  for (; *at != '\0' && at - text < kMaxTextBytes; ++at) {
    hash = (hash ^ static_cast<unsigned char>(*at)) * 0x100000001b3u;
  }
  *size = static_cast<size_t>(at - text);
  return hash;
}

}  // namespace

void LogWriter::Open(const LogSink& sink) noexcept {
  sink_ = sink;
  used_ = 0;
  records_ = 0;
  texts_lost_ = 0;
  if (texts_ == nullptr) {
    texts_ = static_cast<Text*>(Map(2 * kMaxTexts * sizeof(*texts_)));
    ids_ = static_cast<uint32_t*>(Map(2 * kMaxTexts * sizeof(*ids_)));
  }
  memset(written_, 0, sizeof(written_));
  memset(static_cast<void*>(by_pointer_), 0, sizeof(by_pointer_));
}

uint32_t LogWriter::Find(const char* text, uint64_t hash) const noexcept {
  uint32_t place = hash % (2 * kMaxTexts);
  while (ids_[place] != 0 &&
         (texts_[place].hash != hash ||
          strncmp(texts_[place].copy, text, kMaxTextBytes) != 0)) {
    place = (place + 1) % (2 * kMaxTexts);
  }
  return place;
}

const char* LogWriter::Keep(const char* text, size_t size) noexcept {
  if (static_cast<size_t>(slab_end_ - slab_) < size + 1) {
    slab_ = static_cast<char*>(Map(kSlabBytes));
    slab_end_ = slab_ == nullptr ? nullptr : slab_ + kSlabBytes;
    if (slab_ == nullptr) return nullptr;
  }
  char* const copy = slab_;
  memcpy(copy, text, size);
  copy[size] = '\0';
  slab_ += size + 1;
  return copy;
}

void LogWriter::WriteText(uint32_t id, const char* text, size_t size) noexcept {
  TextRecord record = {};
  record.size_bytes = size;
  const size_t padded = (size + 7) / 8 * 8;
  record.header = {RecordKind::kText,
                   static_cast<uint16_t>((sizeof(record) + padded) / 8), id};
  if (used_ + sizeof(record) + padded > kBufferBytes) Flush();
  memcpy(buffer_ + used_, &record, sizeof(record));
  memset(buffer_ + used_ + sizeof(record), 0, padded);
  memcpy(buffer_ + used_ + sizeof(record), text, size);
  used_ += sizeof(record) + padded;
}

uint32_t LogWriter::TextIdSlow(const char* text) noexcept {
  size_t size = 0;
  const uint64_t hash = HashOf(text, &size);
  if (texts_ == nullptr || ids_ == nullptr) {
    ++texts_lost_;
    return 0;
  }
  const uint32_t place = Find(text, hash);
  if (ids_[place] == 0) {
    const char* const copy =
        text_count_ < kMaxTexts ? Keep(text, size) : nullptr;
    if (copy == nullptr) {
      ++texts_lost_;
      return 0;
    }
    texts_[place] = {copy, hash};
    ids_[place] = ++text_count_;
  }
  const uint32_t id = ids_[place];
  const uint64_t bit = uint64_t{1} << id % 64;
  if ((written_[id / 64] & bit) == 0) {
    written_[id / 64] |= bit;
    WriteText(id, texts_[place].copy, size);
  }
  by_pointer_[PointerIndex(text)] = {text, texts_[place].copy, id};
  return id;
}

void LogWriter::Flush() noexcept {
  if (used_ == 0) return;
  sink_.append(sink_.to, buffer_, used_);
  used_ = 0;
}

}  // namespace kymo::cupti
