// mini_debug_info.h - the symbols that a stripped file has in itself.
//
//   const MiniDebugInfo symbols(elf);
//   if (symbols.elf() != nullptr) ... an ELF image with .symtab
//
// Some distributions leave the names of all functions in the section
// .gnu_debugdata, compressed by xz (the manual of gdb, "MiniDebugInfo"). The
// file may be hostile: the image may take 64 MiB, and xz itself 64 MiB.
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_STRIPPED_MINI_DEBUG_INFO_H_
#define KYMO_PROFILER_SYMBOLIZE_STRIPPED_MINI_DEBUG_INFO_H_

#include <libelf.h>

#include <vector>

namespace kymo::symbolize {

class MiniDebugInfo {
 public:
  explicit MiniDebugInfo(Elf* elf);
  MiniDebugInfo(const MiniDebugInfo&) = delete;
  MiniDebugInfo& operator=(const MiniDebugInfo&) = delete;
  ~MiniDebugInfo();

  // Null if the file has none, or a damaged one.
  Elf* elf() const noexcept { return elf_; }

 private:
  std::vector<char> image_;
  Elf* elf_ = nullptr;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STRIPPED_MINI_DEBUG_INFO_H_
