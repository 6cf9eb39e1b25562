#include "profiler/record/arena/name_table.h"

#include <string.h>

#include <algorithm>

namespace kymo::record {
namespace {

constexpr std::string_view kLostName = "(name lost)";
// If more places in a row are taken, the index counts as full.
constexpr uint32_t kMaxProbes = 1024;

// A text at byte offset 8 * id of the region. Its size is written last (with
// release); 0 = not there yet.
struct NameEntry {
  std::atomic<uint32_t> size_plus_1;
  char bytes[4];
};

constexpr uint64_t RoundUp8(uint64_t bytes) noexcept {
  return (bytes + 7) / 8 * 8;
}

uint64_t HashText(std::string_view text) noexcept {
  // FNV-1a over 8-byte words; the tail is padded with zeros.
  uint64_t hash = 0xcbf29ce484222325u ^ text.size();
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    memcpy(&word, text.data() + i, 8);
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 32;
  }
  uint64_t word = 0;
  memcpy(&word, text.data() + i, text.size() - i);
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

}  // namespace

void NameTable::FormatNames() const noexcept {
  header_->name_text_used.store(sizeof(NameEntry), std::memory_order_relaxed);
}

uint32_t NameTable::StoreText(std::string_view text) const noexcept {
  const uint64_t bytes = RoundUp8(sizeof(uint32_t) + text.size());
  uint64_t at = header_->name_text_used.load(std::memory_order_relaxed);
  do {
    // Another process may have written anything here.
    if (at % 8 != 0 || at > text_bytes_ || bytes > text_bytes_ - at) {
      return kNameLost;
    }
  } while (!header_->name_text_used.compare_exchange_weak(
      at, at + bytes, std::memory_order_relaxed));
  NameEntry* const entry = reinterpret_cast<NameEntry*>(texts_ + at);
  memcpy(entry->bytes, text.data(), text.size());
  entry->size_plus_1.store(static_cast<uint32_t>(text.size() + 1),
                           std::memory_order_release);
  return static_cast<uint32_t>(at / 8);
}

uint32_t NameTable::InternName(std::string_view text) const noexcept {
  if (text.data() == nullptr) text = "";  // memcpy takes no null pointer
  if (text.size() > kMaxNameBytes) {
    text = text.substr(0, kMaxNameBytes);
    header_->texts_truncated.fetch_add(1, std::memory_order_relaxed);
  }
  const uint32_t mask = index_capacity_ - 1;
  uint32_t stored = kNameLost;
  uint32_t at = static_cast<uint32_t>(HashText(text)) & mask;
  for (uint32_t probe = 0; probe < kMaxProbes; ++probe, at = (at + 1) & mask) {
    // acquire: the text behind a published id is complete.
    uint32_t id = index_[at].load(std::memory_order_acquire);
    if (id == 0) {
      if (stored == kNameLost) stored = StoreText(text);
      if (stored == kNameLost) break;
      if (index_[at].compare_exchange_strong(id, stored,
                                             std::memory_order_release,
                                             std::memory_order_acquire)) {
        return stored;
      }
    }
    // `stored`'s bytes leak when another thread published the text first.
    if (NameText(id) == text) return id;
  }
  header_->names_lost.fetch_add(1, std::memory_order_relaxed);
  return kNameLost;
}

std::string_view NameTable::NameText(uint32_t id) const noexcept {
  const uint64_t at = uint64_t{id} * 8;
  if (id == kNameLost || at + sizeof(NameEntry) > text_bytes_) {
    return kLostName;
  }
  const NameEntry* const entry =
      reinterpret_cast<const NameEntry*>(texts_ + at);
  const uint32_t size_plus_1 =
      entry->size_plus_1.load(std::memory_order_acquire);
  if (size_plus_1 == 0 || size_plus_1 - 1 > kMaxNameBytes ||
      at + sizeof(uint32_t) + (size_plus_1 - 1) > text_bytes_) {
    return kLostName;
  }
  return std::string_view(entry->bytes, size_plus_1 - 1);
}

std::span<const std::byte> NameTable::name_texts() const noexcept {
  return {texts_,
          std::min(header_->name_text_used.load(std::memory_order_relaxed),
                   text_bytes_)};
}

}  // namespace kymo::record
