#include "tools/command_line/run_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

// The files that the last run made, a name on each line. Behind the name, once
// the run was through, a tab and the file's Stamp.
constexpr char kListFile[] = ".kymo-files";

// Tells a file from another one of its name, and from itself once changed.
// Empty if there is no such regular file.
std::string Stamp(const fs::path& path) {
  struct stat info = {};
  if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return "";
  return absl::StrCat(info.st_ino, " ", info.st_mtim.tv_sec, " ",
                      info.st_mtim.tv_nsec);
}

absl::Status CannotMake(int error, const std::string& path) {
  return absl::ErrnoToStatus(error,
                             absl::StrCat("could not make '", path, "'"));
}

// Removes the folders between `top` and a file that is gone, if they are empty.
void RemoveEmptyFolders(const fs::path& top, const std::string& name) {
  for (fs::path folder = fs::path(name).parent_path(); !folder.empty();
       folder = folder.parent_path()) {
    if (rmdir((top / folder).c_str()) != 0) return;
  }
}

}  // namespace

absl::StatusOr<std::string> MakeDatedFolder(const std::string& parent,
                                            const std::string& name) {
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) return CannotMake(error.value(), parent);
  char stamp[32];
  const time_t now = time(nullptr);
  tm local;
  strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
  const std::string first = absl::StrCat(parent, "/", name, "-", stamp);
  std::string path = first;
  for (int count = 2; mkdir(path.c_str(), 0777) != 0; ++count) {
    if (errno != EEXIST) return CannotMake(errno, path);
    path = absl::StrCat(first, "-", count);
  }
  return path;
}

absl::StatusOr<std::unique_ptr<RunFolder>> RunFolder::Take(
    const std::string& path) {
  KYMO_RETURN_IF_ERROR(OutputDirectory(path).CheckWritable());
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    return absl::ErrnoToStatus(errno,
                               absl::StrCat("could not open '", path, "'"));
  }
  std::unique_ptr<RunFolder> folder(new RunFolder(path, fd));
  // Some network file systems have no locks. There a second run is not seen.
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return absl::FailedPreconditionError(
        absl::StrCat("another run is writing into '", path, "'"));
  }
  return folder;
}

RunFolder::RunFolder(const std::string& path, int fd)
    : OutputDirectory(path), fd_(fd) {
  std::ifstream names(FullPath(kListFile));
  for (std::string line; std::getline(names, line);) {
    const size_t tab = line.find('\t');
    OldFile old = {.name = line.substr(0, tab)};
    old.stamp = tab == std::string::npos ? Stamp(FullPath(old.name))
                                         : line.substr(tab + 1);
    if (!old.stamp.empty()) old_.push_back(std::move(old));
  }
}

RunFolder::~RunFolder() { close(fd_); }

std::string RunFolder::FullPath(std::string_view name) const {
  return (fs::path(path()) / name).string();
}

bool RunFolder::IsStillThere(const OldFile& old) const {
  return old.stamp == Stamp(FullPath(old.name));
}

absl::Status RunFolder::RemoveOld() {
  for (const OldFile& old : old_) {
    if (!IsStillThere(old)) continue;
    Remove(old.name);
    // Remove refuses names outside of the folder.
    if (!IsStillThere(old)) RemoveEmptyFolders(path(), old.name);
  }
  old_.clear();
  const std::string list = FullPath(kListFile);
  if (unlink(list.c_str()) != 0 && errno != ENOENT) {
    return absl::ErrnoToStatus(errno,
                               absl::StrCat("could not remove '", list, "'"));
  }
  for (const std::string& name : listed_) KYMO_RETURN_IF_ERROR(List(name));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ByteSink>> RunFolder::Open(
    std::string_view name) {
  KYMO_RETURN_IF_ERROR(Note(name));
  return OutputDirectory::Open(name);
}

// Writes the name before the file exists, so that the next run finds also the
// files of a run that was killed. What is there already is the user's: the run
// may write over it, but no later run removes it.
absl::Status RunFolder::Note(std::string_view name) {
  if (noted_.contains(name)) return absl::OkStatus();
  noted_.emplace(name);
  std::error_code error;
  const bool is_there = fs::symlink_status(FullPath(name), error).type() !=
                        fs::file_type::not_found;
  const bool was_ours = std::ranges::any_of(old_, [&](const OldFile& old) {
    return old.name == name && IsStillThere(old);
  });
  if (is_there && !was_ours) return absl::OkStatus();
  KYMO_RETURN_IF_ERROR(List(name));
  listed_.emplace(name);
  return absl::OkStatus();
}

absl::Status RunFolder::List(std::string_view name) {
  const std::string list = FullPath(kListFile);
  std::ofstream names(list, std::ios::app);
  names << name << '\n' << std::flush;
  if (names) return absl::OkStatus();
  return absl::ErrnoToStatus(errno,
                             absl::StrCat("could not write '", list, "'"));
}

void RunFolder::Finish() {
  std::string text;
  for (const std::string& name : listed_) {
    const std::string stamp = Stamp(fs::path(path()) / name);
    if (!stamp.empty()) absl::StrAppend(&text, name, "\t", stamp, "\n");
  }
  // If it cannot be written, the names stay.
  const absl::StatusOr<std::unique_ptr<ByteSink>> list =
      OutputDirectory::Open(kListFile);
  if (!list.ok() || !(*list)->Append(text).ok()) return;
  const absl::Status committed = (*list)->Commit();
  static_cast<void>(committed);
}

bool RunFolder::HasFiles() const {
  return std::ranges::any_of(noted_, [this](const std::string& name) {
    std::error_code error;
    return fs::exists(fs::path(path()) / name, error);
  });
}

}  // namespace kymo::tools
