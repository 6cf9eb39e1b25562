// test_elf.h - ELF files that tests make, section by section.
//
//   TestElf elf;
//   elf.entry = 0x401000;
//   elf.Add({.name = ".text", .address = 0x401000, .bytes = {0x100, '\0'}});
//   elf.AddSymbols(SHT_SYMTAB, {Function("main", 0x401000, 16)});
//   const std::string bytes = elf.Bytes();
//
// Format: System V ABI, "Object Files"; GNU's notes and debug links as the
// manuals of ld and gdb describe them.
#ifndef KYMO_PROFILER_SYMBOLIZE_TEST_ELF_H_
#define KYMO_PROFILER_SYMBOLIZE_TEST_ELF_H_

#include <dwarf.h>
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kymo::symbolize {

struct TestSection {
  std::string name;
  uint32_t type = SHT_PROGBITS;
  uint64_t address = 0;
  std::string bytes;
  uint32_t link = 0;
  uint64_t entry_bytes = 0;
  uint64_t flags = 0;
};

struct TestSymbol {
  std::string name;
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  int type = STT_FUNC;
  int binding = STB_GLOBAL;
  uint16_t section = 1;
};

inline TestSymbol Function(std::string name, uint64_t address,
                           uint64_t size_bytes, int binding = STB_GLOBAL) {
  return {.name = std::move(name),
          .address = address,
          .size_bytes = size_bytes,
          .binding = binding};
}

template <typename T>
std::string BytesOf(const T& value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

// A number of a 64-bit file, also in one of 32 bits.
template <typename To, typename From>
void Narrow(To& to, From from) {
  to = static_cast<To>(from);
}

struct TestElf {
  uint16_t machine = EM_X86_64;
  bool is_32_bit = false;  // set it before symbols are added
  uint64_t entry = 0;
  std::vector<Elf64_Phdr> segments;
  std::vector<TestSection> sections;  // from 1 on; 0 is the null section
  std::string build_id;               // empty: none

  // Returns the section's index.
  uint32_t Add(TestSection section) {
    sections.push_back(std::move(section));
    return static_cast<uint32_t>(sections.size());
  }
  void AddCode(uint64_t file_offset, uint64_t size_bytes, uint64_t address,
               uint32_t flags = PF_R | PF_X, uint32_t type = PT_LOAD) {
    segments.push_back({.p_type = type,
                        .p_flags = flags,
                        .p_offset = file_offset,
                        .p_vaddr = address,
                        .p_paddr = address,
                        .p_filesz = size_bytes,
                        .p_memsz = size_bytes,
                        .p_align = 4096});
  }
  uint32_t AddSymbols(uint32_t type, const std::vector<TestSymbol>& symbols) {
    std::string names(1, '\0');
    const size_t entry_bytes =
        is_32_bit ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
    std::string table(entry_bytes, '\0');
    for (const TestSymbol& symbol : symbols) {
      const size_t name = symbol.name.empty() ? 0 : names.size();
      table += is_32_bit ? SymbolBytes<Elf32_Sym>(symbol, name)
                         : SymbolBytes<Elf64_Sym>(symbol, name);
      names += symbol.name + '\0';
    }
    const uint32_t link =
        Add({.name = ".strtab", .type = SHT_STRTAB, .bytes = names});
    return Add({.name = type == SHT_DYNSYM ? ".dynsym" : ".symtab",
                .type = type,
                .bytes = table,
                .link = link,
                .entry_bytes = entry_bytes});
  }
  // A unit with code at `start`, whose debug information is in a .dwo file.
  void AddSplitUnit(const std::string& dwo_name, uint64_t start,
                    uint64_t bytes) {
    Add({.name = ".debug_abbrev",
         .bytes = {1, DW_TAG_skeleton_unit, DW_CHILDREN_no, DW_AT_dwo_name,
                   DW_FORM_string, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
                   DW_FORM_data8, '\0', '\0', '\0'}});
    const std::string unit =
        BytesOf(uint16_t{5}) + std::string{DW_UT_skeleton, sizeof(uint64_t)} +
        BytesOf(uint32_t{0}) +
        BytesOf(uint64_t{0x123456789}) +  // the file's id
        '\1' + dwo_name + '\0' + BytesOf(start) + BytesOf(bytes);
    Add({.name = ".debug_info",
         .bytes = BytesOf(static_cast<uint32_t>(unit.size())) + unit});
  }
  void AddDebugLink(std::string name, uint32_t crc) {
    name += '\0';
    while (name.size() % 4 != 0) name += '\0';
    Add({.name = ".gnu_debuglink", .bytes = name + BytesOf(crc)});
  }

  std::string Bytes() const {
    return is_32_bit ? BytesAs<Elf32_Ehdr, Elf32_Phdr, Elf32_Shdr>()
                     : BytesAs<Elf64_Ehdr, Elf64_Phdr, Elf64_Shdr>();
  }

  // Writes the file and returns its bytes.
  std::string WriteTo(const std::string& path) const {
    std::string bytes = Bytes();
    std::ofstream(path, std::ios::binary) << bytes;
    return bytes;
  }

 private:
  template <typename Sym>
  static std::string SymbolBytes(const TestSymbol& symbol, size_t name) {
    Sym entry = {};
    Narrow(entry.st_name, name);
    // The same in files of both classes.
    Narrow(entry.st_info, ELF64_ST_INFO(symbol.binding, symbol.type));
    entry.st_shndx = symbol.section;
    Narrow(entry.st_value, symbol.address);
    Narrow(entry.st_size, symbol.size_bytes);
    return BytesOf(entry);
  }

  template <typename Ehdr, typename Phdr, typename Shdr>
  std::string BytesAs() const {
    std::vector<TestSection> all = {{.type = SHT_NULL}};
    all.insert(all.end(), sections.begin(), sections.end());
    std::vector<Elf64_Phdr> programs = segments;
    if (!build_id.empty()) {
      const Elf64_Nhdr note = {
          .n_namesz = 4,
          .n_descsz = static_cast<Elf64_Word>(build_id.size()),
          .n_type = NT_GNU_BUILD_ID};
      std::string bytes = BytesOf(note) + std::string("GNU\0", 4) + build_id;
      while (bytes.size() % 4 != 0) bytes += '\0';
      all.push_back(
          {.name = ".note.gnu.build-id", .type = SHT_NOTE, .bytes = bytes});
      programs.push_back({.p_type = PT_NOTE,
                          .p_flags = PF_R,
                          .p_filesz = bytes.size(),
                          .p_memsz = bytes.size(),
                          .p_align = 4});
    }
    const size_t names_index = all.size();
    all.push_back({.name = ".shstrtab", .type = SHT_STRTAB});
    std::string names(1, '\0');
    std::vector<Shdr> headers;
    for (TestSection& section : all) {
      Shdr& header = headers.emplace_back();
      Narrow(header.sh_name, section.name.empty() ? 0 : names.size());
      header.sh_type = section.type;
      Narrow(header.sh_flags, section.flags);
      Narrow(header.sh_addr, section.address);
      header.sh_link = section.link;
      header.sh_addralign = 1;
      Narrow(header.sh_entsize, section.entry_bytes);
      if (!section.name.empty()) names += section.name + '\0';
    }
    all[names_index].bytes = names;
    std::string contents;
    const uint64_t first = sizeof(Ehdr) + programs.size() * sizeof(Phdr);
    for (size_t i = 1; i < all.size(); ++i) {
      while ((first + contents.size()) % 8 != 0) contents += '\0';
      Narrow(headers[i].sh_offset, first + contents.size());
      Narrow(headers[i].sh_size, all[i].bytes.size());
      contents += all[i].bytes;
      if (all[i].type == SHT_NOTE) {
        programs.back().p_offset = headers[i].sh_offset;
      }
    }
    while ((first + contents.size()) % 8 != 0) contents += '\0';
    Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = is_32_bit ? ELFCLASS32 : ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = machine;
    header.e_version = EV_CURRENT;
    Narrow(header.e_entry, entry);
    header.e_phoff = sizeof(Ehdr);
    Narrow(header.e_shoff, first + contents.size());
    header.e_ehsize = sizeof(Ehdr);
    header.e_phentsize = sizeof(Phdr);
    header.e_phnum = static_cast<Elf64_Half>(programs.size());
    header.e_shentsize = sizeof(Shdr);
    header.e_shnum = static_cast<Elf64_Half>(headers.size());
    header.e_shstrndx = static_cast<Elf64_Half>(names_index);
    std::string bytes = BytesOf(header);
    for (const Elf64_Phdr& program : programs) {
      Phdr part = {};
      part.p_type = program.p_type;
      part.p_flags = program.p_flags;
      Narrow(part.p_offset, program.p_offset);
      Narrow(part.p_vaddr, program.p_vaddr);
      Narrow(part.p_paddr, program.p_paddr);
      Narrow(part.p_filesz, program.p_filesz);
      Narrow(part.p_memsz, program.p_memsz);
      Narrow(part.p_align, program.p_align);
      bytes += BytesOf(part);
    }
    bytes += contents;
    for (const Shdr& section : headers) bytes += BytesOf(section);
    return bytes;
  }
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_TEST_ELF_H_
