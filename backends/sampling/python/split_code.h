// split_code.h - finds the parts of a function that the compiler put elsewhere.
//
//   for (const CodeRange& part : FindSplitParts(module.image(), named))
//
// GCC moves code of a function that it takes for rare behind other functions.
// That part is `f.cold`, a local symbol, which a stripped file does not have.
// Debian's CPython 3.14 has nearly all of the interpreter's loop there. The
// unwinding tables list such a part like a function. But other functions jump
// to a function's beginning only, and `f` jumps into the middle of `f.cold`.
//
// x86-64 only; none is found elsewhere.
// Any file may be mapped, so there are limits: 8 functions, 2 MiB of code, and
// 64 parts. What is beyond them is not looked at.
// Threads: any, but one at a time for an image. Cost: reads the code once, and
// each unwinding entry to which it jumps, 1,024 at most.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_SPLIT_CODE_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_SPLIT_CODE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/symbolize/stripped/elf_image.h"

namespace kymo::sampling {

// Addresses relative to the file, as symbols have them.
struct CodeRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  bool Has(uint64_t address) const noexcept {
    return address >= begin && address < end;
  }
  bool operator==(const CodeRange&) const = default;
};

inline constexpr size_t kMostFunctions = 8;
inline constexpr size_t kMostParts = 64;

// The parts that belong to one of these, and are none of them. By address;
// empty if the file has no unwinding tables.
std::vector<CodeRange> FindSplitParts(const symbolize::ElfImage& image,
                                      std::span<const CodeRange> functions);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_SPLIT_CODE_H_
