#include "tools/report_command/input_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

bool IsWholeTrace(std::string_view name) {
  return name == "trace.json" || name == "trace.json.gz";
}

// One of the files that --max_file_mib makes. Together they are not the trace:
// each repeats the ranges around it.
bool IsPartOfTrace(std::string_view name) {
  return name.starts_with("trace.steps_") &&
         (name.ends_with(".json") || name.ends_with(".json.gz"));
}

bool IsTensorboardTrace(std::string_view name) {
  return name.ends_with(".pt.trace.json") ||
         name.ends_with(".pt.trace.json.gz");
}

// The traces that a run left in the folder.
absl::StatusOr<std::vector<std::string>> TracesIn(const std::string& folder) {
  std::vector<std::string> whole, raw, tensorboard, parts;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (IsWholeTrace(name)) whole.push_back(entry.path().string());
    if (name == "kymo.raw") raw.push_back(entry.path().string());
    if (IsTensorboardTrace(name)) tensorboard.push_back(entry.path().string());
    if (IsPartOfTrace(name)) parts.push_back(entry.path().string());
  }
  if (error) {
    return absl::ErrnoToStatus(error.value(),
                               absl::StrCat("could not read '", folder, "'"));
  }
  for (std::vector<std::string>* const found : {&whole, &raw, &tensorboard}) {
    if (found->empty()) continue;
    std::sort(found->begin(), found->end());
    if (found != &tensorboard) found->resize(1);
    return *found;
  }
  if (parts.size() == 1) return parts;
  if (!parts.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "'", folder, "' has the trace in ", parts.size(),
        " parts: name one, such as ", *std::ranges::min_element(parts),
        "; for all of it, record without --max_file_mib"));
  }
  return absl::NotFoundError(
      absl::StrCat("'", folder,
                   "' has no trace.json, kymo.raw or *.pt.trace.json; name a "
                   "file"));
}

// A file without a name; -1 and errno.
int OpenUnnamed() {
  std::error_code error;
  std::string folder = fs::temp_directory_path(error).string();
  if (error) folder = "/tmp";
  const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  std::string path = folder + "/kymo-input-XXXXXX";
  const int named = mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) unlink(path.c_str());
  return named;
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

struct InputFiles::Unnamed {
  explicit Unnamed(int descriptor) : fd(descriptor) {}
  ~Unnamed() {
    if (fd >= 0) close(fd);
  }
  Unnamed(const Unnamed&) = delete;
  Unnamed& operator=(const Unnamed&) = delete;

  const int fd;
};

absl::StatusOr<InputFiles> InputFiles::Open(
    const std::vector<std::string>& names) {
  InputFiles files;
  for (const std::string& name : names) {
    KYMO_RETURN_IF_ERROR(files.Add(name));
  }
  return files;
}

absl::Status InputFiles::Add(const std::string& name) {
  struct stat status;
  if (stat(name.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    KYMO_ASSIGN_OR_RETURN(const std::vector<std::string> traces,
                          TracesIn(name));
    paths_.insert(paths_.end(), traces.begin(), traces.end());
    names_.insert(names_.end(), traces.begin(), traces.end());
    return absl::OkStatus();
  }
  // The importer reports a file that does not exist.
  if (stat(name.c_str(), &status) != 0 || S_ISREG(status.st_mode)) {
    paths_.push_back(name);
    names_.push_back(name);
    return absl::OkStatus();
  }
  const Unnamed pipe(open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (pipe.fd < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", name));
  }
  return AddPipe(name, pipe.fd);
}

absl::Status InputFiles::AddPipe(const std::string& name, int fd) {
  const auto kept = std::make_shared<const Unnamed>(OpenUnnamed());
  const auto cannot_keep = [&] {
    return absl::ErrnoToStatus(errno,
                               absl::StrCat("could not keep what ", name,
                                            " gives; try another TMPDIR"));
  };
  if (kept->fd < 0) return cannot_keep();
  std::vector<char> buffer(size_t{1} << 18);
  for (;;) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", name));
    }
    if (got == 0) break;
    if (!WriteAll(kept->fd, {buffer.data(), static_cast<size_t>(got)})) {
      return cannot_keep();
    }
  }
  paths_.push_back(absl::StrCat("/proc/self/fd/", kept->fd));
  names_.push_back(name);
  unnamed_.push_back(kept);
  return absl::OkStatus();
}

std::string InputFiles::WithNames(std::string_view text) const {
  std::string shown(text);
  for (size_t i = 0; i < paths_.size(); ++i) {
    if (paths_[i] == names_[i]) continue;
    for (size_t at = 0; (at = shown.find(paths_[i], at)) != shown.npos;
         at += names_[i].size()) {
      shown.replace(at, paths_[i].size(), names_[i]);
    }
  }
  return shown;
}

}  // namespace kymo::tools
