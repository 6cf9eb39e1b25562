// elf_file.h - reads sections of a 64-bit ELF file, which may be broken.
//
//   const ElfFile file(path);
//   if (const Elf64_Shdr* section = file.Find(".note.kymo")) {
//     for (char c : file.Content<char>(*section)) Use(c);
//   }
//
// What is not ELF has no sections.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_START_ELF_FILE_H_
#define KYMO_TOOLS_PROFILE_COMMAND_START_ELF_FILE_H_

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/base/owned_descriptor.h"

namespace kymo::tools {

class ElfFile {
 public:
  explicit ElfFile(const std::string& path);

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }

  // The section of a name; null if there is none.
  const Elf64_Shdr* Find(std::string_view name) const;

  // Larger than any program's symbol table.
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;

  // The content of a section. Empty if it is larger than `most_bytes`.
  template <typename T>
  std::vector<T> Content(const Elf64_Shdr& section,
                         uint64_t most_bytes = kMostBytes) const {
    if (section.sh_size > most_bytes) return {};
    std::vector<T> content(section.sh_size / sizeof(T));
    if (!Read(content.data(), content.size() * sizeof(T), section.sh_offset)) {
      return {};
    }
    return content;
  }

 private:
  bool Read(void* to, size_t size, uint64_t at) const;

  const OwnedDescriptor file_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<char> names_;  // of sections; ends with a zero
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_START_ELF_FILE_H_
