#include "tools/profile_command/start/elf_file.h"

#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <utility>

#include "profiler/base/mapped/regular_file.h"

namespace kymo::tools {
namespace {

constexpr uint64_t kMostNameBytes = uint64_t{1} << 20;

}  // namespace

ElfFile::ElfFile(const std::string& path) : file_(OpenRegularFile(path)) {
  Elf64_Ehdr header;
  if (!Read(&header, sizeof(header), 0) ||
      memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_shentsize != sizeof(Elf64_Shdr)) {
    return;
  }
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!Read(sections.data(), sections.size() * sizeof(Elf64_Shdr),
            header.e_shoff)) {
    return;
  }
  sections_ = std::move(sections);
  if (header.e_shstrndx < sections_.size()) {
    names_ = Content<char>(sections_[header.e_shstrndx], kMostNameBytes);
  }
  names_.push_back('\0');
}

const Elf64_Shdr* ElfFile::Find(std::string_view name) const {
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_name < names_.size() && name == &names_[section.sh_name]) {
      return &section;
    }
  }
  return nullptr;
}

bool ElfFile::Read(void* to, size_t size, uint64_t at) const {
  return pread(file_.get(), to, size, static_cast<off_t>(at)) ==
         static_cast<ssize_t>(size);
}

}  // namespace kymo::tools
