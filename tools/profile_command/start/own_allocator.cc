#include "tools/profile_command/start/own_allocator.h"

#include <elf.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "tools/profile_command/start/elf_file.h"

namespace kymo::tools {

bool BringsMalloc(const std::string& path) {
  const ElfFile file(path);
  const std::vector<Elf64_Shdr>& sections = file.sections();
  const auto table =
      std::find_if(sections.begin(), sections.end(),
                   [](const Elf64_Shdr& s) { return s.sh_type == SHT_DYNSYM; });
  if (table == sections.end() || table->sh_link >= sections.size()) {
    return false;
  }
  std::vector<char> names = file.Content<char>(sections[table->sh_link]);
  names.push_back('\0');
  bool has_malloc = false;
  for (const Elf64_Sym& symbol : file.Content<Elf64_Sym>(*table)) {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.size()) {
      continue;
    }
    const std::string_view name = &names[symbol.st_name];
    if (name == "kymo_heap_hooks_v1") return false;
    has_malloc |= name == "malloc";
  }
  return has_malloc;
}

}  // namespace kymo::tools
