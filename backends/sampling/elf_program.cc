#include "backends/sampling/elf_program.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/base/descriptor.h"

namespace kymo::sampling {
namespace {

bool HasInterpreter(Elf* elf) {
  size_t count = 0;
  elf_getphdrnum(elf, &count);
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) break;
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

}  // namespace

ElfProgram InspectProgram(const std::string& path) {
  ElfProgram program;
  const int fd = AboveStandardStreams(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  // Stat by path: a program may be executable but not readable.
  if (stat(path.c_str(), &status) == 0) {
    program.changes_user =
        ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
        ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid());
  }
  if (fd < 0) return program;
  elf_version(EV_CURRENT);
  Elf* const elf = elf_begin(fd, ELF_C_READ, nullptr);
  if (elf != nullptr && elf_kind(elf) == ELF_K_ELF) {
    program.is_elf = true;
    program.is_static = !HasInterpreter(elf);
  }
  if (elf != nullptr) elf_end(elf);
  close(fd);
  return program;
}

}  // namespace kymo::sampling
