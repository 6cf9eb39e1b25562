#include "backends/sampling/elf_symbols.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>

namespace kymo::sampling {
namespace {

int Rank(const GElf_Sym& symbol, const char* name) {
  const int binding = GELF_ST_BIND(symbol.st_info);
  const int by_binding = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
  // Mangled names begin with one underscore that does not count.
  const bool is_mangled = std::strncmp(name, "_Z", 2) == 0;
  const auto underscores =
      is_mangled ? 0 : static_cast<int>(std::strspn(name, "_"));
  return by_binding * 16 + std::min(underscores, 15);
}

}  // namespace

void ElfSymbols::Add(Elf* elf) {
  for (Elf_Scn* section = nullptr;
       (section = elf_nextscn(elf, section)) != nullptr;) {
    AddTable(elf, section);
  }
}

void ElfSymbols::AddTable(Elf* elf, Elf_Scn* section) {
  GElf_Shdr header;
  if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0) {
    return;
  }
  if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) return;
  Elf_Data* const data = elf_getdata(section, nullptr);
  if (data == nullptr) return;
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, i, &symbol) == nullptr) break;
    const int type = GELF_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC) continue;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) continue;
    const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr || *name == '\0') continue;
    symbols_.push_back(
        {symbol.st_value, symbol.st_size, Rank(symbol, name), name});
  }
}

void ElfSymbols::Seal() {
  std::sort(symbols_.begin(), symbols_.end(),
            [](const Symbol& a, const Symbol& b) {
              if (a.address != b.address) return a.address < b.address;
              if (a.rank != b.rank) return a.rank < b.rank;
              return std::strcmp(a.name, b.name) < 0;
            });
  const auto same_address = [](const Symbol& a, const Symbol& b) {
    return a.address == b.address;
  };
  symbols_.erase(
      std::unique(symbols_.begin(), symbols_.end(), same_address),
      symbols_.end());
}

const char* ElfSymbols::Find(uint64_t address) const {
  const auto after = std::partition_point(
      symbols_.begin(), symbols_.end(),
      [&](const Symbol& symbol) { return symbol.address <= address; });
  if (after == symbols_.begin()) return nullptr;
  const Symbol& symbol = *std::prev(after);
  if (symbol.size_bytes != 0 &&
      address >= symbol.address + symbol.size_bytes) {
    return nullptr;
  }
  return symbol.name;
}

}  // namespace kymo::sampling
