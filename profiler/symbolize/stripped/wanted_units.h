// wanted_units.h - the parts of the debug information that addresses need.
//
//   if (UnitsStandAlone(abbreviations)) {
//     const auto wanted = ReadWantedUnits(listed, addresses, info);
//     if (wanted) Use(wanted->info, wanted->list);
//   }
//
// A separate file describes thousands of units, and a few addresses need a few
// of them. Most units refer to nothing outside of themselves but strings, lines
// and ranges, which are in other sections. Such a unit can be moved.
//
// Format: DWARF 5, sections 6.1.2, 7.5.1 and 7.5.3.
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_STRIPPED_WANTED_UNITS_H_
#define KYMO_PROFILER_SYMBOLIZE_STRIPPED_WANTED_UNITS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "profiler/symbolize/stripped/debug_section.h"
#include "profiler/symbolize/stripped/listed_units.h"

namespace kymo::symbolize {

// Whether no unit refers to another unit or to another file: dwz and
// link-time optimisation make units that do. `abbreviations` is .debug_abbrev.
bool UnitsStandAlone(std::span<const std::byte> abbreviations);

struct WantedUnits {
  std::vector<std::byte> info;  // units, one behind another
  std::vector<std::byte> list;  // a .debug_aranges of them
};

// Reads .debug_info up to the last wanted unit. Nothing if an address is not
// listed, or if a unit is of a kind that may not stand alone.
std::optional<WantedUnits> ReadWantedUnits(std::vector<ListedUnit> listed,
                                           std::span<const uint64_t> addresses,
                                           DebugSectionReader& info);

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STRIPPED_WANTED_UNITS_H_
