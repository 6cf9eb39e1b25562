#include "profiler/symbolize/stripped/elf_image.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace kymo::symbolize {

bool ElfImage::Read(uint64_t offset,
                    std::span<std::byte> bytes) const noexcept {
  if (elf == nullptr) return false;
  if (bytes.empty()) return true;  // memcpy takes no null pointer
  if (fd >= 0) {
    return pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(bytes.size());
  }
  size_t size = 0;
  const char* const memory = elf_rawfile(elf, &size);
  if (memory == nullptr || offset > size || bytes.size() > size - offset) {
    return false;
  }
  std::memcpy(bytes.data(), memory + offset, bytes.size());
  return true;
}

std::vector<std::byte> ElfImage::ReadAll(uint64_t offset,
                                         uint64_t size_bytes) const {
  const uint64_t size = SizeBytes();
  // Before the memory is taken: a file may say any number.
  if (offset > size || size_bytes > size - offset) return {};
  std::vector<std::byte> bytes(size_bytes);
  if (!Read(offset, bytes)) bytes.clear();
  return bytes;
}

uint64_t ElfImage::SizeBytes() const noexcept {
  if (elf == nullptr) return 0;
  if (fd >= 0) {
    struct stat status;
    return fstat(fd, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
  }
  size_t size = 0;
  return elf_rawfile(elf, &size) == nullptr ? 0 : size;
}

}  // namespace kymo::symbolize
