// go_functions.h - names of Go's functions, from Go's own table.
//
//   const GoFunctions functions(elf);
//   if (const auto name = functions.Find(address)) ...
//
// A Go program needs this table (.gopclntab) to run, so it is there if symbols
// and debug information are stripped. Read are the formats of Go 1.16, 1.18 and
// 1.20 and later, on 64-bit little-endian machines.
// The file may be hostile: every offset in it is checked.
// Threads: any, concurrently.
#ifndef KYMO_PROFILER_SYMBOLIZE_STRIPPED_GO_FUNCTIONS_H_
#define KYMO_PROFILER_SYMBOLIZE_STRIPPED_GO_FUNCTIONS_H_

#include <libelf.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace kymo::symbolize {

class GoFunctions {
 public:
  // `elf` is borrowed; null, or without the table: nothing is found.
  explicit GoFunctions(Elf* elf);

  // The name of the function around `address`; empty if there is none. The text
  // ends with a zero byte and lives as long as the file.
  std::string_view Find(uint64_t address) const;

 private:
  template <typename T>
  bool Read(uint64_t offset, T* value) const;
  // The entries of the table of functions, by address: where one begins, and
  // where its description is.
  uint64_t EntryOf(uint64_t index) const;
  uint64_t DescriptionOf(uint64_t index) const;

  std::span<const char> table_;
  uint64_t count_ = 0;
  uint64_t text_start_ = 0;
  uint64_t names_ = 0;        // where they begin in the table
  uint64_t functions_ = 0;    // likewise
  bool has_offsets_ = false;  // 4 bytes from text_start_, else 8 bytes
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STRIPPED_GO_FUNCTIONS_H_
