#include "profiler/symbolize/statics/static_names.h"

#include <gelf.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "profiler/symbolize/module_symbolizer.h"

namespace kymo::symbolize {

bool IsStatic(const ElfModule& module, uint64_t address) {
  size_t count = 0;
  if (module.elf() == nullptr || elf_getphdrnum(module.elf(), &count) != 0) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(module.elf(), static_cast<int>(i), &segment) == nullptr) {
      break;
    }
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0 &&
        address - segment.p_vaddr < segment.p_memsz) {
      return true;
    }
  }
  return false;
}

StaticNames::StaticNames(const ElfModule& module)
    : debug_file_(module.elf() == nullptr ? DebugFile()
                                          : DebugFile::For(module)) {
  if (module.elf() == nullptr || !module.IsUnchanged()) return;
  AddTables(module.elf());
  if (debug_file_.elf() != nullptr) AddTables(debug_file_.elf());
  std::ranges::sort(symbols_, {}, [](const Symbol& symbol) {
    return std::tuple(symbol.address, !symbol.is_global,
                      std::string_view(symbol.name));
  });
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
                             [](const Symbol& a, const Symbol& b) {
                               return a.address == b.address;
                             }),
                 symbols_.end());
}

void StaticNames::AddTables(Elf* elf) {
  for (Elf_Scn* section = nullptr;
       (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0 ||
        (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM)) {
      continue;
    }
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (data == nullptr) continue;
    const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
    for (int i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr) break;
      if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT ||
          symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) {
        continue;
      }
      const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (name == nullptr || *name == '\0') continue;
      symbols_.push_back({symbol.st_value, symbol.st_value + symbol.st_size,
                          GELF_ST_BIND(symbol.st_info) != STB_LOCAL, name});
    }
  }
}

std::optional<StaticNames::Object> StaticNames::Find(uint64_t address) const {
  const auto after =
      std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
  if (after == symbols_.begin()) return std::nullopt;
  const Symbol& symbol = *(after - 1);
  if (address >= symbol.end) return std::nullopt;
  return Object{.name = Demangle(symbol.name),
                .offset = address - symbol.address,
                .size_bytes = symbol.end - symbol.address};
}

std::string StaticNames::Of(uint64_t address) const {
  auto object = Find(address);
  if (!object) return "";
  if (object->offset > 0) {
    absl::StrAppend(&object->name, "+0x", absl::Hex(object->offset));
  }
  return std::move(object->name);
}

}  // namespace kymo::symbolize
