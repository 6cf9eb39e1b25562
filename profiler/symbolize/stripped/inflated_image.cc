#include "profiler/symbolize/stripped/inflated_image.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/symbolize/stripped/debug_section.h"
#include "profiler/symbolize/stripped/elf_section.h"
#include "profiler/symbolize/stripped/listed_units.h"
#include "profiler/symbolize/stripped/wanted_units.h"

namespace kymo::symbolize {
namespace {

constexpr size_t kAlignment = 4096;

size_t AlignedUp(size_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

// By parts, so that pages are still in the cache when they are written. One
// request for many pages takes less than a fault for each.
bool Fill(DebugSectionReader& reader, std::span<std::byte> into) {
  constexpr size_t kPartBytes = size_t{256} << 10;
  while (!into.empty()) {
    const auto part = into.first(std::min(into.size(), kPartBytes));
    const auto begin = reinterpret_cast<uintptr_t>(part.data());
    const size_t before = begin % kAlignment;
    // Kernels before 5.14 do not know it.
    madvise(part.data() - before, part.size() + before, MADV_POPULATE_WRITE);
    if (!reader.Read(part)) return false;
    into = into.subspan(part.size());
  }
  return true;
}

// The last line table that a unit of `elf` refers to.
std::optional<uint64_t> LastLineTable(Elf* elf) {
  Dwarf* const dwarf = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
  std::optional<uint64_t> last;
  Dwarf_CU* cu = nullptr;
  Dwarf_Die unit;
  while (dwarf != nullptr && dwarf_get_units(dwarf, cu, &cu, nullptr, nullptr,
                                             &unit, nullptr) == 0) {
    Dwarf_Attribute attribute;
    Dwarf_Word offset = 0;
    if (dwarf_attr(&unit, DW_AT_stmt_list, &attribute) != nullptr &&
        dwarf_formudata(&attribute, &offset) == 0) {
      last = std::max(last.value_or(0), offset);
    }
  }
  if (dwarf != nullptr) dwarf_end(dwarf);
  return last;
}

}  // namespace

void HideNeedlessSections(Elf* elf) {
  for (ElfSection& section : ListElfSections(elf)) {
    if (!IsNeedlessSection(section.name)) continue;
    section.header.sh_type = SHT_NOBITS;  // has no bytes
    gelf_update_shdr(section.section, &section.header);
  }
}

class InflatedImage::Maker {
 public:
  Maker(int fd, std::vector<DebugSection> sections) : fd_(fd) {
    end_ = sizeof(Elf64_Ehdr);
    for (DebugSection& section : sections) {
      names_ += section.name + '\0';
      Part& part = parts_.emplace_back();
      part.section = std::move(section);
      part.at = AlignedUp(end_);
      part.size_bytes = part.section.size_bytes;
      end_ = part.at + part.size_bytes;
    }
    end_ = AlignedUp(end_);
  }

  size_t SizeBytes() const {
    return end_ + (parts_.size() + 2) * sizeof(Elf64_Shdr) + names_.size();
  }

  // Into `image`, of zeroes. Returns false if a section is damaged.
  bool Make(const GElf_Ehdr& header, std::span<const uint64_t> addresses,
            InflatedImage& image) {
    image_ = image.image_;
    Part* const lines = PartOf(".debug_line");
    image.has_all_units_ = !TakeWantedUnits(addresses);
    const bool has_part_of_lines = !image.has_all_units_ && lines != nullptr;
    for (Part& part : parts_) {
      if (has_part_of_lines && &part == lines) continue;
      if (!FillAll(part)) return false;
    }
    WriteHeaders(header);
    image.elf_ = elf_memory(reinterpret_cast<char*>(image_), SizeBytes());
    return !has_part_of_lines || FillLines(*lines, LastLineTable(image.elf_));
  }

 private:
  struct Part {
    DebugSection section;
    size_t at = 0;          // in the image
    size_t size_bytes = 0;  // of what the image has of it
    bool is_filled = false;
  };

  Part* PartOf(std::string_view name) {
    for (Part& part : parts_) {
      if (part.section.name == name) return &part;
    }
    return nullptr;
  }
  std::span<std::byte> BytesOf(const Part& part) {
    return {image_ + part.at, part.size_bytes};
  }

  bool FillAll(Part& part) {
    if (part.is_filled) return true;
    DebugSectionReader reader(fd_, part.section);
    part.is_filled = Fill(reader, BytesOf(part)) && reader.IsAtSoundEnd();
    return part.is_filled;
  }

  // False: the image needs all of .debug_info.
  bool TakeWantedUnits(std::span<const uint64_t> addresses) {
    Part* const info = PartOf(".debug_info");
    Part* const list = PartOf(".debug_aranges");
    Part* const abbreviations = PartOf(".debug_abbrev");
    if (addresses.empty() || info == nullptr || list == nullptr ||
        abbreviations == nullptr || PartOf(".debug_types") != nullptr ||
        !FillAll(*abbreviations) || !UnitsStandAlone(BytesOf(*abbreviations)) ||
        !FillAll(*list)) {
      return false;
    }
    DebugSectionReader reader(fd_, info->section);
    const std::optional<WantedUnits> wanted =
        ReadWantedUnits(ReadListedUnits(BytesOf(*list)), addresses, reader);
    if (!wanted || wanted->list.size() > list->size_bytes) return false;
    Replace(*list, wanted->list);
    Replace(*info, wanted->info);
    return true;
  }

  // REQUIRES: `bytes` is no larger than the part.
  void Replace(Part& part, std::span<const std::byte> bytes) {
    std::ranges::copy(bytes, image_ + part.at);
    part.size_bytes = bytes.size();
    part.is_filled = true;
  }

  // Up to the end of the line table there.
  bool FillLines(const Part& lines, std::optional<uint64_t> last) {
    const auto bytes = BytesOf(lines);
    uint32_t length = 0;
    if (!last) return true;
    if (*last > bytes.size() || bytes.size() - *last < sizeof(length)) {
      return false;
    }
    DebugSectionReader reader(fd_, lines.section);
    const size_t begin = *last + sizeof(length);
    if (!Fill(reader, bytes.first(begin))) return false;
    std::memcpy(&length, &bytes[*last], sizeof(length));
    // A length of the 64-bit format is larger than what is left.
    const size_t left = bytes.size() - begin;
    return Fill(reader, bytes.subspan(begin, std::min<size_t>(length, left)));
  }

  // The header, and what stands behind the sections: their names and headers.
  void WriteHeaders(const GElf_Ehdr& original) {
    std::vector<Elf64_Shdr> headers(1);  // the first one is none
    size_t name_at = 1;
    for (const Part& part : parts_) {
      headers.push_back({.sh_name = static_cast<Elf64_Word>(name_at),
                         .sh_type = SHT_PROGBITS,
                         .sh_offset = part.at,
                         .sh_size = part.size_bytes,
                         .sh_addralign = 1});
      name_at += part.section.name.size() + 1;
    }
    headers.push_back(
        {.sh_type = SHT_STRTAB,
         .sh_offset = end_ + (headers.size() + 1) * sizeof(Elf64_Shdr),
         .sh_size = names_.size(),
         .sh_addralign = 1});
    Elf64_Ehdr header = original;
    header.e_phoff = 0;
    header.e_phnum = 0;
    header.e_shoff = end_;
    header.e_shnum = static_cast<Elf64_Half>(headers.size());
    header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
    std::memcpy(image_, &header, sizeof(header));
    std::memcpy(image_ + end_, headers.data(),
                headers.size() * sizeof(Elf64_Shdr));
    std::memcpy(image_ + headers.back().sh_offset, names_.data(),
                names_.size());
  }

  const int fd_;
  std::vector<Part> parts_;
  std::string names_ = std::string(1, '\0');
  size_t end_ = 0;  // of the sections
  std::byte* image_ = nullptr;
};

InflatedImage::InflatedImage(Elf* elf, int fd,
                             std::span<const uint64_t> addresses) {
  std::optional<std::vector<DebugSection>> sections =
      ListDebugSections(elf, fd);
  GElf_Ehdr header;
  if (!sections ||
      std::ranges::none_of(*sections, &DebugSection::is_compressed) ||
      gelf_getehdr(elf, &header) == nullptr ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return;
  }
  Maker maker(fd, *std::move(sections));
  size_bytes_ = maker.SizeBytes();
  void* const memory = mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  image_ = static_cast<std::byte*>(memory);
  if (maker.Make(header, addresses, *this)) return;
  if (elf_ != nullptr) elf_end(elf_);
  munmap(image_, size_bytes_);
  elf_ = nullptr;
  image_ = nullptr;
  has_all_units_ = true;
}

InflatedImage::~InflatedImage() {
  if (elf_ != nullptr) elf_end(elf_);
  if (image_ != nullptr) munmap(image_, size_bytes_);
}

}  // namespace kymo::symbolize
