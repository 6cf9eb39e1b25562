// mapped_image.h - a file with much debug information, mapped.
//
//   const MappedImage image(elf, fd);
//   if (image.elf() != nullptr) dwarf = dwarf_begin_elf(image.elf(), ...);
//   ...                 // look names up
//   image.GiveBack();   // now and then
//
// libelf reads all debug information of a file into memory, hundreds of
// megabytes of a large library, of which a few pages are needed. Here the pages
// stay the file's. What was read can be given back, and is read again from the
// kernel's cache when it is needed.
//
// Another process may shorten the file: then there are zeros
// (profiler/base/mapped/shrink_guard.h, which handles SIGBUS).
//
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_STRIPPED_MAPPED_IMAGE_H_
#define KYMO_PROFILER_SYMBOLIZE_STRIPPED_MAPPED_IMAGE_H_

#include <libelf.h>

#include <cstddef>
#include <cstdint>

#include "profiler/base/mapped/shrink_guard.h"

namespace kymo::symbolize {

class MappedImage {
 public:
  // Less is read as quickly as it is mapped, and does not matter.
  static constexpr uint64_t kLeastBytes = uint64_t{16} << 20;

  MappedImage() = default;
  // `fd` is the file of `elf`. Maps nothing if the file has less than
  // `least_bytes` of debug information, if that is compressed or a compiler's
  // own (.gnu.debuglto_), or if a part of it is in other files.
  MappedImage(Elf* elf, int fd, uint64_t least_bytes = kLeastBytes);
  MappedImage(const MappedImage&) = delete;
  MappedImage& operator=(const MappedImage&) = delete;
  ~MappedImage();

  // Null if it is not mapped.
  Elf* elf() const noexcept { return elf_; }
  // The pages of debug information that were read take no memory any more. All
  // addresses stay valid.
  void GiveBack() const noexcept;

 private:
  std::byte* memory_ = nullptr;
  size_t size_bytes_ = 0;
  ShrinkGuard guard_;
  // Where debug information is.
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  Elf* elf_ = nullptr;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STRIPPED_MAPPED_IMAGE_H_
