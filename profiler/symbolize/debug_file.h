// debug_file.h - the installed debug information of a stripped module.
//
// Looks where debuggers look, by build id and by the debug link, below
// /usr/lib/debug and beside the module. Never asks the network: no debuginfod,
// whatever DEBUGINFOD_URLS says.
#ifndef KYMO_PROFILER_SYMBOLIZE_DEBUG_FILE_H_
#define KYMO_PROFILER_SYMBOLIZE_DEBUG_FILE_H_

#include <libelf.h>

#include <string>

#include "profiler/symbolize/elf_module.h"

namespace kymo::symbolize {

// An ELF file that is open while this lives.
class DebugFile {
 public:
  DebugFile() = default;
  DebugFile(DebugFile&& other) noexcept;
  DebugFile& operator=(DebugFile&&) = delete;
  ~DebugFile();

  // Not open if there is none that belongs to `module`.
  static DebugFile For(const ElfModule& module);

  Elf* elf() const noexcept { return elf_; }  // null: not open

 private:
  explicit DebugFile(const std::string& path);

  int fd_ = -1;
  Elf* elf_ = nullptr;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_DEBUG_FILE_H_
