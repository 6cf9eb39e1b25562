// module_symbolizer.h - names for the places of one module.
//
//   ModuleSymbolizer symbolizer(module);
//   for (const NamedFrame& frame : symbolizer.Name(address)) ...
//
// Debug information first (functions, inlined calls, lines), then the symbol
// tables, else "module+0x1f3a". Tables are read when the symbolizer is made and
// stay in memory with it; a look-up then costs microseconds.
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_MODULE_SYMBOLIZER_H_
#define KYMO_PROFILER_SYMBOLIZE_MODULE_SYMBOLIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/symbolize/elf_module.h"

namespace kymo::symbolize {

// The readable form of a mangled C++ name; any other name as it is.
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
  // `module` is borrowed. One whose file was overwritten since it was opened
  // names nothing.
  explicit ModuleSymbolizer(const ElfModule& module);
  ~ModuleSymbolizer();

  // The function around `address` and what is inlined there, outermost first;
  // never empty.
  std::vector<NamedFrame> Name(uint64_t address);

  const ElfModule& module() const noexcept { return module_; }

 private:
  struct Tables;

  const ElfModule& module_;
  std::unique_ptr<Tables> tables_;  // null: nothing to look in
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_MODULE_SYMBOLIZER_H_
