#include "profiler/symbolize/process_mappings.h"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "profiler/base/clock.h"

namespace kymo::symbolize {
namespace {

constexpr uint64_t kEndOf32Bits = uint64_t{1} << 32;

// The kernel's name for memory without a file, made uniform. The vdso of a
// 32-bit program is not the one that this process has.
std::string AnonymousName(std::string_view path, uint64_t address) {
  if (path.empty() || path == "//anon") return "[anon]";
  if (path == "[vdso]" && address < kEndOf32Bits) return "[vdso32]";
  return std::string(path);
}

constexpr std::string_view kMemfd = "/memfd:";
constexpr std::string_view kDeletedMark = " (deleted)";

bool IsFile(std::string_view path) {
  return path.starts_with('/') && path != "//anon" && !path.starts_with(kMemfd);
}

// Whether the process runs the memfd as its program. The kernel takes memfds
// for deleted files. Code that is made at run time may lie in others.
bool IsProgramOfMemfd(int64_t pid, const std::string& path) {
  if (!path.starts_with(kMemfd)) return false;
  std::error_code error;
  const auto program = std::filesystem::read_symlink(
      "/proc/" + std::to_string(pid) + "/exe", error);
  return !error && program.string() == path + std::string(kDeletedMark);
}

}  // namespace

void AddMapping(const ProcessMapping& mapping, ModuleTable& modules,
                AddressSpace& space) {
  Mapping added{.start = mapping.address,
                .end = mapping.address + mapping.size_bytes};
  FileIdentity file = mapping.file;
  bool is_file = IsFile(file.path);
  if (!is_file) {
    std::string path = file.path;
    if (path.ends_with(kDeletedMark)) {
      path.resize(path.size() - kDeletedMark.size());
    }
    is_file = IsProgramOfMemfd(mapping.pid, path);
    if (is_file) file.path = path;
  }
  if (is_file) {
    file.begin = mapping.address;
    file.end = mapping.address + mapping.size_bytes;
    added.module = modules.File(mapping.pid, file);
  } else {
    added.module = modules.Named(AnonymousName(file.path, mapping.address));
  }
  const ElfModule& module = modules.module(added.module);
  // Without an image in memory only the absolute address has a meaning.
  if (is_file || module.elf() != nullptr) {
    added.delta = module.Delta(mapping.address, mapping.file_offset);
  }
  space.Map(added);
}

void AddMappings(int64_t pid, std::span<const ProcMapping> mappings,
                 TimeNs read_ns, ModuleTable& modules, AddressSpace& space) {
  for (const ProcMapping& mapping : mappings) {
    // A deleted file is not the file that now has its name.
    const TimeNs mapped_ns = mapping.is_deleted ? 0 : read_ns;
    AddMapping({.pid = pid,
                .address = mapping.start,
                .size_bytes = mapping.end - mapping.start,
                .file_offset = mapping.file_offset,
                .file = {.path = mapping.path,
                         .build_id = {},
                         .inode = mapping.inode,
                         .mapped_ns = mapped_ns}},
               modules, space);
  }
}

void AddOwnMappings(ModuleTable& modules, AddressSpace& space) {
  AddMappings(getpid(), ReadProcMaps(getpid()), MonotonicNs() + EpochOffsetNs(),
              modules, space);
}

}  // namespace kymo::symbolize
