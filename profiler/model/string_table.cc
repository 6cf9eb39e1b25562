#include "profiler/model/string_table.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace kymo::model {
namespace {

constexpr size_t kBlockBytes = 64 * 1024;

uint64_t Hash(std::string_view text) {
  return std::hash<std::string_view>{}(text);
}

}  // namespace

StringTable::StringTable() : slots_(64, 0) { Intern(std::string_view()); }

size_t StringTable::Probe(std::string_view text, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const uint32_t id = slots_[slot] - 1;
    if (hashes_[id] == hash && texts_[id] == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

NameId StringTable::Intern(std::string_view text) {
  const uint64_t hash = Hash(text);
  size_t slot = Probe(text, hash);
  if (slots_[slot] != 0) return NameId{slots_[slot] - 1};
  if ((texts_.size() + 1) * 2 > slots_.size()) {
    Grow();
    slot = Probe(text, hash);
  }
  texts_.push_back(Store(text));
  hashes_.push_back(hash);
  slots_[slot] = static_cast<uint32_t>(texts_.size());
  return NameId{static_cast<uint32_t>(texts_.size() - 1)};
}

std::optional<NameId> StringTable::Find(std::string_view text) const {
  const size_t slot = Probe(text, Hash(text));
  if (slots_[slot] == 0) return std::nullopt;
  return NameId{slots_[slot] - 1};
}

void StringTable::Grow() {
  std::vector<uint32_t> old(slots_.size() * 2, 0);
  slots_.swap(old);
  const size_t mask = slots_.size() - 1;
  for (uint32_t id = 0; id < texts_.size(); ++id) {
    size_t slot = hashes_[id] & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = id + 1;
  }
}

std::string_view StringTable::Store(std::string_view text) {
  if (text.empty()) return std::string_view();
  if (text.size() > block_left_) {
    const size_t bytes = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique<char[]>(bytes));
    block_bytes_ += bytes;
    block_next_ = blocks_.back().get();
    block_left_ = bytes;
  }
  char* const to = block_next_;
  std::memcpy(to, text.data(), text.size());
  block_next_ += text.size();
  block_left_ -= text.size();
  return std::string_view(to, text.size());
}

size_t StringTable::memory_bytes() const noexcept {
  return block_bytes_ + texts_.capacity() * sizeof(texts_[0]) +
         hashes_.capacity() * sizeof(hashes_[0]) +
         slots_.capacity() * sizeof(slots_[0]);
}

}  // namespace kymo::model
