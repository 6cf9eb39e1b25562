// test_dwarf.h - small debug information that tests make.
//
//   ListedSet(0, {{0x1000, 16}, {0, 0}}) + ListedSet(40, {{0x2000, 8}, {0, 0}})
//
// Format: DWARF 5, sections 6.1.2, 7.5.1 and 7.5.3.
#ifndef KYMO_PROFILER_SYMBOLIZE_STRIPPED_TEST_DWARF_H_
#define KYMO_PROFILER_SYMBOLIZE_STRIPPED_TEST_DWARF_H_

#include <dwarf.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/symbolize/test_elf.h"

namespace kymo::symbolize {

using Pairs = std::vector<std::pair<uint64_t, uint64_t>>;

inline constexpr uint32_t kIs64Bit = 0xffffffff;

// A set of .debug_aranges, as section 6.1.2 of DWARF 5 has it.
inline std::string ListedSet(uint64_t offset, const Pairs& pairs,
                             bool is_64_bit = false, uint16_t version = 2,
                             uint8_t address_bytes = 8,
                             uint8_t segment_bytes = 0) {
  std::string body = BytesOf(version);
  body += is_64_bit ? BytesOf(offset) : BytesOf(static_cast<uint32_t>(offset));
  body += BytesOf(address_bytes) + BytesOf(segment_bytes);
  const size_t length_bytes = is_64_bit ? 12 : 4;
  while ((body.size() + length_bytes) % 16 != 0) body += '\x7f';
  for (const auto& [start, size] : pairs) {
    body += BytesOf(start) + BytesOf(size);
  }
  return (is_64_bit ? BytesOf(kIs64Bit) + BytesOf(uint64_t{body.size()})
                    : BytesOf(static_cast<uint32_t>(body.size()))) +
         body;
}

// An abbreviation of a unit that has one attribute.
inline std::string UnitAbbreviation(const std::string& form) {
  return std::string("\x01\x11\x00\x10", 4) + form + std::string(3, '\0');
}
inline std::string UnitAbbreviation() { return UnitAbbreviation("\x17"); }

// A unit of UnitAbbreviation() whose lines are at `lines`, and `padding` bytes.
inline std::string UnitOfLines(uint32_t lines, size_t padding = 0,
                               uint16_t version = 5,
                               uint8_t type = DW_UT_compile) {
  const std::string abbreviations = BytesOf(uint32_t{0});
  const std::string address_bytes = BytesOf(uint8_t{8});
  const std::string body =
      BytesOf(version) +
      (version < 5 ? abbreviations + address_bytes
                   : BytesOf(type) + address_bytes + abbreviations) +
      "\x01" + BytesOf(lines) + std::string(padding, '\0');
  return BytesOf(static_cast<uint32_t>(body.size())) + body;
}

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STRIPPED_TEST_DWARF_H_
