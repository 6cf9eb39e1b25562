#include "tools/profile_command/start/other_kymo.h"

#include <elf.h>

#include <vector>

#include "profiler/record/arena/layout.h"
#include "profiler/record/arena/layout_note.h"
#include "tools/profile_command/start/elf_file.h"

namespace kymo::tools {

bool HasOtherKymo(const std::string& path) {
  const ElfFile file(path);
  const Elf64_Shdr* const section = file.Find(record::kLayoutNoteSection);
  if (section == nullptr) return false;
  const std::vector<record::LayoutNote> notes =
      file.Content<record::LayoutNote>(*section);
  return !notes.empty() && notes[0].layout != record::kLayoutVersion;
}

}  // namespace kymo::tools
