#include "tools/profile_command/start/runtime_files.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

bool IsPreloadable(const std::string& path) {
  return path.find_first_of(" :$") == std::string::npos;
}

// A folder in `place` that other users cannot write to; empty if there is none.
// Others may read it, because a target may go on as another user.
std::string OwnFolderIn(const std::string& place) {
  std::string folder = absl::StrCat(place, "/kymo-", geteuid());
  if (mkdir(folder.c_str(), 0755) == 0) {
    chmod(folder.c_str(), 0755);  // whatever the umask says
  } else if (errno != EEXIST) {
    return "";
  }
  struct stat info;
  const bool is_own = lstat(folder.c_str(), &info) == 0 &&
                      S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
                      (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  return is_own ? folder : "";
}

// Makes `link` lead to `folder`. Whoever looks meanwhile sees the old link or
// the new one.
bool LeadTo(const std::string& folder, const std::string& link) {
  std::error_code error;
  if (fs::read_symlink(link, error) == folder) return true;
  static std::atomic<int> count = 0;
  const std::string fresh = absl::StrCat(link, ".", getpid(), ".", ++count);
  unlink(fresh.c_str());
  return symlink(folder.c_str(), fresh.c_str()) == 0 &&
         rename(fresh.c_str(), link.c_str()) == 0;
}

}  // namespace

absl::StatusOr<std::string> OwnPath(const std::string& link) {
  std::error_code error;
  const fs::path self = fs::read_symlink(link, error);
  if (!error) return self.string();
  return absl::FailedPreconditionError(
      absl::StrCat("cannot read ", link, ", which says where Kymo's libraries ",
                   "are: ", error.message(), "; mount /proc"));
}

std::string FindRuntimeFile(const std::string& self, const std::string& name) {
  const fs::path folder = fs::path(self).parent_path();
  std::vector<fs::path> paths = {
      folder / "runtime" / name, folder / name,
      fs::path(self + ".runfiles/kymo/tools/runtime/" + name)};
  // Elsewhere, the folder above may be one that others write to.
  if (folder.filename() == "bin") {
    paths.insert(paths.begin(), {folder.parent_path() / "lib/kymo" / name,
                                 folder.parent_path() / "libexec/kymo" / name});
  }
  std::error_code error;
  for (const fs::path& path : paths) {
    if (path.is_absolute() && fs::exists(path, error)) return path.string();
  }
  return "";
}

std::span<const std::string> LinkPlaces() {
  // What is in /var/tmp lives longest.
  static const std::string places[] = {"/var/tmp", "/tmp", "/dev/shm"};
  return places;
}

absl::StatusOr<std::string> PreloadPath(const std::string& path,
                                        std::span<const std::string> places) {
  if (IsPreloadable(path)) return path;
  const fs::path library(path);
  const std::string folder = library.parent_path().string();
  const std::string name = library.filename().string();
  if (!IsPreloadable(name)) {
    return absl::FailedPreconditionError(absl::StrCat(
        path,
        " cannot be preloaded, because the loader splits paths at spaces and "
        "colons, and expands dollar signs; give the file a name without "
        "spaces, colons and dollar "
        "signs"));
  }
  for (const std::string& place : places) {
    const std::string own = OwnFolderIn(place);
    if (own.empty() || !IsPreloadable(own)) continue;
    const std::string link = absl::StrCat(
        own, "/",
        absl::Hex(std::hash<std::string>()(folder), absl::kZeroPad16));
    if (LeadTo(folder, link)) return absl::StrCat(link, "/", name);
  }
  return absl::FailedPreconditionError(absl::StrCat(
      path,
      " cannot be preloaded, because the loader splits paths at spaces and "
      "colons and expands dollar signs, and no link to it could be made in ",
      absl::StrJoin(places, ", "),
      "; move it to a path without spaces, colons and dollar signs"));
}

}  // namespace kymo::tools
