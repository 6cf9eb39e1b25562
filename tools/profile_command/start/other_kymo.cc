#include "tools/profile_command/start/other_kymo.h"

#include <elf.h>
#include <string.h>

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

}  // namespace

LinkedKymo FindLinkedKymo(const std::string& path) {
  const ElfFile file(path);
  const Elf64_Shdr* const section = file.Find(record::kLayoutNoteSection);
  LinkedKymo found;
  if (section == nullptr) return found;
  for (const record::LayoutNote& note :
       file.Content<record::LayoutNote>(*section)) {
    if (!IsKymos(note)) continue;
    (note.layout == kOurs.layout ? found.has_this : found.has_other) = true;
  }
  return found;
}

}  // namespace kymo::tools
