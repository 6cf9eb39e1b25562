#include "profiler/symbolize/stripped/mapped_image.h"

#include <gelf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "profiler/symbolize/stripped/debug_section.h"
#include "profiler/symbolize/stripped/elf_section.h"

namespace kymo::symbolize {
namespace {

struct Range {
  uint64_t begin = std::numeric_limits<uint64_t>::max();
  uint64_t end = 0;
  uint64_t bytes = 0;  // of sections in between
};

// Whether libdw decompresses the section, or needs other files.
bool IsForLibdw(std::string_view name) {
  return name.starts_with(".zdebug_") || name.starts_with(".gnu.debuglto_") ||
         NeedsOtherFiles(name);
}

// Where a file's debug information is; nothing if libdw has to read the file.
std::optional<Range> FindDebugSections(Elf* elf) {
  Range range;
  for (const auto& [_, header, has_header, name] : ListElfSections(elf)) {
    if (!has_header || IsForLibdw(name)) return {};
    if (!name.starts_with(".debug_") || header.sh_type == SHT_NOBITS) continue;
    if ((header.sh_flags & SHF_COMPRESSED) != 0) return {};
    range.begin = std::min(range.begin, header.sh_offset);
    range.end = std::max(range.end, header.sh_offset + header.sh_size);
    range.bytes += header.sh_size;
  }
  return range;
}

}  // namespace

MappedImage::MappedImage(Elf* elf, int fd, uint64_t least_bytes) {
  const std::optional<Range> debug = FindDebugSections(elf);
  struct stat file;
  if (!debug || debug->bytes < least_bytes || debug->begin >= debug->end ||
      fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) ||
      debug->end > static_cast<uint64_t>(file.st_size)) {
    return;
  }
  begin_ = debug->begin;
  end_ = debug->end;
  size_bytes_ = static_cast<size_t>(file.st_size);
  // libelf writes to the headers of a file in memory.
  void* const memory = mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  if (memory == MAP_FAILED) return;
  memory_ = static_cast<std::byte*>(memory);
  guard_ = ShrinkGuard(memory_, size_bytes_);
  if (!guard_.is_in_force()) return;
  elf_ = elf_memory(reinterpret_cast<char*>(memory_), size_bytes_);
}

MappedImage::~MappedImage() {
  if (elf_ != nullptr) elf_end(elf_);
  if (memory_ == nullptr) return;
  guard_ = ShrinkGuard();
  munmap(memory_, size_bytes_);
}

void MappedImage::GiveBack() const noexcept {
  if (elf_ == nullptr) return;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = begin_ / page * page;
  madvise(memory_ + begin, end_ - begin, MADV_DONTNEED);
}

}  // namespace kymo::symbolize
