// foreign_names.h - names that other people's code hands over as text.
//
//   const ForeignName name = NameOf(text);      // const char*, maybe null
//   slot->name = name.id;                       // or kNameInPayload, and then
//   payload = name.text;                        // the text has to go along
//
// Here a pointer is no name, unlike a Literal's: the program may reuse its
// memory for another text. So each text is copied once, and a pointer leads to
// the copy of its last text. One comparison tells whether that is still its
// text:
//
//   pointer --hash--> ForeignText* --strcmp--> its id
//                         ^ on a difference
//   text ----hash--------+  made where there is none
//
// If a pointer's text changes all the time (a buffer for messages), the pointer
// is given up after kMaxTextChanges. Its records then carry their texts, which
// is cheaper than to look them up.
//
// Limits: a text has up to kMaxForeignTextBytes. A process has up to
//   kMaxPassingForeignTexts distinct texts that are not registered but made for
//   a call. Beyond either limit a name is kNameInPayload: it costs more, but it
//   is not lost.
// Handles: a ForeignText stays valid for ever. So a program can get its address
//   as the handle of a registered string (FindForeignText tells whether an
//   address is such a handle).
// Threads: any; lock-free. A forked child keeps its parent's.
// Standard library: nothing that needs linking, for the preloaded runtime.
#ifndef KYMO_PROFILER_RECORD_FOREIGN_NAMES_H_
#define KYMO_PROFILER_RECORD_FOREIGN_NAMES_H_

#include <string.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profiler/record/arena/layout.h"

namespace kymo::record {

inline constexpr size_t kMaxForeignTextBytes = 1024;
inline constexpr uint32_t kMaxPassingForeignTexts = 1u << 16;
inline constexpr uint32_t kMaxTextChanges = 64;
// Shown for a null pointer.
inline constexpr char kNoForeignName[] = "(no name)";

struct ForeignText {
  static constexpr uint32_t kMark = 0x4b4e616du;

  uint32_t mark;             // kMark
  uint32_t size;             // bytes, without the NUL
  std::atomic<uint32_t> id;  // kNameLost: not asked for yet
  uint32_t hash;
  ForeignText* next;          // of the same place in the table
  std::atomic<void*> others;  // what a tool behind us calls it
  char text[];                // NUL-terminated
};

struct ForeignName {
  uint32_t id = kNameInPayload;
  std::string_view text;  // where id is kNameInPayload; borrowed
};

inline constexpr int kForeignPointerBits = 12;

struct ForeignPointer {
  std::atomic<ForeignText*> text;    // the copy of its last text
  std::atomic<const void*> pointer;  // the last that used the entry
  std::atomic<uint32_t> changes;     // of its text
};

// Made on first use; null until then, and where memory is short.
struct ForeignTables {
  ForeignPointer by_pointer[size_t{1} << kForeignPointerBits];
  std::atomic<ForeignText*> by_text[size_t{1} << 15];
  std::atomic<uint64_t> used;     // bytes behind this
  std::atomic<uint32_t> passing;  // texts, see Limits
};
extern constinit std::atomic<ForeignTables*> foreign_tables;

inline ForeignPointer& PlaceOfPointer(ForeignTables* tables,
                                      const void* text) noexcept {
  return tables
      ->by_pointer[reinterpret_cast<uint64_t>(text) * 0x9e3779b97f4a7c15u >>
                   (64 - kForeignPointerBits)];
}

// Whether a text names a thing that the program registers, or one event.
enum class ForeignUse : uint8_t { kRegistered, kPassing };
// Copies a text. Null when there is no room.
ForeignText* AddForeignText(std::string_view text,
                            ForeignUse use = ForeignUse::kRegistered) noexcept;
// The text of a handle; null if Kymo did not make the handle.
ForeignText* FindForeignText(const void* handle) noexcept;
// Zeroed bytes at a lasting address; null when there is no room.
void* AllocateForeign(size_t bytes) noexcept;
// Whether `address` is in the memory of AllocateForeign.
bool IsForeignAllocation(const void* address) noexcept;

// The recorder's id. REQUIRES: this process records (IsAnythingOn).
uint32_t ForeignIdSlow(ForeignText* text) noexcept;
inline uint32_t ForeignId(ForeignText* text) noexcept {
  const uint32_t id = text->id.load(std::memory_order_relaxed);
  return id != kNameLost ? id : ForeignIdSlow(text);
}
inline ForeignName NameOf(ForeignText* text) noexcept {
  return {ForeignId(text), {text->text, text->size}};
}

ForeignName NameOfSlow(const char* text) noexcept;

// REQUIRES: this process records (IsAnythingOn).
inline ForeignName NameOf(const char* text) noexcept {
  ForeignTables* const tables = foreign_tables.load(std::memory_order_acquire);
  if (tables != nullptr && text != nullptr) [[likely]] {
    // acquire: the text of what is found there is complete.
    ForeignText* const known =
        PlaceOfPointer(tables, text).text.load(std::memory_order_acquire);
    if (known != nullptr && strcmp(known->text, text) == 0) [[likely]] {
      return NameOf(known);
    }
  }
  return NameOfSlow(text);
}

// Writes a wide text (code points, as wchar_t is here) as UTF-8 to `to`, and
// cuts what does not fit. Returns the number of bytes.
inline constexpr size_t kMaxWideTextBytes = 512;
size_t Utf8OfWide(const wchar_t* text, char* to, size_t size) noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_FOREIGN_NAMES_H_
