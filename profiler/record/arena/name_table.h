// name_table.h - the texts of an arena's records, each with a number.
//
//   const uint32_t id = arena.InternName("matmul");
//   arena.NameText(id);  // "matmul", in every process that maps the arena
//
// The table is a region of texts and an index: a hash table of their ids. An id
// is its text's place in the region, in steps of 8 bytes. A text is written
// once and never changes.
//
//   name index   | 0 | id | 0 | 0 | id | ...
//   name texts   | size + 1 | bytes, padded to 8 | size + 1 | ...
//
// Threads: any, of several processes. Lock-free. A process that dies between
//   storing and publishing a text leaks the text's bytes.
// Errors:  a name that finds no room becomes kNameLost, which the header
//   counts. The longest name has kMaxNameBytes; more is cut, and counted.
#ifndef KYMO_PROFILER_RECORD_ARENA_NAME_TABLE_H_
#define KYMO_PROFILER_RECORD_ARENA_NAME_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "profiler/record/arena/layout.h"

namespace kymo::record {

class NameTable {
 public:
  constexpr NameTable() noexcept = default;
  // REQUIRES: `index_capacity` is a power of two.
  NameTable(ArenaHeader* header, std::atomic<uint32_t>* index,
            uint32_t index_capacity, std::byte* texts,
            uint64_t text_bytes) noexcept
      : header_(header),
        index_(index),
        texts_(texts),
        text_bytes_(text_bytes),
        index_capacity_(index_capacity) {}

  // Makes the memory of a new arena an empty table: id 0 is kNameLost.
  void FormatNames() const noexcept;

  // The id of `text`, which is copied. Equal texts get equal ids, whichever
  // thread or process asks. kNameLost when the table is full.
  uint32_t InternName(std::string_view text) const noexcept;
  // "(name lost)" for kNameLost, and for a number that is no id.
  std::string_view NameText(uint32_t id) const noexcept;
  // The memory that texts have taken so far.
  std::span<const std::byte> name_texts() const noexcept;

 private:
  uint32_t StoreText(std::string_view text) const noexcept;

  ArenaHeader* header_ = nullptr;
  std::atomic<uint32_t>* index_ = nullptr;
  std::byte* texts_ = nullptr;
  uint64_t text_bytes_ = 0;
  uint32_t index_capacity_ = 0;
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_ARENA_NAME_TABLE_H_
