// static_names.h - names of objects in static storage.
//
//   if (IsStatic(module, address)) {
//     StaticNames names(module);
//     names.Of(address)       // "g_cache", "Server::instance+0x28"
//     names.Find(address)     // the same in parts
//   }
//
// Addresses are relative to the module. Names come from the symbol tables, the
// ones of installed debug information, too. Making an object reads the tables.
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_STATICS_STATIC_NAMES_H_
#define KYMO_PROFILER_SYMBOLIZE_STATICS_STATIC_NAMES_H_

#include <libelf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/symbolize/debug_file.h"
#include "profiler/symbolize/elf_module.h"

namespace kymo::symbolize {

// Whether the image has memory there that the program may write.
bool IsStatic(const ElfModule& module, uint64_t address);

class StaticNames {
 public:
  // `module` must outlive this object.
  explicit StaticNames(const ElfModule& module);

  // The object around an address, and how far from its beginning that is.
  struct Object {
    std::string name;
    uint64_t offset = 0;
    uint64_t size_bytes = 0;
  };
  // Nothing: no symbol names it.
  std::optional<Object> Find(uint64_t address) const;
  // As a text; empty: no symbol names it.
  std::string Of(uint64_t address) const;

 private:
  struct Symbol {
    uint64_t address = 0;
    uint64_t end = 0;
    bool is_global = false;
    const char* name = nullptr;
  };

  void AddTables(Elf* elf);

  DebugFile debug_file_;
  std::vector<Symbol> symbols_;  // by address, the better name first
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STATICS_STATIC_NAMES_H_
