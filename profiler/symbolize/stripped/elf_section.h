// elf_section.h - finds a section of an ELF file by its name.
//
//   if (const auto section = FindElfSection(elf, ".plt")) ...
#ifndef KYMO_PROFILER_SYMBOLIZE_STRIPPED_ELF_SECTION_H_
#define KYMO_PROFILER_SYMBOLIZE_STRIPPED_ELF_SECTION_H_

#include <gelf.h>
#include <libelf.h>

#include <optional>
#include <string_view>

namespace kymo::symbolize {

struct ElfSection {
  Elf_Scn* section = nullptr;
  GElf_Shdr header{};
};

// `elf` may be null: it has no sections then.
inline std::optional<ElfSection> FindElfSection(Elf* elf,
                                                std::string_view wanted) {
  size_t names = 0;
  if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) {
    return std::nullopt;
  }
  for (ElfSection at; (at.section = elf_nextscn(elf, at.section)) != nullptr;) {
    if (gelf_getshdr(at.section, &at.header) == nullptr) continue;
    const char* const name = elf_strptr(elf, names, at.header.sh_name);
    if (name != nullptr && wanted == name) return at;
  }
  return std::nullopt;
}

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STRIPPED_ELF_SECTION_H_
