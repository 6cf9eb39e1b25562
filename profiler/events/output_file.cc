#include "profiler/events/output_file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <ext/stdio_filebuf.h>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "profiler/base/descriptor.h"

namespace kymo {
namespace {

absl::Status CannotWrite(const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("cannot write ", path, ": ", std::strerror(errno)));
}

}  // namespace

absl::Status WriteOutputFile(const std::string& path,
                             const std::function<void(std::ostream&)>& write) {
  const int fd = AboveStandardStreams(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (fd < 0) return CannotWrite(path);
  // Closes the descriptor, at the latest at its end.
  __gnu_cxx::stdio_filebuf<char> buffer(fd, std::ios::out | std::ios::binary);
  std::ostream out(&buffer);
  errno = 0;
  write(out);
  out.flush();
  // Some file systems only tell at the end that there is no room.
  const bool is_written = out.good() && buffer.close() != nullptr;
  return is_written ? absl::OkStatus() : CannotWrite(path);
}

}  // namespace kymo
