#include "profiler/symbolize/elf_symbols.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "profiler/symbolize/stripped/elf_section.h"

namespace kymo::symbolize {
namespace {

constexpr uint64_t kStubBytes = 16;
constexpr int kStubRank = 99;

int Rank(const GElf_Sym& symbol, const char* name) {
  const int binding = GELF_ST_BIND(symbol.st_info);
  const int by_binding = binding == STB_GLOBAL ? 0
                         : binding == STB_WEAK ? 1
                                               : 2;
  // The first underscore of a mangled name does not count.
  const bool is_mangled = std::strncmp(name, "_Z", 2) == 0;
  const auto underscores =
      is_mangled ? 0 : static_cast<int>(std::strspn(name, "_"));
  return by_binding * 16 + std::min(underscores, 15);
}

// Where a symbol without a size must end.
uint64_t SectionEnd(Elf* elf, size_t index) {
  Elf_Scn* const section = elf_getscn(elf, index);
  GElf_Shdr header;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return 0;
  return header.sh_addr + header.sh_size;
}

// The address that a stub jumps to is in this place: `jmp *place(%rip)`, with
// prefixes of its own. 0 if the bytes are something else.
uint64_t SlotOfStub(std::string_view bytes, uint64_t address) {
  constexpr std::string_view kJump = "\xff\x25";
  const size_t jump = bytes.find(kJump);
  uint32_t distance = 0;
  if (jump > 5 || bytes.size() < jump + 6) return 0;
  std::memcpy(&distance, bytes.data() + jump + 2, sizeof(distance));
  return address + jump + 6 +
         static_cast<uint64_t>(int64_t{static_cast<int32_t>(distance)});
}

}  // namespace

void ElfSymbols::Add(Elf* elf) {
  for (Elf_Scn* section = nullptr;
       (section = elf_nextscn(elf, section)) != nullptr;) {
    AddTable(elf, section);
  }
  AddStubs(elf);
  AddDirectStubs(elf);
}

void ElfSymbols::AddTable(Elf* elf, Elf_Scn* section) {
  GElf_Shdr header;
  if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0) {
    return;
  }
  if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) return;
  Elf_Data* const data = elf_getdata(section, nullptr);
  if (data == nullptr) return;
  GElf_Ehdr image;
  if (gelf_getehdr(elf, &image) == nullptr) return;
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, i, &symbol) == nullptr) break;
    const int type = GELF_ST_TYPE(symbol.st_info);
    // Entry code is written in assembly, and often not marked as a function.
    const bool is_entry =
        type == STT_NOTYPE && symbol.st_value == image.e_entry;
    if (type != STT_FUNC && type != STT_GNU_IFUNC && !is_entry) continue;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) continue;
    const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr || *name == '\0') continue;
    const uint64_t end = symbol.st_size != 0 ? symbol.st_value + symbol.st_size
                                             : SectionEnd(elf, symbol.st_shndx);
    symbols_.push_back({symbol.st_value, end, Rank(symbol, name), name});
  }
}

// The linker makes one stub of 16 bytes for each relocation of .rela.plt, in
// their order. The stubs are in .plt.sec, or else in .plt, behind the
// resolver's own.
void ElfSymbols::AddStubs(Elf* elf) {
  const auto relocations = FindElfSection(elf, ".rela.plt");
  auto stubs = FindElfSection(elf, ".plt.sec");
  uint64_t next = stubs ? stubs->header.sh_addr : 0;
  if (!stubs) {
    stubs = FindElfSection(elf, ".plt");
    next = stubs ? stubs->header.sh_addr + kStubBytes : 0;
  }
  if (!relocations || !stubs || relocations->header.sh_entsize == 0) return;
  Elf_Data* const data = elf_getdata(relocations->section, nullptr);
  if (data == nullptr) return;
  const uint64_t end = stubs->header.sh_addr + stubs->header.sh_size;
  GElf_Rela relocation;
  for (int i = 0; next + kStubBytes <= end &&
                  gelf_getrela(data, i, &relocation) != nullptr;
       ++i, next += kStubBytes) {
    AddStub(elf, relocations->header.sh_link, relocation, next, kStubBytes);
  }
}

// Stubs of functions whose address is also used otherwise are in .plt.got. The
// relocation of the place that a stub jumps through has the name.
void ElfSymbols::AddDirectStubs(Elf* elf) {
  const auto stubs = FindElfSection(elf, ".plt.got");
  const auto relocations = FindElfSection(elf, ".rela.dyn");
  if (!stubs || !relocations || relocations->header.sh_entsize == 0) return;
  const Elf_Data* const code = elf_rawdata(stubs->section, nullptr);
  Elf_Data* const data = elf_getdata(relocations->section, nullptr);
  if (code == nullptr || code->d_buf == nullptr || data == nullptr) return;
  // 8 bytes a stub; with marks of targets of jumps, 16.
  const uint64_t stub_bytes =
      stubs->header.sh_entsize == kStubBytes ? kStubBytes : kStubBytes / 2;
  const std::string_view bytes(static_cast<const char*>(code->d_buf),
                               code->d_size);
  std::unordered_map<uint64_t, uint64_t> stub_of_slot;
  for (uint64_t at = 0; at + stub_bytes <= bytes.size(); at += stub_bytes) {
    const uint64_t address = stubs->header.sh_addr + at;
    const uint64_t slot = SlotOfStub(bytes.substr(at, stub_bytes), address);
    if (slot != 0) stub_of_slot[slot] = address;
  }
  GElf_Rela relocation;
  for (int i = 0; gelf_getrela(data, i, &relocation) != nullptr; ++i) {
    const auto stub = stub_of_slot.find(relocation.r_offset);
    if (stub == stub_of_slot.end()) continue;
    AddStub(elf, relocations->header.sh_link, relocation, stub->second,
            stub_bytes);
  }
}

void ElfSymbols::AddStub(Elf* elf, size_t symbol_table,
                         const GElf_Rela& relocation, uint64_t address,
                         uint64_t size_bytes) {
  Elf_Scn* const names = elf_getscn(elf, symbol_table);
  GElf_Shdr header;
  Elf_Data* const symbols = elf_getdata(names, nullptr);
  GElf_Sym symbol;
  if (symbols == nullptr || gelf_getshdr(names, &header) == nullptr ||
      gelf_getsym(symbols, static_cast<int>(GELF_R_SYM(relocation.r_info)),
                  &symbol) == nullptr) {
    return;
  }
  const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
  if (name == nullptr || *name == '\0') return;
  stub_names_.push_back(std::string(name) + "@plt");
  symbols_.push_back(
      {address, address + size_bytes, kStubRank, stub_names_.back().c_str()});
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
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(), same_address),
                 symbols_.end());
}

const char* ElfSymbols::Find(uint64_t address) const {
  const auto after = std::partition_point(
      symbols_.begin(), symbols_.end(),
      [&](const Symbol& symbol) { return symbol.address <= address; });
  if (after == symbols_.begin()) return nullptr;
  const Symbol& symbol = *std::prev(after);
  return address < symbol.end ? symbol.name : nullptr;
}

}  // namespace kymo::symbolize
