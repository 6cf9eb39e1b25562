#include "tools/profile_command/start/other_kymo.h"

#include <elf.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "profiler/record/arena/layout.h"
#include "profiler/record/arena/layout_note.h"
#include "tools/profile_command/start/elf_file.h"

namespace kymo::tools {
namespace {

constexpr record::LayoutNote kOurs = {.layout = record::kLayoutVersion};

// False for what is no note of Kymo's: anybody may name a section so.
bool IsKymos(const record::LayoutNote& note) {
  return note.name_bytes == kOurs.name_bytes &&
         note.content_bytes == kOurs.content_bytes && note.type == kOurs.type &&
         memcmp(note.name, kOurs.name, sizeof(kOurs.name)) == 0;
}

// The notes of a program's copies of Kymo.
std::vector<record::LayoutNote> NotesOf(const std::string& path) {
  const ElfFile file(path);
  const Elf64_Shdr* const section = file.Find(record::kLayoutNoteSection);
  if (section == nullptr) return {};
  std::vector<record::LayoutNote> notes =
      file.Content<record::LayoutNote>(*section);
  std::erase_if(notes,
                [](const record::LayoutNote& note) { return !IsKymos(note); });
  return notes;
}

bool IsOurs(const record::LayoutNote& note) {
  return note.layout == kOurs.layout;
}

}  // namespace

bool HasOtherKymo(const std::string& path) {
  return !std::ranges::all_of(NotesOf(path), IsOurs);
}

bool HasThisKymo(const std::string& path) {
  return std::ranges::any_of(NotesOf(path), IsOurs);
}

}  // namespace kymo::tools
