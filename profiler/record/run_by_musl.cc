#include "profiler/record/run_by_musl.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>

#include "profiler/base/descriptor.h"
#include "profiler/record/first.h"

namespace kymo {
namespace {

// By syscall(), so that the runtime's hook of pread does not take it for the
// program's. Negative if nothing can be read.
ssize_t ReadAt(int fd, void* to, size_t size, uint64_t at) noexcept {
  return syscall(SYS_pread64, fd, to, size, at);
}

template <typename T>
bool ReadValue(int fd, T* value, uint64_t at) noexcept {
  return ReadAt(fd, value, sizeof(T), at) == static_cast<ssize_t>(sizeof(T));
}

// Whether the file is musl's loader, which can be called to run a program.
bool IsLoaderOfMusl(std::string_view path) noexcept {
  const size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return path.starts_with("ld-musl-");
}

// Whether the program headers ask for musl's loader.
bool AsksForMusl(int fd) noexcept {
  Elf64_Ehdr header;
  if (!ReadValue(fd, &header, 0) ||
      memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return false;
  }
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    if (!ReadValue(fd, &part, header.e_phoff + i * sizeof(part))) return false;
    if (part.p_type != PT_INTERP) continue;
    char loader[256];
    const size_t wanted =
        part.p_filesz < sizeof(loader) ? part.p_filesz : sizeof(loader);
    const ssize_t size = ReadAt(fd, loader, wanted, part.p_offset);
    return size > 0 && std::string_view(loader, static_cast<size_t>(size))
                               .find("/ld-musl-") != std::string_view::npos;
  }
  return false;
}

// Opens what the kernel would run. Nothing but a file: to open a device or a
// pipe can do something.
int OpenFile(int folder, const char* path) noexcept {
  struct stat about;
  if (fstatat(folder, path, &about, 0) != 0 || !S_ISREG(about.st_mode)) {
    return -1;
  }
  return AboveStandardStreams(static_cast<int>(
      syscall(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)));
}

// Stores the path after "#!"; false if there is none.
bool InterpreterOf(int fd, char (&path)[256]) noexcept {
  const ssize_t read = ReadAt(fd, path, sizeof(path), 0);
  if (read < 2) return false;
  const std::string_view head(path, static_cast<size_t>(read));
  if (!head.starts_with("#!")) return false;
  const size_t begin = head.find_first_not_of(" \t", 2);
  if (begin == std::string_view::npos) return false;
  const size_t end = head.find_first_of(" \t\n", begin);
  if (end == std::string_view::npos) return false;
  memmove(path, path + begin, end - begin);
  path[end - begin] = '\0';
  return true;
}

// The kernel follows scripts of scripts, a few deep.
bool IsFileRunByMusl(int folder, const char* path, int scripts) noexcept {
  const int fd = OpenFile(folder, path);
  if (fd < 0) return false;
  char interpreter[256];
  const bool is_script = InterpreterOf(fd, interpreter);
  const bool is_musl = !is_script && (IsLoaderOfMusl(path) || AsksForMusl(fd));
  syscall(SYS_close, fd);
  if (!is_script || scripts == 0) return is_musl;
  return IsFileRunByMusl(AT_FDCWD, interpreter, scripts - 1);
}

}  // namespace

bool IsRunByMusl(int folder, const char* path) noexcept {
  constexpr int kScripts = 4;
  const int error = errno;
  const bool is_musl = IsFileRunByMusl(folder, path, kScripts);
  errno = error;
  return is_musl;
}

bool IsFoundRunByMusl(const char* file) noexcept {
  if (strchr(file, '/') != nullptr) return IsRunByMusl(AT_FDCWD, file);
  const char* const variable = getenv("PATH");
  std::string_view folders = variable == nullptr ? "/bin:/usr/bin" : variable;
  const int error = errno;
  const size_t length = strlen(file);
  while (true) {
    const size_t end = folders.find(':');
    const std::string_view folder = record::First(folders, end);
    char path[PATH_MAX];
    if (folder.size() + length + 2 <= sizeof(path)) {
      memcpy(path, folder.data(), folder.size());
      size_t at = folder.size();
      if (at > 0) path[at++] = '/';  // no folder is this one
      memcpy(path + at, file, length + 1);
      if (access(path, X_OK) == 0) {
        errno = error;
        return IsRunByMusl(AT_FDCWD, path);
      }
    }
    if (end == std::string_view::npos) break;
    folders.remove_prefix(end + 1);
  }
  errno = error;
  return false;
}

}  // namespace kymo
