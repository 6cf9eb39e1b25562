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

// False for what is no note of Kymo's: anybody may name a section so.
bool IsOther(const record::LayoutNote& note) {
  const record::LayoutNote ours = {.layout = record::kLayoutVersion};
  return note.name_bytes == ours.name_bytes &&
         note.content_bytes == ours.content_bytes && note.type == ours.type &&
         memcmp(note.name, ours.name, sizeof(ours.name)) == 0 &&
         note.layout != ours.layout;
}

}  // namespace

bool HasOtherKymo(const std::string& path) {
  const ElfFile file(path);
  const Elf64_Shdr* const section = file.Find(record::kLayoutNoteSection);
  if (section == nullptr) return false;
  const std::vector<record::LayoutNote> notes =
      file.Content<record::LayoutNote>(*section);
  return std::any_of(notes.begin(), notes.end(), IsOther);
}

}  // namespace kymo::tools
