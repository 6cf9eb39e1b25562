// layout_note.h - tells from a file which Kymo was linked into it.
//
//   KYMO_LAYOUT_NOTE(kLayoutVersion);   // at namespace scope, once in a file
//
// A program and the collector must agree on the arena's layout (layout.h). A
// copy of Kymo that does not know the collector's layout records nothing, and
// cannot say so. So each copy leaves a note in its file, which the collector
// reads before the program starts: section .note.kymo, in the form of elf(5).
// A second note there is for other copies in the process (host/copies.h).
#ifndef KYMO_PROFILER_RECORD_ARENA_LAYOUT_NOTE_H_
#define KYMO_PROFILER_RECORD_ARENA_LAYOUT_NOTE_H_

#include <cstdint>

namespace kymo::record {

inline constexpr char kLayoutNoteSection[] = ".note.kymo";
inline constexpr uint32_t kLayoutNoteType = 1;
// Of a note whose last member is the distance to the copy's `this_copy` instead
// (../host/copies.cc).
inline constexpr uint32_t kCopyNoteType = 2;

struct LayoutNote {
  uint32_t name_bytes = sizeof(name);
  uint32_t content_bytes = sizeof(layout);
  uint32_t type = kLayoutNoteType;
  char name[8] = "Kymo";
  uint32_t layout;
};
static_assert(sizeof(LayoutNote) == 24);

}  // namespace kymo::record

// Formatted by hand, since clang-format breaks within the attribute.
// clang-format off
#define KYMO_LAYOUT_NOTE(version)                                  \
  [[gnu::used, gnu::section(".note.kymo"), gnu::aligned(4)]] const \
      ::kymo::record::LayoutNote kymo_layout_note = {.layout = (version)}
// clang-format on

#endif  // KYMO_PROFILER_RECORD_ARENA_LAYOUT_NOTE_H_
