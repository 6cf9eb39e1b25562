// elf_image.h - an open ELF file, or one in memory, and its bytes.
//
//   const ElfImage image = module.image();
//   std::array<std::byte, 16> bytes;
//   if (image.Read(offset, bytes)) ...
//
// libelf keeps each section that it was asked for until the file is closed, and
// symbols and their names may take hundreds of megabytes. Read takes nothing.
//
// Errors:  false: the file does not have these bytes.
// Threads: any, concurrently.
#ifndef KYMO_PROFILER_SYMBOLIZE_STRIPPED_ELF_IMAGE_H_
#define KYMO_PROFILER_SYMBOLIZE_STRIPPED_ELF_IMAGE_H_

#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kymo::symbolize {

struct ElfImage {
  Elf* elf = nullptr;  // borrowed; null: there is no file
  int fd = -1;         // of the file; negative: it is in memory

  bool Read(uint64_t offset, std::span<std::byte> bytes) const noexcept;
  // All of a part; empty if the file does not have it.
  std::vector<std::byte> ReadAll(uint64_t offset, uint64_t size_bytes) const;

 private:
  uint64_t SizeBytes() const noexcept;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STRIPPED_ELF_IMAGE_H_
