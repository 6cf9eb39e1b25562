// debug_file.h - finds the installed debug information of a stripped module.
//
// Looks where debuggers look: by build id and by debug link, below
// /usr/lib/debug and beside the module. Then it asks the user's debuginfod
// servers, if DEBUGINFOD_URLS names some (debuginfod.h).
#ifndef KYMO_PROFILER_SYMBOLIZE_DEBUG_FILE_H_
#define KYMO_PROFILER_SYMBOLIZE_DEBUG_FILE_H_

#include <libelf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "profiler/base/owned_descriptor.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/stripped/elf_image.h"
#include "profiler/symbolize/stripped/inflated_image.h"

namespace kymo::symbolize {

// An ELF file that stays open as long as the object lives.
class DebugFile {
 public:
  DebugFile() = default;
  DebugFile(DebugFile&& other) noexcept;
  DebugFile& operator=(DebugFile&&) = delete;
  ~DebugFile();

  // Opens the file that belongs to `module`; not open if there is none.
  static DebugFile For(const ElfModule& module);

  Elf* elf() const noexcept { return elf_; }  // null: not open
  ElfImage image() const noexcept { return {elf_, file_.get()}; }
  // What libdw reads: decompressed, if that is quicker, and then only what
  // these addresses need (inflated_image.h); without addresses, all. What an
  // earlier call returned is closed.
  Elf* ElfForLibdw(std::span<const uint64_t> addresses = {});
  // Whether that tells all that the file does.
  bool HasAllUnits() const { return !inflated_ || inflated_->has_all_units(); }

 private:
  explicit DebugFile(const std::string& path);
  explicit DebugFile(OwnedDescriptor file);
  static DebugFile ByLink(const ElfModule& module);

  OwnedDescriptor file_;
  Elf* elf_ = nullptr;
  std::optional<InflatedImage> inflated_;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_DEBUG_FILE_H_
