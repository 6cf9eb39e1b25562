// inflated_image.h - an ELF file's debug information, decompressed.
//
//   const InflatedImage image(elf, fd, addresses);
//   if (image.elf() != nullptr) dwarf = dwarf_begin_elf(image.elf(), ...);
//
// Distributions compress their debug packages. libdw decompresses all sections
// with zlib, which takes 60 ms for libc6-dbg. This takes a third of that: ISA-L
// is faster, and the sections that tell where variables are stay out. With a
// few addresses it takes a half of that third: of .debug_info and .debug_line,
// which are most, it decompresses only the beginning, up to the last part that
// these addresses need.
//
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_STRIPPED_INFLATED_IMAGE_H_
#define KYMO_PROFILER_SYMBOLIZE_STRIPPED_INFLATED_IMAGE_H_

#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace kymo::symbolize {

// Makes libdw leave out the sections of `elf` that tell where variables are,
// and macros and indices: they can be a fifth of the debug information. Changes
// what `elf` says of these sections, not the file. `elf` may be null.
void HideNeedlessSections(Elf* elf);

class InflatedImage {
 public:
  InflatedImage() = default;
  // `fd` is the file of `elf`, which may be null. Without addresses the image
  // has all units.
  InflatedImage(Elf* elf, int fd, std::span<const uint64_t> addresses = {});
  InflatedImage(InflatedImage&& other) noexcept
      : image_(std::exchange(other.image_, nullptr)),
        size_bytes_(other.size_bytes_),
        elf_(std::exchange(other.elf_, nullptr)),
        has_all_units_(other.has_all_units_) {}
  InflatedImage& operator=(InflatedImage&&) = delete;
  ~InflatedImage();

  // Has the debug sections alone. Null if nothing is compressed, or if it is
  // left to libdw: damaged sections, those compressed with zstd, and debug
  // information that has a part in other files. Damage behind the parts that
  // the addresses need is not seen.
  Elf* elf() const noexcept { return elf_; }

  // False: what it does not know of an address, the file may know.
  bool has_all_units() const noexcept { return has_all_units_; }

 private:
  class Maker;

  std::byte* image_ = nullptr;
  size_t size_bytes_ = 0;
  Elf* elf_ = nullptr;
  bool has_all_units_ = true;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STRIPPED_INFLATED_IMAGE_H_
