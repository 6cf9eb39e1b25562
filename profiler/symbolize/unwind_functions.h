// unwind_functions.h - finds where functions begin in a file without symbols.
//
// A stripped file still has its unwinding tables. Their search table
// (.eh_frame_hdr) lists the beginning of every function. That is enough to add
// up the samples of one function, even if the function has no name.
//
// Format: Linux Standard Base, "DWARF Extensions", .eh_frame_hdr; the encoding
// that linkers write (table sorted, sdata4 relative to the section).
#ifndef KYMO_PROFILER_SYMBOLIZE_UNWIND_FUNCTIONS_H_
#define KYMO_PROFILER_SYMBOLIZE_UNWIND_FUNCTIONS_H_

#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kymo::symbolize {

class UnwindFunctions {
 public:
  // `elf` may be null, or a file without the table: then Start finds nothing.
  explicit UnwindFunctions(Elf* elf);

  // The beginning of the last function at or before `address`.
  std::optional<uint64_t> Start(uint64_t address) const;

  // For tests: reads the table of a section at `section_address`. Of a broken
  // or cut table it returns what it could read.
  static std::vector<uint64_t> Parse(std::span<const std::byte> section,
                                     uint64_t section_address);

 private:
  std::vector<uint64_t> starts_;  // sorted
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_UNWIND_FUNCTIONS_H_
