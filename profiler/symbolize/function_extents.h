// function_extents.h - where the functions of an ELF file begin and end.
//
//   FunctionExtents functions(elf);
//   if (const auto function = functions.Around(address)) Use(function->begin);
//
// By the symbols that the dynamic linker needs, and only if these do not know
// the address, by all. A table is read when it is needed first: that takes
// 0.1 us for each symbol.
// Threads: none. Memory: 16 bytes for each function.
#ifndef KYMO_PROFILER_SYMBOLIZE_FUNCTION_EXTENTS_H_
#define KYMO_PROFILER_SYMBOLIZE_FUNCTION_EXTENTS_H_

#include <libelf.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace kymo::symbolize {

struct FunctionExtent {
  uint64_t begin = 0;
  uint64_t end = 0;
};

class FunctionExtents {
 public:
  // `elf` must outlive this; null: nothing is known.
  explicit FunctionExtents(Elf* elf) : elf_(elf) {}

  std::optional<FunctionExtent> Around(uint64_t address);

 private:
  struct Table {
    bool is_read = false;
    std::vector<FunctionExtent> functions;  // by their beginning
  };

  void Read(const char* section, Table& table);

  Elf* elf_;
  Table dynamic_;
  Table all_;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_FUNCTION_EXTENTS_H_
