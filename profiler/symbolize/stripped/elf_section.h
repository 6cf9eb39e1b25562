// elf_section.h - the sections of an ELF file, with their names.
//
//   if (const auto section = FindElfSection(elf, ".plt")) ...
//   for (const ElfSection& section : ListElfSections(elf)) ...
#ifndef KYMO_PROFILER_SYMBOLIZE_STRIPPED_ELF_SECTION_H_
#define KYMO_PROFILER_SYMBOLIZE_STRIPPED_ELF_SECTION_H_

#include <gelf.h>
#include <libelf.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace kymo::symbolize {

struct ElfSection {
  Elf_Scn* section = nullptr;
  GElf_Shdr header{};
  bool has_header = false;  // false: it cannot be read
  std::string_view name{};  // of the file; empty if there is none
};

// In the order of the file. `elf` may be null: it has no sections then, and
// neither has a file without a table of their names.
inline std::vector<ElfSection> ListElfSections(Elf* elf) {
  std::vector<ElfSection> sections;
  size_t names = 0;
  if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) return sections;
  for (Elf_Scn* at = nullptr; (at = elf_nextscn(elf, at)) != nullptr;) {
    ElfSection& section = sections.emplace_back();
    section.section = at;
    if (gelf_getshdr(at, &section.header) == nullptr) continue;
    section.has_header = true;
    const char* const name = elf_strptr(elf, names, section.header.sh_name);
    if (name != nullptr) section.name = name;
  }
  return sections;
}

inline std::optional<ElfSection> FindElfSection(Elf* elf,
                                                std::string_view wanted) {
  for (const ElfSection& section : ListElfSections(elf)) {
    if (section.name == wanted) return section;
  }
  return std::nullopt;
}

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STRIPPED_ELF_SECTION_H_
