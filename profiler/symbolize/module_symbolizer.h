// module_symbolizer.h - finds names for the places of one module.
//
//   ModuleSymbolizer symbolizer(module, addresses);
//   for (const NamedFrame& frame : symbolizer.Name(address)) ...
//
// Names come from the debug information (functions, inlined calls, lines), else
// from the symbol tables (of stripped files and of Go, too), else they are
// "module+0x1f3a". Memory that no file backs is one place, "[anon]", and a file
// that is no ELF file is one, too. Making a symbolizer reads the tables, which
// stay in memory as long as it lives. A look-up then takes microseconds.
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_MODULE_SYMBOLIZER_H_
#define KYMO_PROFILER_SYMBOLIZE_MODULE_SYMBOLIZER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "profiler/symbolize/elf_module.h"

namespace kymo::symbolize {

// The readable form of a mangled name of C++ or Rust. Rust's names show neither
// hashes nor what LTO appended (".llvm.123"). Other names stay as they are.
std::string Demangle(const char* name);

struct NamedFrame {
  std::string function;
  uint64_t address = 0;  // in the module; unresolved: the function's, if known
  std::string file;
  uint32_t line = 0;
  bool is_inlined = false;
  bool is_resolved = true;
};

class ModuleSymbolizer {
 public:
  // `module` is borrowed. If its file was overwritten after it was opened,
  // nothing gets a name. `addresses`: those that Name is going to be asked for,
  // if they are known; fewer need less of a compressed file. Name knows other
  // addresses, too.
  explicit ModuleSymbolizer(const ElfModule& module,
                            std::span<const uint64_t> addresses = {});
  ~ModuleSymbolizer();

  // The function around `address` and the functions inlined there, outermost
  // first; never empty.
  std::vector<NamedFrame> Name(uint64_t address);

  const ElfModule& module() const noexcept { return module_; }
  // See DwarfFunctions, for what was asked until now.
  size_t missing_debug_files() const noexcept;

 private:
  struct Tables;

  const ElfModule& module_;
  std::unique_ptr<Tables> tables_;  // null: no image to look in
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_MODULE_SYMBOLIZER_H_
