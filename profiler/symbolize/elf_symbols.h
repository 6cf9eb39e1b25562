// elf_symbols.h - finds functions in an ELF file's symbol tables.
//
//   ElfSymbols symbols;
//   symbols.Add(image);
//   symbols.Seal();
//   if (const char* const name = symbols.Find(address)) ...
//
// Memory: 24 bytes for each function and linkage stub, and the names that were
//   found. All other names stay in the file: PyTorch's two largest libraries
//   have 150 MB of them.
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_ELF_SYMBOLS_H_
#define KYMO_PROFILER_SYMBOLIZE_ELF_SYMBOLS_H_

#include <gelf.h>
#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/symbolize/stripped/elf_image.h"
#include "profiler/symbolize/stripped/elf_section.h"

namespace kymo::symbolize {

// A file may have names as long as itself. Of a longer one this is known.
inline constexpr size_t kMostNameBytes = size_t{64} << 10;

class ElfSymbols {
 public:
  // Adds .symtab and .dynsym of `image`, which must outlive this. Call Seal
  // afterwards. Of a 32-bit file, linkage stubs have no names.
  void Add(const ElfImage& image);
  void Seal();

  // The mangled name of the function around `address`; null if there is none.
  // If a function has several names, a global name wins, then the one with the
  // fewest leading underscores. A linkage stub (PLT) is "name@plt". AArch64's
  // mapping symbols ("$x", "$d") are no names. The text lives as long as this.
  const char* Find(uint64_t address);

 private:
  // A table of symbols in a file, and their names.
  struct Table {
    ElfImage image;
    uint64_t symbols_offset = 0;
    uint64_t names_offset = 0;
    uint64_t names_bytes = 0;
  };
  struct Stub {
    uint64_t address;
    uint64_t size_bytes;
  };
  using StubsByPlace = std::unordered_map<uint64_t, Stub>;
  struct Symbol {
    uint64_t address;
    uint64_t end;
    uint32_t name;  // in the names of its table; of a stub: the symbol's index
    uint16_t table;
    uint8_t binding;  // the lowest wins
    bool is_stub;
  };
  // The best of the symbols at one address.
  struct Named {
    std::string name;  // empty: none has one
    uint64_t end = 0;
  };

  void AddFunctions(const ElfImage& image, const GElf_Shdr& header);
  void AddStubs(const ElfImage& image);
  void AddDirectStubs(const ElfImage& image);
  void AddAArch64Stubs(const ElfImage& image);
  // By the place that each jumps through: the place's relocation has the name.
  void AddStubsByPlace(const ElfImage& image, const ElfSection& relocations,
                       const StubsByPlace& stubs);
  // Of the table in that section; false if it is none.
  bool AddTable(const ElfImage& image, size_t section);
  void AddStub(const Elf64_Rela& relocation, uint64_t address,
               uint64_t size_bytes);
  std::string NameOf(const Symbol& symbol) const;
  Named BestOf(std::span<const Symbol> symbols) const;

  std::vector<Table> tables_;
  std::vector<Symbol> symbols_;
  std::unordered_map<size_t, Named> found_;  // by the first such symbol
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_ELF_SYMBOLS_H_
