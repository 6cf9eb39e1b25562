// elf_symbols.h - finds functions in an ELF file's symbol tables.
#ifndef KYMO_PROFILER_SYMBOLIZE_ELF_SYMBOLS_H_
#define KYMO_PROFILER_SYMBOLIZE_ELF_SYMBOLS_H_

#include <gelf.h>
#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace kymo::symbolize {

class ElfSymbols {
 public:
  // Adds .symtab and .dynsym of `elf`, which must outlive this. Call Seal
  // afterwards.
  void Add(Elf* elf);
  void Seal();

  // The mangled name of the function around `address`; null if there is none.
  // If a function has several names, a global name wins, then the one with the
  // fewest leading underscores. A linkage stub (PLT) is "name@plt".
  const char* Find(uint64_t address) const;

 private:
  struct Symbol {
    uint64_t address;
    uint64_t end;
    int rank;  // the lowest wins
    const char* name;
  };

  void AddTable(Elf* elf, Elf_Scn* section);
  void AddStubs(Elf* elf);
  void AddDirectStubs(Elf* elf);
  void AddStub(Elf* elf, size_t symbol_table, const GElf_Rela& relocation,
               uint64_t address, uint64_t size_bytes);

  std::vector<Symbol> symbols_;
  std::deque<std::string> stub_names_;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_ELF_SYMBOLS_H_
