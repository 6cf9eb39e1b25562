#include "profiler/events/output_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace kymo {

absl::Status WriteOutputFile(const std::string& path,
                             const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (out.good()) write(out);
  out.flush();
  if (out.good()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot write ", path, ": ", std::strerror(errno)));
}

}  // namespace kymo
