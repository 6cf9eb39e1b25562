#include "tools/profile_command/own_allocator.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "profiler/base/owned_descriptor.h"

namespace kymo::tools {
namespace {

class File {
 public:
  explicit File(const std::string& path)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

  bool Read(void* to, size_t size, uint64_t at) const {
    return pread(file_.get(), to, size, static_cast<off_t>(at)) ==
           static_cast<ssize_t>(size);
  }

  // The content of a section. Empty if it is larger than any program's symbol
  // table can be.
  template <typename T>
  std::vector<T> Section(const Elf64_Shdr& section) const {
    constexpr uint64_t kMaxBytes = uint64_t{256} << 20;
    if (section.sh_size > kMaxBytes) return {};
    std::vector<T> content(section.sh_size / sizeof(T));
    if (!Read(content.data(), content.size() * sizeof(T), section.sh_offset)) {
      return {};
    }
    return content;
  }

 private:
  const OwnedDescriptor file_;
};

std::vector<Elf64_Shdr> Sections(const File& file) {
  Elf64_Ehdr header;
  if (!file.Read(&header, sizeof(header), 0) ||
      memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_shentsize != sizeof(Elf64_Shdr)) {
    return {};
  }
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!file.Read(sections.data(), sections.size() * sizeof(Elf64_Shdr),
                 header.e_shoff)) {
    return {};
  }
  return sections;
}

}  // namespace

bool BringsMalloc(const std::string& path) {
  const File file(path);
  const std::vector<Elf64_Shdr> sections = Sections(file);
  const auto table =
      std::find_if(sections.begin(), sections.end(),
                   [](const Elf64_Shdr& s) { return s.sh_type == SHT_DYNSYM; });
  if (table == sections.end() || table->sh_link >= sections.size()) {
    return false;
  }
  std::vector<char> names = file.Section<char>(sections[table->sh_link]);
  names.push_back('\0');
  bool has_malloc = false;
  for (const Elf64_Sym& symbol : file.Section<Elf64_Sym>(*table)) {
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
