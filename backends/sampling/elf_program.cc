#include "backends/sampling/elf_program.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "profiler/base/mapped/regular_file.h"
#include "profiler/base/owned_descriptor.h"

namespace kymo::sampling {
namespace {

// Whether `is_it` is true of a segment.
template <typename IsIt>
bool HasSegment(Elf* elf, const IsIt& is_it) {
  size_t count = 0;
  elf_getphdrnum(elf, &count);
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) break;
    if (is_it(segment)) return true;
  }
  return false;
}

bool HasInterpreter(Elf* elf) {
  return HasSegment(elf, [](const GElf_Phdr& segment) {
    return segment.p_type == PT_INTERP;
  });
}

// Each program of Go has a note with the number of its build.
bool HasNoteOfGo(Elf* elf) {
  constexpr std::string_view kOwner{"Go\0", 3};
  return HasSegment(elf, [&](const GElf_Phdr& segment) {
    if (segment.p_type != PT_NOTE) return false;
    Elf_Data* const data =
        elf_getdata_rawchunk(elf, static_cast<int64_t>(segment.p_offset),
                             segment.p_filesz, ELF_T_NHDR);
    if (data == nullptr) return false;
    const std::string_view bytes(static_cast<const char*>(data->d_buf),
                                 data->d_size);
    GElf_Nhdr note;
    size_t name = 0;
    size_t text = 0;
    for (size_t at = 0;
         (at = gelf_getnote(data, at, &note, &name, &text)) != 0;) {
      if (bytes.substr(name, note.n_namesz).starts_with(kOwner)) return true;
    }
    return false;
  });
}

bool IsNamedPython(const std::filesystem::path& path) {
  return path.filename().string().starts_with("python");
}

// Of "#!/usr/bin/env -S python3 -u": "python3". Empty if it is no script.
std::string InterpreterOf(const std::string& path) {
  constexpr int kMostBytes = 256;  // that the kernel reads
  std::string line(kMostBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(line.data(), kMostBytes);
  line.resize(static_cast<size_t>(file.gcount()));
  if (!line.starts_with("#!")) return "";
  std::istringstream words(line.substr(2, line.find('\n') - 2));
  std::string word;
  words >> word;
  if (std::filesystem::path(word).filename() != "env") return word;
  while (words >> word) {
    const bool is_name = word[0] != '-' && word.find('=') == std::string::npos;
    if (is_name) return word;
  }
  return "";
}

// By path: a program may be executable but not readable.
bool ChangesUser(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 &&
         (((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
          ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()));
}

bool IsHidden(const std::string& path) {
  return faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0 &&
         faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

}  // namespace

ElfProgram InspectProgram(const std::string& path) {
  ElfProgram program = {.changes_user = ChangesUser(path),
                        .is_hidden = IsHidden(path)};
  const OwnedDescriptor file = OpenRegularFile(path);
  if (!file.is_open()) return program;
  elf_version(EV_CURRENT);
  Elf* const elf = elf_begin(file.get(), ELF_C_READ, nullptr);
  if (elf != nullptr && elf_kind(elf) == ELF_K_ELF) {
    program.is_elf = true;
    program.is_static = !HasInterpreter(elf);
    program.is_go = HasNoteOfGo(elf);
  }
  if (elf != nullptr) elf_end(elf);
  return program;
}

std::string ObstacleToEvents(const std::string& path) {
  if (ChangesUser(path)) {
    return "is set-uid or set-gid, so the kernel ends the recording at its "
           "start; run the command as the user and the group that it becomes";
  }
  if (IsHidden(path)) {
    return "may be executed but not read by this user, so the kernel ends the "
           "recording at its start; run the command as root, or make the file "
           "readable (chmod +r)";
  }
  return "";
}

bool IsRunByPython(const std::string& path) {
  if (IsNamedPython(path)) return true;
  std::error_code error;
  const auto target = std::filesystem::canonical(path, error);
  if (error || !std::filesystem::is_regular_file(target, error)) return false;
  return IsNamedPython(target) || IsNamedPython(InterpreterOf(path));
}

bool HooksSeeWaits(const std::string& path) {
  const ElfProgram program = InspectProgram(path);
  return !program.is_static && !program.is_go && !IsRunByPython(path);
}

}  // namespace kymo::sampling
