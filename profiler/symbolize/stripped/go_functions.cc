#include "profiler/symbolize/stripped/go_functions.h"

#include <algorithm>
#include <cstring>

#include "profiler/symbolize/stripped/elf_section.h"

namespace kymo::symbolize {
namespace {

constexpr uint32_t kGo116 = 0xfffffffa;
constexpr uint32_t kGo118 = 0xfffffff0;
constexpr uint32_t kGo120 = 0xfffffff1;

// The table begins with the format, the machine's sizes, and then words.
constexpr uint64_t kWordsAt = 8;
constexpr uint64_t kWordBytes = 8;

// A name that is longer is none.
constexpr size_t kMostNameBytes = size_t{64} << 10;

std::span<const char> FindTable(Elf* elf) {
  // The second one is that of position-independent programs.
  for (const char* const name : {".gopclntab", ".data.rel.ro.gopclntab"}) {
    const auto section = FindElfSection(elf, name);
    if (!section) continue;
    const Elf_Data* const data = elf_rawdata(section->section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    return {static_cast<const char*>(data->d_buf), data->d_size};
  }
  return {};
}

}  // namespace

template <typename T>
bool GoFunctions::Read(uint64_t offset, T* value) const {
  if (table_.size() < sizeof(T) || offset > table_.size() - sizeof(T)) {
    return false;
  }
  std::memcpy(value, table_.data() + offset, sizeof(T));
  return true;
}

GoFunctions::GoFunctions(Elf* elf) : table_(FindTable(elf)) {
  uint32_t format = 0;
  uint8_t word_bytes = 0;
  if (!Read(0, &format) || !Read(7, &word_bytes) || word_bytes != kWordBytes) {
    return;
  }
  has_offsets_ = format == kGo118 || format == kGo120;
  if (!has_offsets_ && format != kGo116) return;
  uint64_t word = 0;
  const auto next = [&](uint64_t* value) {
    return Read(kWordsAt + kWordBytes * word++, value);
  };
  uint64_t count = 0;
  uint64_t unused = 0;  // files, units, programs of lines
  bool is_whole = next(&count) && next(&unused);
  if (has_offsets_) is_whole = is_whole && next(&text_start_);
  is_whole = is_whole && next(&names_) && next(&unused) && next(&unused) &&
             next(&unused) && next(&functions_);
  // In a position-independent program the loader fills it in.
  if (text_start_ == 0) {
    const auto text = FindElfSection(elf, ".text");
    text_start_ = text && has_offsets_ ? text->header.sh_addr : 0;
  }
  const uint64_t entry_bytes = has_offsets_ ? 8 : 16;
  if (is_whole && functions_ < table_.size() &&
      count < (table_.size() - functions_) / entry_bytes) {
    count_ = count;
  }
}

uint64_t GoFunctions::EntryOf(uint64_t index) const {
  if (has_offsets_) {
    uint32_t offset = 0;
    Read(functions_ + index * 8, &offset);
    return text_start_ + offset;
  }
  uint64_t entry = 0;
  Read(functions_ + index * 16, &entry);
  return entry;
}

uint64_t GoFunctions::DescriptionOf(uint64_t index) const {
  if (has_offsets_) {
    uint32_t offset = 0;
    Read(functions_ + index * 8 + 4, &offset);
    return functions_ + offset;
  }
  uint64_t offset = 0;
  Read(functions_ + index * 16 + 8, &offset);
  return functions_ + offset;
}

std::string_view GoFunctions::Find(uint64_t address) const {
  // Behind the last function there is one more entry, where it ends.
  if (count_ == 0 || address < EntryOf(0) || address >= EntryOf(count_)) {
    return {};
  }
  uint64_t first = 0;
  for (uint64_t end = count_; end - first > 1;) {
    const uint64_t middle = first + (end - first) / 2;
    (EntryOf(middle) <= address ? first : end) = middle;
  }
  uint32_t name = 0;
  if (!Read(DescriptionOf(first) + (has_offsets_ ? 4 : 8), &name)) return {};
  const uint64_t begin = names_ + name;
  if (names_ >= table_.size() || begin >= table_.size()) return {};
  const std::string_view rest(
      table_.data() + begin,
      std::min<size_t>(table_.size() - begin, kMostNameBytes));
  const size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view()
                                       : rest.substr(0, end);
}

}  // namespace kymo::symbolize
