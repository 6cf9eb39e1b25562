#include "profiler/symbolize/elf_symbols.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace kymo::symbolize {
namespace {

constexpr uint64_t kStubBytes = 16;
constexpr int kStubRank = 99;

int Rank(int binding, std::string_view name) {
  // The first underscore of a mangled name does not count.
  const bool is_mangled = name.starts_with("_Z");
  const size_t underscores =
      is_mangled ? 0 : std::min(name.find_first_not_of('_'), name.size());
  return binding * 16 + static_cast<int>(std::min<size_t>(underscores, 15));
}

// AArch64's marks of where code or data begins ("ELF for the Arm 64-bit
// Architecture", mapping symbols).
bool IsMappingSymbol(std::string_view name) {
  return (name.starts_with("$x") || name.starts_with("$d")) &&
         (name.size() == 2 || name[2] == '.');
}

bool IsAArch64(Elf* elf) {
  GElf_Ehdr file;
  return gelf_getehdr(elf, &file) != nullptr && file.e_machine == EM_AARCH64;
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

// AArch64's way to jump through a place: `adrp x16, its page; ldr x17, [x16,
// its offset]`, at `address`. 0 if the instructions are others.
uint64_t SlotOfAArch64Stub(uint32_t adrp, uint32_t ldr, uint64_t address) {
  constexpr int kPageBits = 12;
  if ((adrp & 0x9f00001f) != 0x90000010) return 0;
  if ((ldr & 0xffc003ff) != 0xf9400211) return 0;
  // A signed number of 21 bits: 19 of them, and before these the lowest two.
  const uint32_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
  const int64_t distance = int64_t{static_cast<int32_t>(pages << 11)} >> 11;
  const uint64_t offset = (ldr >> 10 & 0xfff) * 8;
  return (address >> kPageBits << kPageBits) +
         (static_cast<uint64_t>(distance) << kPageBits) + offset;
}

// Calls visit(entry) for each entry of a section, until it returns false. Reads
// a piece at a time.
template <typename Entry, typename Visit>
void ForEachEntry(const ElfImage& image, const GElf_Shdr& header,
                  const Visit& visit) {
  constexpr uint64_t kPiece = 2048;
  if (header.sh_entsize != sizeof(Entry)) return;
  std::vector<Entry> piece(kPiece);
  const uint64_t count = header.sh_size / sizeof(Entry);
  for (uint64_t i = 0; i < count; i += kPiece) {
    const std::span<Entry> entries(piece.data(), std::min(kPiece, count - i));
    if (!image.Read(header.sh_offset + i * sizeof(Entry),
                    std::as_writable_bytes(entries))) {
      return;
    }
    for (const Entry& entry : entries) {
      if (!visit(entry)) return;
    }
  }
}

// The same of a table of symbols, in a file of either class.
template <typename Visit>
void ForEachSymbol(const ElfImage& image, const GElf_Shdr& header,
                   const Visit& visit) {
  if (gelf_getclass(image.elf) == ELFCLASS64) {
    ForEachEntry<Elf64_Sym>(image, header, visit);
    return;
  }
  ForEachEntry<Elf32_Sym>(image, header, [&](const Elf32_Sym& symbol) {
    return visit(Elf64_Sym{.st_name = symbol.st_name,
                           .st_info = symbol.st_info,
                           .st_other = symbol.st_other,
                           .st_shndx = symbol.st_shndx,
                           .st_value = symbol.st_value,
                           .st_size = symbol.st_size});
  });
}

// With its relocations, which name functions.
std::optional<ElfSection> FindRelocations(Elf* elf, std::string_view name) {
  auto section = FindElfSection(elf, name);
  if (section && section->header.sh_type != SHT_RELA) section.reset();
  return section;
}

}  // namespace

void ElfSymbols::Add(const ElfImage& image) {
  if (image.elf == nullptr) return;
  for (Elf_Scn* section = nullptr;
       (section = elf_nextscn(image.elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr &&
        AddTable(image, elf_ndxscn(section))) {
      AddFunctions(image, header);
    }
  }
  if (gelf_getclass(image.elf) != ELFCLASS64) return;  // stubs of another form
  if (IsAArch64(image.elf)) {
    AddAArch64Stubs(image);
  } else {
    AddStubs(image);
    AddDirectStubs(image);
  }
}

bool ElfSymbols::AddTable(const ElfImage& image, size_t section) {
  Elf_Scn* const symbols = elf_getscn(image.elf, section);
  GElf_Shdr header;
  if (symbols == nullptr || gelf_getshdr(symbols, &header) == nullptr ||
      (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) ||
      tables_.size() > std::numeric_limits<uint16_t>::max()) {
    return false;
  }
  Elf_Scn* const names = elf_getscn(image.elf, header.sh_link);
  GElf_Shdr names_header;
  if (names == nullptr || gelf_getshdr(names, &names_header) == nullptr ||
      names_header.sh_type != SHT_STRTAB) {
    return false;
  }
  tables_.push_back({.image = image,
                     .symbols_offset = header.sh_offset,
                     .names_offset = names_header.sh_offset,
                     .names_bytes = names_header.sh_size});
  return true;
}

void ElfSymbols::AddFunctions(const ElfImage& image, const GElf_Shdr& header) {
  GElf_Ehdr file;
  if (gelf_getehdr(image.elf, &file) == nullptr) return;
  const auto table = static_cast<uint16_t>(tables_.size() - 1);
  ForEachSymbol(image, header, [&](const Elf64_Sym& symbol) {
    const int type = ELF64_ST_TYPE(symbol.st_info);
    // Entry code is written in assembly, and often not marked as a function.
    const bool is_entry = type == STT_NOTYPE && symbol.st_value == file.e_entry;
    if (type != STT_FUNC && type != STT_GNU_IFUNC && !is_entry) return true;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 ||
        symbol.st_name == 0) {
      return true;
    }
    const uint64_t end = symbol.st_size != 0
                             ? symbol.st_value + symbol.st_size
                             : SectionEnd(image.elf, symbol.st_shndx);
    const int binding = ELF64_ST_BIND(symbol.st_info);
    symbols_.push_back(
        {.address = symbol.st_value,
         .end = end,
         .name = symbol.st_name,
         .table = table,
         .binding = static_cast<uint8_t>(binding == STB_GLOBAL ? 0
                                         : binding == STB_WEAK ? 1
                                                               : 2),
         .is_stub = false});
    return true;
  });
}

// The linker makes one stub of 16 bytes for each relocation of .rela.plt, in
// their order. The stubs are in .plt.sec, or else in .plt, behind the
// resolver's own.
void ElfSymbols::AddStubs(const ElfImage& image) {
  const auto relocations = FindRelocations(image.elf, ".rela.plt");
  auto stubs = FindElfSection(image.elf, ".plt.sec");
  uint64_t next = stubs ? stubs->header.sh_addr : 0;
  if (!stubs) {
    stubs = FindElfSection(image.elf, ".plt");
    next = stubs ? stubs->header.sh_addr + kStubBytes : 0;
  }
  if (!relocations || !stubs || !AddTable(image, relocations->header.sh_link)) {
    return;
  }
  const uint64_t end = stubs->header.sh_addr + stubs->header.sh_size;
  ForEachEntry<Elf64_Rela>(image, relocations->header,
                           [&](const Elf64_Rela& relocation) {
                             if (next + kStubBytes > end) return false;
                             AddStub(relocation, next, kStubBytes);
                             next += kStubBytes;
                             return true;
                           });
}

// Stubs of functions whose address is also used otherwise are in .plt.got. The
// relocation of the place that a stub jumps through has the name.
void ElfSymbols::AddDirectStubs(const ElfImage& image) {
  const auto stubs = FindElfSection(image.elf, ".plt.got");
  const auto relocations = FindRelocations(image.elf, ".rela.dyn");
  if (!stubs || !relocations || stubs->header.sh_type != SHT_PROGBITS) return;
  const std::vector<std::byte> code =
      image.ReadAll(stubs->header.sh_offset, stubs->header.sh_size);
  // 8 bytes a stub; with marks of targets of jumps, 16.
  const uint64_t stub_bytes =
      stubs->header.sh_entsize == kStubBytes ? kStubBytes : kStubBytes / 2;
  const std::string_view bytes(reinterpret_cast<const char*>(code.data()),
                               code.size());
  StubsByPlace by_place;
  for (uint64_t at = 0; at + stub_bytes <= bytes.size(); at += stub_bytes) {
    const uint64_t address = stubs->header.sh_addr + at;
    const uint64_t slot = SlotOfStub(bytes.substr(at, stub_bytes), address);
    if (slot != 0) by_place[slot] = {address, stub_bytes};
  }
  AddStubsByPlace(image, *relocations, by_place);
}

// A stub has 4 to 6 instructions. The resolver's own stub and the one for
// thread-local variables have 8.
void ElfSymbols::AddAArch64Stubs(const ElfImage& image) {
  constexpr uint64_t kInstructionBytes = 4;
  constexpr size_t kMostInstructions = 6;
  constexpr uint32_t kTargetMark = 0xd503245f;  // `bti c`
  constexpr uint32_t kJump = 0xd61f0220;        // `br x17`
  const auto stubs = FindElfSection(image.elf, ".plt");
  const auto relocations = FindRelocations(image.elf, ".rela.plt");
  if (!stubs || !relocations || stubs->header.sh_type != SHT_PROGBITS) return;
  const std::vector<std::byte> bytes =
      image.ReadAll(stubs->header.sh_offset, stubs->header.sh_size);
  std::vector<uint32_t> code(bytes.size() / kInstructionBytes);
  std::memcpy(code.data(), bytes.data(), code.size() * kInstructionBytes);
  StubsByPlace by_place;
  const uint64_t begin = stubs->header.sh_addr;
  for (size_t i = 0; i + 1 < code.size(); ++i) {
    const uint64_t slot =
        SlotOfAArch64Stub(code[i], code[i + 1], begin + i * kInstructionBytes);
    if (slot == 0) continue;
    const size_t first = i > 0 && code[i - 1] == kTargetMark ? i - 1 : i;
    const auto most = std::min(code.size() - first, kMostInstructions);
    const auto rest = std::span(code).subspan(first, most);
    const auto jump = std::find(rest.begin(), rest.end(), kJump);
    if (jump == rest.end()) continue;
    const auto count = static_cast<uint64_t>(jump - rest.begin()) + 1;
    by_place[slot] = {begin + first * kInstructionBytes,
                      count * kInstructionBytes};
  }
  AddStubsByPlace(image, *relocations, by_place);
}

void ElfSymbols::AddStubsByPlace(const ElfImage& image,
                                 const ElfSection& relocations,
                                 const StubsByPlace& stubs) {
  if (stubs.empty() || !AddTable(image, relocations.header.sh_link)) return;
  ForEachEntry<Elf64_Rela>(
      image, relocations.header, [&](const Elf64_Rela& relocation) {
        const auto stub = stubs.find(relocation.r_offset);
        if (stub != stubs.end()) {
          AddStub(relocation, stub->second.address, stub->second.size_bytes);
        }
        return true;
      });
}

void ElfSymbols::AddStub(const Elf64_Rela& relocation, uint64_t address,
                         uint64_t size_bytes) {
  symbols_.push_back(
      {.address = address,
       .end = address + size_bytes,
       .name = static_cast<uint32_t>(ELF64_R_SYM(relocation.r_info)),
       .table = static_cast<uint16_t>(tables_.size() - 1),
       .binding = 0,
       .is_stub = true});
}

void ElfSymbols::Seal() {
  std::sort(
      symbols_.begin(), symbols_.end(),
      [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
}

// Empty if the file does not have it.
std::string ElfSymbols::NameOf(const Symbol& symbol) const {
  const Table& table = tables_[symbol.table];
  uint64_t at = symbol.name;
  if (symbol.is_stub) {
    std::array<Elf64_Sym, 1> function;
    if (!table.image.Read(
            table.symbols_offset + uint64_t{symbol.name} * sizeof(Elf64_Sym),
            std::as_writable_bytes(std::span(function)))) {
      return {};
    }
    at = function[0].st_name;
  }
  std::string name;
  constexpr size_t kPiece = 512;
  while (at < table.names_bytes && name.size() < kMostNameBytes) {
    std::array<char, kPiece> piece;
    const std::span<char> part(
        piece.data(), std::min<uint64_t>(kPiece, table.names_bytes - at));
    if (!table.image.Read(table.names_offset + at,
                          std::as_writable_bytes(part))) {
      return {};
    }
    const size_t bytes = strnlen(part.data(), part.size());
    name.append(part.data(), bytes);
    if (bytes < part.size()) {
      if (symbol.is_stub && !name.empty()) name += "@plt";
      return name;
    }
    at += bytes;
  }
  // Names end with a zero byte.
  return at < table.names_bytes ? name : std::string();
}

ElfSymbols::Named ElfSymbols::BestOf(std::span<const Symbol> symbols) const {
  Named best;
  int best_rank = 0;
  for (const Symbol& symbol : symbols) {
    std::string name = NameOf(symbol);
    if (name.empty() || IsMappingSymbol(name)) continue;
    const int rank = symbol.is_stub ? kStubRank : Rank(symbol.binding, name);
    if (best.name.empty() || rank < best_rank ||
        (rank == best_rank && name < best.name)) {
      best = {.name = std::move(name), .end = symbol.end};
      best_rank = rank;
    }
  }
  return best;
}

const char* ElfSymbols::Find(uint64_t address) {
  const auto after = std::partition_point(
      symbols_.begin(), symbols_.end(),
      [&](const Symbol& symbol) { return symbol.address <= address; });
  if (after == symbols_.begin()) return nullptr;
  const uint64_t begins = std::prev(after)->address;
  const auto first = std::partition_point(
      symbols_.begin(), after,
      [&](const Symbol& symbol) { return symbol.address < begins; });
  const auto [found, is_new] =
      found_.try_emplace(static_cast<size_t>(first - symbols_.begin()));
  if (is_new) found->second = BestOf({first, after});
  const Named& named = found->second;
  return !named.name.empty() && address < named.end ? named.name.c_str()
                                                    : nullptr;
}

}  // namespace kymo::symbolize
