// listed_units.h - which units a file's .debug_aranges lists, by address.
//
//   for (const ListedUnit& unit : ReadListedUnits(elf)) ...
//
// The list saves reading the first entry of each unit. A compiler may leave it
// out, and a linker may leave functions in it that it discarded.
//
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_STRIPPED_LISTED_UNITS_H_
#define KYMO_PROFILER_SYMBOLIZE_STRIPPED_LISTED_UNITS_H_

#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kymo::symbolize {

struct ListedUnit {
  uint64_t start;
  uint64_t end;
  uint64_t offset;  // of the unit's header in .debug_info
};

// In the order of the file, as far as the section is sound. Empty if there is
// none, or if it is compressed.
std::vector<ListedUnit> ReadListedUnits(Elf* elf);
// The same of a section's bytes.
std::vector<ListedUnit> ReadListedUnits(std::span<const std::byte> section);

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STRIPPED_LISTED_UNITS_H_
