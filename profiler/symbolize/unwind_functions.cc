#include "profiler/symbolize/unwind_functions.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

namespace kymo::symbolize {
namespace {

// The DW_EH_PE_* encodings of the header's three encoded parts.
constexpr std::byte kPcRelativeSdata4{0x1b};
constexpr std::byte kUdata4{0x03};
constexpr std::byte kDataRelativeSdata4{0x3b};

// A version, three encodings, the place of .eh_frame, the number of entries.
constexpr size_t kHeaderBytes = 12;
constexpr size_t kEntryBytes = 8;

struct Section {
  std::span<const std::byte> bytes;
  uint64_t address = 0;
};

Section FindSection(Elf* elf, std::string_view wanted) {
  size_t names = 0;
  if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* const name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || wanted != name) continue;
    const Elf_Data* const data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {{static_cast<const std::byte*>(data->d_buf), data->d_size},
            header.sh_addr};
  }
  return {};
}

}  // namespace

UnwindFunctions::UnwindFunctions(Elf* elf) {
  const Section section = FindSection(elf, ".eh_frame_hdr");
  starts_ = Parse(section.bytes, section.address);
}

std::vector<uint64_t> UnwindFunctions::Parse(std::span<const std::byte> section,
                                             uint64_t section_address) {
  std::vector<uint64_t> starts;
  if (section.size() < kHeaderBytes || section[0] != std::byte{1} ||
      section[1] != kPcRelativeSdata4 || section[2] != kUdata4 ||
      section[3] != kDataRelativeSdata4) {
    return starts;
  }
  uint32_t count = 0;
  std::memcpy(&count, section.data() + 8, sizeof(count));
  const size_t entries =
      std::min<size_t>(count, (section.size() - kHeaderBytes) / kEntryBytes);
  starts.reserve(entries);
  for (size_t i = 0; i < entries; ++i) {
    int32_t offset = 0;
    std::memcpy(&offset, section.data() + kHeaderBytes + i * kEntryBytes,
                sizeof(offset));
    starts.push_back(section_address + static_cast<int64_t>(offset));
  }
  if (!std::is_sorted(starts.begin(), starts.end())) starts.clear();
  return starts;
}

std::optional<uint64_t> UnwindFunctions::Start(uint64_t address) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), address);
  if (after == starts_.begin()) return std::nullopt;
  return *std::prev(after);
}

}  // namespace kymo::symbolize
