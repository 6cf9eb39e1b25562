#include "profiler/symbolize/stripped/mini_debug_info.h"

#include <gelf.h>
#include <lzma.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "profiler/symbolize/stripped/elf_section.h"

namespace kymo::symbolize {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr uint64_t kMostMemory = uint64_t{64} << 20;  // of the decoder
constexpr size_t kBlockBytes = size_t{1} << 20;

// Empty if the bytes are damaged or too many.
std::vector<char> Decompress(const Elf_Data& data) {
  std::vector<char> image;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kMostMemory, 0) != LZMA_OK) return image;
  stream.next_in = static_cast<const uint8_t*>(data.d_buf);
  stream.avail_in = data.d_size;
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK && image.size() < kMostBytes) {
    const size_t size = image.size();
    image.resize(size + kBlockBytes);
    stream.next_out = reinterpret_cast<uint8_t*>(image.data() + size);
    stream.avail_out = kBlockBytes;
    result = lzma_code(&stream, LZMA_FINISH);
    image.resize(image.size() - stream.avail_out);
  }
  lzma_end(&stream);
  if (result != LZMA_STREAM_END) image.clear();
  return image;
}

}  // namespace

MiniDebugInfo::MiniDebugInfo(Elf* elf) {
  const auto section = FindElfSection(elf, ".gnu_debugdata");
  if (!section) return;
  const Elf_Data* const data = elf_rawdata(section->section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return;
  image_ = Decompress(*data);
  if (image_.empty()) return;
  elf_version(EV_CURRENT);
  elf_ = elf_memory(image_.data(), image_.size());
  GElf_Ehdr header;
  if (elf_ != nullptr &&
      (elf_kind(elf_) != ELF_K_ELF || gelf_getehdr(elf_, &header) == nullptr)) {
    elf_end(elf_);
    elf_ = nullptr;
  }
}

MiniDebugInfo::~MiniDebugInfo() {
  if (elf_ != nullptr) elf_end(elf_);
}

}  // namespace kymo::symbolize
