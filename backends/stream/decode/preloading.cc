#include "backends/stream/decode/preloading.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "profiler/base/mapped/regular_file.h"
#include "profiler/base/owned_descriptor.h"

// The ELF header of this program, which has the runtime's architecture.
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

namespace kymo::stream {
namespace {

class File {
 public:
  explicit File(const std::string& path) : file_(OpenRegularFile(path)) {}

  size_t ReadAt(uint64_t at, void* to, size_t size) const {
    const ssize_t got = pread(file_.get(), to, size, static_cast<off_t>(at));
    return got > 0 ? static_cast<size_t>(got) : 0;
  }

 private:
  const OwnedDescriptor file_;
};

// The loader preloads nothing into a program with more rights than its user.
bool GivesRights(const std::string& path, const struct stat& about) {
  if ((about.st_mode & S_ISUID) != 0 && about.st_uid != geteuid()) return true;
  if ((about.st_mode & S_ISGID) != 0 && about.st_gid != getegid()) return true;
  return geteuid() != 0 &&
         getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

// The path of the loader that a program asks for; empty if it asks for none.
std::string LoaderOf(const File& file, const Elf64_Ehdr& header) {
  for (uint16_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const uint64_t at = header.e_phoff + uint64_t{i} * header.e_phentsize;
    if (file.ReadAt(at, &segment, sizeof(segment)) != sizeof(segment)) break;
    if (segment.p_type != PT_INTERP) continue;
    char path[256];
    const size_t size =
        file.ReadAt(segment.p_offset, path,
                    std::min<uint64_t>(segment.p_filesz, sizeof(path)));
    return std::string(path, strnlen(path, size));
  }
  return "";
}

// The path behind "#!" at the front of a script.
std::string InterpreterOf(std::string_view head) {
  head.remove_prefix(2);
  head = head.substr(0, head.find('\n'));
  head.remove_prefix(std::min(head.find_first_not_of(" \t"), head.size()));
  return std::string(head.substr(0, head.find_first_of(" \t")));
}

std::string Obstacle(const std::string& path, bool is_interpreter) {
  struct stat about;
  if (stat(path.c_str(), &about) != 0) return "";
  const File file(path);
  char head[256];
  const size_t size = file.ReadAt(0, head, sizeof(head));
  if (size >= 2 && memcmp(head, "#!", 2) == 0 && !is_interpreter) {
    const std::string interpreter = InterpreterOf({head, size});
    const std::string obstacle = Obstacle(interpreter, /*is_interpreter=*/true);
    return obstacle.empty()
               ? ""
               : "is run by " + interpreter + ", which " + obstacle;
  }
  if (GivesRights(path, about))
    return "is set-uid, set-gid or has capabilities";
  Elf64_Ehdr header;
  if (size < sizeof(header)) return "";
  memcpy(&header, head, sizeof(header));
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "";
  if (header.e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] ||
      header.e_machine != __ehdr_start.e_machine) {
    return "is of another architecture";
  }
  const std::string loader = LoaderOf(file, header);
  if (loader.empty()) return "is statically linked";
  // The runtime needs glibc: musl's loader would not start the program with it.
  if (loader.find("/ld-musl-") != std::string::npos) {
    return "is linked with musl, not glibc";
  }
  return "";
}

}  // namespace

std::string ObstacleToPreloading(const std::string& path) {
  return Obstacle(path, /*is_interpreter=*/false);
}

bool GivesMoreRights(const std::string& path) {
  struct stat about;
  return stat(path.c_str(), &about) == 0 && GivesRights(path, about);
}

}  // namespace kymo::stream
