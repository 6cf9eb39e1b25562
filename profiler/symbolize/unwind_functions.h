// unwind_functions.h - where functions begin, in a file without symbols.
//
// A stripped file still has its unwinding tables, and their search table
// (.eh_frame_hdr) lists the beginning of every function: enough to add up the
// samples of one function, though it has no name.
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
  // Null or a file without the table: nothing is found.
  explicit UnwindFunctions(Elf* elf);

  // The beginning of the last function at or before `address`.
  std::optional<uint64_t> Start(uint64_t address) const;

  // For tests: the table of a section at `section_address`. What is not such a
  // table, or is cut, gives what could be read.
  static std::vector<uint64_t> Parse(std::span<const std::byte> section,
                                     uint64_t section_address);

 private:
  std::vector<uint64_t> starts_;  // sorted
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_UNWIND_FUNCTIONS_H_
