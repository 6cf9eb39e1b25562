#include "profiler/symbolize/debug_file.h"

#include <elfutils/libdwelf.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "profiler/base/mapped/regular_file.h"
#include "profiler/symbolize/stripped/debuginfod.h"

namespace kymo::symbolize {
namespace {

constexpr char kDebugRoot[] = "/usr/lib/debug";

std::string BuildIdPath(const std::string& build_id) {
  if (build_id.size() < 2) return {};
  std::string hex;
  for (const char byte : build_id) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(byte)));
    hex += digits;
  }
  return std::string(kDebugRoot) + "/.build-id/" + hex.substr(0, 2) + "/" +
         hex.substr(2) + ".debug";
}

// The checksum of a file as debug links hold it.
uint32_t FileCrc(int fd) {
  std::vector<unsigned char> buffer(size_t{1} << 16);
  unsigned long crc = crc32(0, nullptr, 0);
  off_t at = 0;
  for (ssize_t got; (got = pread(fd, buffer.data(), buffer.size(), at)) > 0;
       at += got) {
    crc = crc32(crc, buffer.data(), static_cast<unsigned>(got));
  }
  return static_cast<uint32_t>(crc);
}

bool HasBuildId(Elf* elf, const std::string& build_id) {
  const void* bytes = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
  return size > 0 && static_cast<size_t>(size) == build_id.size() &&
         std::memcmp(bytes, build_id.data(), build_id.size()) == 0;
}

}  // namespace

DebugFile::DebugFile(DebugFile&& other) noexcept
    : file_(std::move(other.file_)),
      elf_(std::exchange(other.elf_, nullptr)),
      inflated_(std::move(other.inflated_)) {}

DebugFile::DebugFile(const std::string& path)
    : DebugFile(OpenRegularFile(path)) {}

DebugFile::DebugFile(OwnedDescriptor file) : file_(std::move(file)) {
  if (file_.is_open()) elf_ = elf_begin(file_.get(), ELF_C_READ, nullptr);
}

DebugFile::~DebugFile() {
  if (elf_ != nullptr) elf_end(elf_);
}

Elf* DebugFile::ElfForLibdw(std::span<const uint64_t> addresses) {
  inflated_.emplace(elf_, file_.get(), addresses);
  return inflated_->elf() != nullptr ? inflated_->elf() : elf_;
}

DebugFile DebugFile::For(const ElfModule& module) {
  const std::string& build_id = module.build_id();
  if (const std::string path = BuildIdPath(build_id); !path.empty()) {
    DebugFile file(path);
    if (file.elf_ != nullptr && HasBuildId(file.elf_, build_id)) return file;
  }
  DebugFile linked = ByLink(module);
  if (linked.elf_ != nullptr) return linked;
  DebugFile fetched(FindByDebuginfod(build_id));
  if (fetched.elf_ != nullptr && HasBuildId(fetched.elf_, build_id)) {
    return fetched;
  }
  return {};
}

DebugFile DebugFile::ByLink(const ElfModule& module) {
  const std::string& build_id = module.build_id();
  GElf_Word crc = 0;
  const char* const link = dwelf_elf_gnu_debuglink(module.elf(), &crc);
  if (link == nullptr) return {};
  const std::string folder =
      module.path().substr(0, module.path().find_last_of('/') + 1);
  for (const std::string& place :
       {folder, folder + ".debug/", kDebugRoot + folder}) {
    DebugFile file(place + link);
    if (file.elf_ == nullptr) continue;
    const bool belongs = build_id.empty() ? FileCrc(file.file_.get()) == crc
                                          : HasBuildId(file.elf_, build_id);
    if (belongs) return file;
  }
  return {};
}

}  // namespace kymo::symbolize
