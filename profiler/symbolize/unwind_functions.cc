#include "profiler/symbolize/unwind_functions.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string_view>

#include "profiler/symbolize/stripped/elf_section.h"

namespace kymo::symbolize {
namespace {

// The DW_EH_PE_* encodings of the header's three encoded parts.
constexpr std::byte kPcRelativeSdata4{0x1b};
constexpr std::byte kUdata4{0x03};
constexpr std::byte kDataRelativeSdata4{0x3b};

// A version, three encodings, the place of .eh_frame, the number of entries.
constexpr size_t kHeaderBytes = 12;
constexpr size_t kEntryBytes = 8;

// Of a function's entry in .eh_frame: its size, which entry it belongs to,
// where the function begins, how many bytes it has.
constexpr size_t kBeginOffset = 8;
constexpr size_t kFrameBytes = 16;

template <typename Number>
Number NumberAt(std::span<const std::byte> bytes, size_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

}  // namespace

UnwindFunctions::Section UnwindFunctions::FindSection(Elf* elf,
                                                      std::string_view wanted) {
  const auto section = FindElfSection(elf, wanted);
  if (!section || section->header.sh_type == SHT_NOBITS) return {};
  return {section->header.sh_offset, section->header.sh_size,
          section->header.sh_addr};
}

UnwindFunctions::UnwindFunctions(const ElfImage& image)
    : image_(image),
      header_(FindSection(image.elf, ".eh_frame_hdr")),
      frames_(FindSection(image.elf, ".eh_frame")) {
  starts_ = Parse(image_.ReadAll(header_.offset, header_.size_bytes),
                  header_.address);
}

std::vector<uint64_t> UnwindFunctions::Parse(std::span<const std::byte> section,
                                             uint64_t section_address) {
  std::vector<uint64_t> starts;
  if (section.size() < kHeaderBytes || section[0] != std::byte{1} ||
      section[1] != kPcRelativeSdata4 || section[2] != kUdata4 ||
      section[3] != kDataRelativeSdata4) {
    return starts;
  }
  const auto count = NumberAt<uint32_t>(section, 8);
  const size_t entries =
      std::min<size_t>(count, (section.size() - kHeaderBytes) / kEntryBytes);
  starts.reserve(entries);
  for (size_t i = 0; i < entries; ++i) {
    const auto offset =
        NumberAt<int32_t>(section, kHeaderBytes + i * kEntryBytes);
    starts.push_back(section_address + static_cast<int64_t>(offset));
  }
  if (!std::is_sorted(starts.begin(), starts.end())) starts.clear();
  return starts;
}

uint64_t UnwindFunctions::EndOf(size_t index) const {
  std::array<std::byte, sizeof(int32_t)> place;
  if (!image_.Read(
          header_.offset + kHeaderBytes + index * kEntryBytes + sizeof(int32_t),
          place)) {
    return 0;
  }
  const uint64_t frame =
      header_.address + static_cast<int64_t>(NumberAt<int32_t>(place, 0));
  const uint64_t offset = frame - frames_.address;
  std::array<std::byte, kFrameBytes> bytes;
  if (frames_.size_bytes < kFrameBytes ||
      offset > frames_.size_bytes - kFrameBytes ||
      !image_.Read(frames_.offset + offset, bytes)) {
    return 0;
  }
  const auto to_begin = NumberAt<int32_t>(bytes, kBeginOffset);
  const uint64_t begin = frame + kBeginOffset + static_cast<int64_t>(to_begin);
  if (begin != starts_[index]) return 0;  // another encoding
  return begin + NumberAt<uint32_t>(bytes, kBeginOffset + sizeof(to_begin));
}

std::optional<UnwindFunctions::Piece> UnwindFunctions::Find(
    uint64_t address) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), address);
  if (after == starts_.begin()) return std::nullopt;
  const auto at = std::prev(after);
  const uint64_t end = EndOf(static_cast<size_t>(at - starts_.begin()));
  if (end == 0 || address < end) return Piece{*at, end};
  return Piece{end, after == starts_.end() ? 0 : *after, false};
}

}  // namespace kymo::symbolize
