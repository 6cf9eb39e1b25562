// unwind_functions.h - finds where functions begin in a file without symbols.
//
// A stripped file still has its unwinding tables. Their search table
// (.eh_frame_hdr) lists the beginning of every function, and where in .eh_frame
// its size stands. That is enough to add up the samples of one function, even
// if the function has no name.
//
// Some files have tables for a part of their code only: Debian's chromium has
// them for 1 % of it. What lies between two functions is one piece of code.
//
// Format: Linux Standard Base, "DWARF Extensions", .eh_frame_hdr; the encodings
// that linkers and compilers write (table sorted, sdata4 relative to the
// section; functions sdata4 relative to their place).
//
// Memory: 8 bytes for each function. The tables stay in the file.
#ifndef KYMO_PROFILER_SYMBOLIZE_UNWIND_FUNCTIONS_H_
#define KYMO_PROFILER_SYMBOLIZE_UNWIND_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/symbolize/stripped/elf_image.h"

namespace kymo::symbolize {

class UnwindFunctions {
 public:
  struct Piece {
    uint64_t begin = 0;
    uint64_t end = 0;  // 0: not known
    bool is_function = true;

    bool operator==(const Piece&) const = default;
  };

  // `image` may be none, or a file without the table: then Find finds nothing.
  // REQUIRES: the file stays open longer.
  explicit UnwindFunctions(const ElfImage& image);

  // The function around `address`, or the code between two functions.
  std::optional<Piece> Find(uint64_t address) const;

  // For tests: reads the table of a section at `section_address`. Of a broken
  // or cut table it returns what it could read.
  static std::vector<uint64_t> Parse(std::span<const std::byte> section,
                                     uint64_t section_address);

 private:
  struct Section {
    uint64_t offset = 0;
    uint64_t size_bytes = 0;
    uint64_t address = 0;
  };

  static Section FindSection(Elf* elf, std::string_view wanted);
  // Of the function with this index; 0: not known.
  uint64_t EndOf(size_t index) const;

  ElfImage image_;
  std::vector<uint64_t> starts_;  // sorted
  Section header_;
  Section frames_;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_UNWIND_FUNCTIONS_H_
