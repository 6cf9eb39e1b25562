#include "profiler/symbolize/stripped/inflated_image.h"

#include <gelf.h>
#include <isa-l/igzip_lib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::symbolize {
namespace {

constexpr size_t kAlignment = 16;

// One byte becomes 1032 at most (zlib's manual). Who says more is not believed,
// since that would take memory for nothing.
constexpr uint64_t kMostTimesLarger = 1032;

// Where variables are, macros, and indices that libdw does not read.
bool IsNotNeeded(std::string_view name) {
  for (const std::string_view begin :
       {".debug_loc", ".debug_mac", ".debug_pub", ".debug_gnu_pub"}) {
    if (name.starts_with(begin)) return true;
  }
  return false;
}

struct Section {
  std::string name;
  GElf_Shdr header;
  size_t size_bytes = 0;  // when decompressed
  size_t at = 0;          // in the image

  bool is_compressed() const { return (header.sh_flags & SHF_COMPRESSED) != 0; }
};

// Nothing if libdw has to read the file.
std::optional<std::vector<Section>> ListSections(Elf* elf, int fd) {
  std::vector<Section> sections;
  size_t names = 0;
  if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) return {};
  struct stat file;
  if (fstat(fd, &file) != 0 || file.st_size < 0) return {};
  auto left_bytes = static_cast<uint64_t>(file.st_size);
  for (Elf_Scn* at = nullptr; (at = elf_nextscn(elf, at)) != nullptr;) {
    Section section;
    if (gelf_getshdr(at, &section.header) == nullptr) return {};
    const char* const name = elf_strptr(elf, names, section.header.sh_name);
    if (name == nullptr) continue;
    section.name = name;
    if (NeedsOtherFiles(section.name)) return {};
    if (!section.name.starts_with(".debug_") || IsNotNeeded(section.name) ||
        section.header.sh_type != SHT_PROGBITS) {
      continue;
    }
    // Sections that together are larger than the file are not believed, either.
    if (section.header.sh_size > left_bytes) return {};
    left_bytes -= section.header.sh_size;
    section.size_bytes = section.header.sh_size;
    if (section.is_compressed()) {
      Elf64_Chdr header;
      if (section.header.sh_size < sizeof(header) ||
          pread(fd, &header, sizeof(header),
                static_cast<off_t>(section.header.sh_offset)) !=
              ssize_t{sizeof(header)} ||
          header.ch_type != ELFCOMPRESS_ZLIB ||
          header.ch_size / kMostTimesLarger > section.header.sh_size) {
        return {};
      }
      section.size_bytes = header.ch_size;
    }
    if (section.size_bytes > std::numeric_limits<uint32_t>::max()) return {};
    sections.push_back(std::move(section));
  }
  return sections;
}

// Calls take(bytes) for each part of a file's range, until it returns false.
template <typename Take>
bool ReadParts(int fd, uint64_t begin, uint64_t end, Take take) {
  std::vector<uint8_t> buffer(size_t{64} << 10);
  while (begin < end) {
    const ssize_t size =
        pread(fd, buffer.data(), std::min<uint64_t>(buffer.size(), end - begin),
              static_cast<off_t>(begin));
    if (size <= 0 ||
        !take(std::span(buffer.data(), static_cast<size_t>(size)))) {
      return false;
    }
    begin += static_cast<uint64_t>(size);
  }
  return true;
}

bool Copy(int fd, const Section& section, std::byte* into) {
  const uint64_t begin = section.header.sh_offset;
  return ReadParts(fd, begin, begin + section.size_bytes,
                   [&](std::span<const uint8_t> part) {
                     std::memcpy(into, part.data(), part.size());
                     into += part.size();
                     return true;
                   });
}

bool Inflate(int fd, const Section& section, std::byte* into) {
  const auto state = std::make_unique<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = ISAL_ZLIB;
  state->next_out = reinterpret_cast<uint8_t*>(into);
  state->avail_out = static_cast<uint32_t>(section.size_bytes);
  const uint64_t begin = section.header.sh_offset;
  const bool is_sound =
      ReadParts(fd, begin + sizeof(Elf64_Chdr), begin + section.header.sh_size,
                [&](std::span<uint8_t> part) {
                  state->next_in = part.data();
                  state->avail_in = static_cast<uint32_t>(part.size());
                  return isal_inflate(state.get()) == ISAL_DECOMP_OK;
                });
  return is_sound && state->block_state == ISAL_BLOCK_FINISH &&
         state->avail_out == 0;
}

// Where each section has its place. Returns the end.
size_t Place(std::vector<Section>& sections) {
  size_t end = sizeof(Elf64_Ehdr);
  for (Section& section : sections) {
    section.at = (end + kAlignment - 1) / kAlignment * kAlignment;
    end = section.at + section.size_bytes;
  }
  return (end + kAlignment - 1) / kAlignment * kAlignment;
}

// The header, and what stands behind the sections: their names and headers.
void WriteHeaders(const GElf_Ehdr& original,
                  const std::vector<Section>& sections, size_t end,
                  const std::string& names, std::byte* image) {
  std::vector<Elf64_Shdr> headers(1);  // the first one is none
  size_t name_at = 1;
  for (const Section& section : sections) {
    headers.push_back({.sh_name = static_cast<Elf64_Word>(name_at),
                       .sh_type = SHT_PROGBITS,
                       .sh_offset = section.at,
                       .sh_size = section.size_bytes,
                       .sh_addralign = 1});
    name_at += section.name.size() + 1;
  }
  headers.push_back(
      {.sh_type = SHT_STRTAB,
       .sh_offset = end + (headers.size() + 1) * sizeof(Elf64_Shdr),
       .sh_size = names.size(),
       .sh_addralign = 1});
  Elf64_Ehdr header = original;
  header.e_phoff = 0;
  header.e_phnum = 0;
  header.e_shoff = end;
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  std::memcpy(image, &header, sizeof(header));
  std::memcpy(image + end, headers.data(), headers.size() * sizeof(Elf64_Shdr));
  std::memcpy(image + headers.back().sh_offset, names.data(), names.size());
}

}  // namespace

bool NeedsOtherFiles(std::string_view section_name) {
  return section_name == ".gnu_debugaltlink" || section_name == ".debug_addr";
}

void HideNeedlessSections(Elf* elf) {
  size_t names = 0;
  if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) return;
  for (Elf_Scn* at = nullptr; (at = elf_nextscn(elf, at)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(at, &header) == nullptr) continue;
    const char* const name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || !IsNotNeeded(name)) continue;
    header.sh_type = SHT_NOBITS;  // has no bytes
    gelf_update_shdr(at, &header);
  }
}

InflatedImage::InflatedImage(Elf* elf, int fd) {
  std::optional<std::vector<Section>> sections = ListSections(elf, fd);
  GElf_Ehdr header;
  if (!sections || std::ranges::none_of(*sections, &Section::is_compressed) ||
      gelf_getehdr(elf, &header) == nullptr ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return;
  }
  std::string names(1, '\0');
  for (const Section& section : *sections) names += section.name + '\0';
  const size_t end = Place(*sections);
  size_bytes_ =
      end + (sections->size() + 2) * sizeof(Elf64_Shdr) + names.size();
  void* const memory = mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return;
  image_ = static_cast<std::byte*>(memory);
  for (const Section& section : *sections) {
    std::byte* const into = image_ + section.at;
    if (!(section.is_compressed() ? Inflate(fd, section, into)
                                  : Copy(fd, section, into))) {
      munmap(image_, size_bytes_);
      image_ = nullptr;
      return;
    }
  }
  WriteHeaders(header, *sections, end, names, image_);
  elf_ = elf_memory(reinterpret_cast<char*>(image_), size_bytes_);
}

InflatedImage::~InflatedImage() {
  if (elf_ != nullptr) elf_end(elf_);
  if (image_ != nullptr) munmap(image_, size_bytes_);
}

}  // namespace kymo::symbolize
