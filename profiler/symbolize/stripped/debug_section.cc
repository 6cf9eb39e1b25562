#include "profiler/symbolize/stripped/debug_section.h"

#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "profiler/symbolize/stripped/elf_section.h"

namespace kymo::symbolize {
namespace {

constexpr size_t kBufferBytes = size_t{64} << 10;

// One byte becomes 1032 at most (zlib's manual). Who says more is not believed,
// since that would take memory for nothing.
constexpr uint64_t kMostTimesLarger = 1032;

bool ReadExactly(int fd, uint64_t offset, void* into, size_t size) {
  return pread(fd, into, size, static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(size);
}

}  // namespace

bool NeedsOtherFiles(std::string_view section_name) {
  return section_name == ".gnu_debugaltlink" || section_name == ".debug_addr";
}

bool IsNeedlessSection(std::string_view name) {
  for (const std::string_view begin :
       {".debug_loc", ".debug_mac", ".debug_pub", ".debug_gnu_pub"}) {
    if (name.starts_with(begin)) return true;
  }
  return false;
}

std::optional<std::vector<DebugSection>> ListDebugSections(Elf* elf, int fd) {
  std::vector<DebugSection> sections;
  struct stat file;
  if (fstat(fd, &file) != 0 || file.st_size < 0) return {};
  auto left_bytes = static_cast<uint64_t>(file.st_size);
  for (const auto& [_, section_header, has_header, name] :
       ListElfSections(elf)) {
    if (!has_header || NeedsOtherFiles(name)) return {};
    if (!name.starts_with(".debug_") || IsNeedlessSection(name) ||
        section_header.sh_type != SHT_PROGBITS) {
      continue;
    }
    DebugSection section = {.name = std::string(name),
                            .header = section_header};
    // Sections that together are larger than the file are not believed, either.
    if (section.header.sh_size > left_bytes) return {};
    left_bytes -= section.header.sh_size;
    section.size_bytes = section.header.sh_size;
    if (section.is_compressed()) {
      Elf64_Chdr header;
      if (section.header.sh_size < sizeof(header) ||
          !ReadExactly(fd, section.header.sh_offset, &header, sizeof(header)) ||
          header.ch_type != ELFCOMPRESS_ZLIB ||
          header.ch_size / kMostTimesLarger > section.header.sh_size) {
        return {};
      }
      section.size_bytes = header.ch_size;
    }
    if (section.size_bytes > std::numeric_limits<uint32_t>::max()) return {};
    sections.push_back(std::move(section));
  }
  return sections;
}

struct DebugSectionReader::Inflater {
  inflate_state state;
};

DebugSectionReader::DebugSectionReader(int fd, const DebugSection& section)
    : fd_(fd),
      left_bytes_(section.size_bytes),
      at_(section.header.sh_offset),
      end_(section.header.sh_offset + section.header.sh_size) {
  if (!section.is_compressed()) return;
  at_ += sizeof(Elf64_Chdr);
  inflater_ = std::make_unique<Inflater>();
  isal_inflate_init(&inflater_->state);
  inflater_->state.crc_flag = ISAL_ZLIB;
  buffer_.resize(kBufferBytes);
}

DebugSectionReader::~DebugSectionReader() = default;

bool DebugSectionReader::Fill() {
  const ssize_t size =
      pread(fd_, buffer_.data(), std::min<uint64_t>(buffer_.size(), end_ - at_),
            static_cast<off_t>(at_));
  if (size <= 0) return false;
  at_ += static_cast<uint64_t>(size);
  inflater_->state.next_in = reinterpret_cast<uint8_t*>(buffer_.data());
  inflater_->state.avail_in = static_cast<uint32_t>(size);
  return true;
}

// As much as there is, until `into` is full.
bool DebugSectionReader::Inflate(std::span<std::byte> into) {
  inflate_state& state = inflater_->state;
  state.next_out = reinterpret_cast<uint8_t*>(into.data());
  state.avail_out = static_cast<uint32_t>(into.size());
  while (true) {
    if (isal_inflate(&state) != ISAL_DECOMP_OK) return false;
    if (state.avail_out == 0 || state.block_state == ISAL_BLOCK_FINISH) {
      return true;
    }
    if (state.avail_in == 0 && !Fill()) return false;
  }
}

bool DebugSectionReader::Read(std::span<std::byte> into) {
  // Compressed bytes may hold more than their header says.
  if (into.size() > left_bytes_) return false;
  left_bytes_ -= into.size();
  if (inflater_ != nullptr) {
    return Inflate(into) && inflater_->state.avail_out == 0;
  }
  while (!into.empty()) {
    const ssize_t size =
        pread(fd_, into.data(), std::min<uint64_t>(into.size(), end_ - at_),
              static_cast<off_t>(at_));
    if (size <= 0) return false;
    at_ += static_cast<uint64_t>(size);
    into = into.subspan(static_cast<size_t>(size));
  }
  return true;
}

bool DebugSectionReader::Skip(uint64_t bytes) {
  if (inflater_ == nullptr) {
    if (bytes > left_bytes_) return false;
    left_bytes_ -= bytes;
    at_ += bytes;
    return true;
  }
  std::vector<std::byte> skipped(std::min<uint64_t>(bytes, 4 * kBufferBytes));
  while (bytes > 0) {
    const auto size = std::min<uint64_t>(bytes, skipped.size());
    if (!Read({skipped.data(), size})) return false;
    bytes -= size;
  }
  return true;
}

bool DebugSectionReader::IsAtSoundEnd() {
  if (inflater_ == nullptr) return at_ == end_;
  std::byte more;
  return Inflate({&more, 1}) && inflater_->state.avail_out == 1;
}

}  // namespace kymo::symbolize
