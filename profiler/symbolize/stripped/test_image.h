// test_image.h - an ELF file of a test, opened in memory.
//
//   const Image image(elf);
//   image.elf()
#ifndef KYMO_PROFILER_SYMBOLIZE_STRIPPED_TEST_IMAGE_H_
#define KYMO_PROFILER_SYMBOLIZE_STRIPPED_TEST_IMAGE_H_

#include <libelf.h>

#include <string>

#include "profiler/symbolize/test_elf.h"

namespace kymo::symbolize {

class Image {
 public:
  explicit Image(const TestElf& elf) : bytes_(elf.Bytes()) {
    elf_version(EV_CURRENT);
    elf_ = elf_memory(bytes_.data(), bytes_.size());
  }
  ~Image() { elf_end(elf_); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  Elf* elf() const { return elf_; }

 private:
  std::string bytes_;
  Elf* elf_;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STRIPPED_TEST_IMAGE_H_
