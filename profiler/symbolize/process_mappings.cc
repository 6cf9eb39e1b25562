#include "profiler/symbolize/process_mappings.h"

#include <unistd.h>

#include <string>
#include <string_view>

#include "profiler/base/clock.h"

namespace kymo::symbolize {
namespace {

// The kernel's name for memory without a file, made uniform.
std::string AnonymousName(std::string_view path) {
  if (path.empty() || path == "//anon") return "[anon]";
  return std::string(path);
}

bool IsFile(std::string_view path) {
  return path.starts_with('/') && path != "//anon" &&
         !path.starts_with("/memfd:");
}

}  // namespace

void AddMapping(const ProcessMapping& mapping, ModuleTable& modules,
                AddressSpace& space) {
  Mapping added{.start = mapping.address,
                .end = mapping.address + mapping.size_bytes};
  const std::string& path = mapping.file.path;
  if (IsFile(path)) {
    FileIdentity file = mapping.file;
    file.begin = mapping.address;
    file.end = mapping.address + mapping.size_bytes;
    added.module = modules.File(mapping.pid, file);
  } else {
    added.module = modules.Named(AnonymousName(path));
  }
  const ElfModule& module = modules.module(added.module);
  // Without an image in memory only the absolute address has a meaning.
  if (IsFile(path) || module.elf() != nullptr) {
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
