#include "tools/profile_command/start/other_kymo.h"

#include <elf.h>
#include <string.h>

#include <cstdint>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "kymo/version.h"
#include "profiler/model/stack_table.h"
#include "profiler/record/arena/layout.h"
#include "profiler/record/arena/layout_note.h"
#include "tools/profile_command/start/elf_file.h"

namespace kymo::tools {
namespace {

// A program has one note for each library with Kymo that was linked into it.
constexpr uint64_t kMostNotesBytes = uint64_t{64} << 10;

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
       file.Content<record::LayoutNote>(*section, kMostNotesBytes)) {
    if (!IsKymos(note)) continue;
    (note.layout == kOurs.layout ? found.has_this : found.has_other) = true;
  }
  return found;
}

std::vector<std::string> DescribeOtherKymo(const model::Trace& trace,
                                           const std::string& target) {
  std::set<model::NameId> modules;
  const model::StackTable& stacks = trace.stacks();
  for (uint32_t i = 0; i < stacks.frame_count(); ++i) {
    modules.insert(stacks.frame(model::FrameId{i}).module);
  }
  std::set<std::string> files;
  for (const model::NameId id : modules) {
    const std::string_view module = trace.Name(id);
    if (module.starts_with('/') && module != target) files.emplace(module);
  }
  std::vector<std::string> sentences;
  for (const std::string& file : files) {
    const LinkedKymo linked = FindLinkedKymo(file);
    if (!linked.has_other || linked.has_this) continue;
    sentences.push_back(absl::StrCat(
        file,
        " was built with another version of Kymo, so its ranges are not "
        "recorded: build it with Kymo " KYMO_VERSION
        ", which this command is of"));
  }
  return sentences;
}

}  // namespace kymo::tools
