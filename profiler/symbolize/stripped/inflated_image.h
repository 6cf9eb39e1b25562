// inflated_image.h - an ELF file's debug information, decompressed.
//
//   const InflatedImage image(elf, fd);
//   if (image.elf() != nullptr) dwarf = dwarf_begin_elf(image.elf(), ...);
//
// Distributions compress their debug packages. libdw decompresses all sections
// with zlib, which takes 60 ms for libc6-dbg. This takes a third of that: ISA-L
// is faster, one populated mapping saves page faults, and the sections that
// tell where variables are stay out.
//
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_STRIPPED_INFLATED_IMAGE_H_
#define KYMO_PROFILER_SYMBOLIZE_STRIPPED_INFLATED_IMAGE_H_

#include <libelf.h>

#include <cstddef>
#include <string_view>
#include <utility>

namespace kymo::symbolize {

// Makes libdw leave out the sections of `elf` that tell where variables are,
// and macros and indices: they can be a fifth of the debug information. Changes
// what `elf` says of these sections, not the file. `elf` may be null.
void HideNeedlessSections(Elf* elf);

// Whether a section of that name says that debug information has a part in
// other files, which libdw finds beside the one that it reads.
bool NeedsOtherFiles(std::string_view section_name);

class InflatedImage {
 public:
  InflatedImage() = default;
  // `fd` is the file of `elf`, which may be null.
  InflatedImage(Elf* elf, int fd);
  InflatedImage(InflatedImage&& other) noexcept
      : image_(std::exchange(other.image_, nullptr)),
        size_bytes_(other.size_bytes_),
        elf_(std::exchange(other.elf_, nullptr)) {}
  InflatedImage& operator=(InflatedImage&&) = delete;
  ~InflatedImage();

  // Has the debug sections alone. Null if nothing is compressed, or if it is
  // left to libdw: damaged sections, those compressed with zstd, and debug
  // information that has a part in other files.
  Elf* elf() const noexcept { return elf_; }

 private:
  std::byte* image_ = nullptr;
  size_t size_bytes_ = 0;
  Elf* elf_ = nullptr;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STRIPPED_INFLATED_IMAGE_H_
