// debug_section.h - reads a section of debug information, decompressed.
//
//   DebugSectionReader reader(fd, section);
//   if (reader.Skip(offset) && reader.Read(bytes)) ...
//
// A reader goes forward only: compressed bytes can be read only from their
// beginning. For a compressed section it takes 150 KiB of memory, and Skip
// another 256 KiB while it runs. Otherwise it takes none.
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_STRIPPED_DEBUG_SECTION_H_
#define KYMO_PROFILER_SYMBOLIZE_STRIPPED_DEBUG_SECTION_H_

#include <gelf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::symbolize {

struct DebugSection {
  std::string name;
  GElf_Shdr header;
  uint64_t size_bytes = 0;  // when decompressed

  bool is_compressed() const { return (header.sh_flags & SHF_COMPRESSED) != 0; }
};

// The sections that DebugSectionReader can read: those that tell of functions
// and lines. Nothing if libdw has to read the file.
std::optional<std::vector<DebugSection>> ListDebugSections(Elf* elf, int fd);

// Whether a section of that name says that debug information has a part in
// other files, which libdw finds beside the one that it reads.
bool NeedsOtherFiles(std::string_view section_name);

// Sections that tell where variables are, macros, and indices that libdw does
// not read.
bool IsNeedlessSection(std::string_view name);

class DebugSectionReader {
 public:
  // Both are borrowed.
  DebugSectionReader(int fd, const DebugSection& section);
  ~DebugSectionReader();
  DebugSectionReader(const DebugSectionReader&) = delete;
  DebugSectionReader& operator=(const DebugSectionReader&) = delete;

  // False if the section is damaged, or has less.
  bool Read(std::span<std::byte> into);
  bool Skip(uint64_t bytes);
  // Whether all was read, and its check sum is right.
  bool IsAtSoundEnd();

 private:
  struct Inflater;

  bool Fill();
  bool Inflate(std::span<std::byte> into);

  const int fd_;
  uint64_t left_bytes_;  // decompressed
  uint64_t at_;          // in the file
  uint64_t end_;
  std::vector<std::byte> buffer_;
  std::unique_ptr<Inflater> inflater_;  // null: not compressed
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STRIPPED_DEBUG_SECTION_H_
