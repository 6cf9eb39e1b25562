#include "tools/command_line/user_folder.h"

#include <stdlib.h>

#include <filesystem>
#include <system_error>

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

std::string FolderOfBazelsCaller() {
  const char* const value = getenv("BUILD_WORKING_DIRECTORY");
  return value == nullptr ? "" : value;
}

std::string CurrentFolder() {
  std::error_code error;
  return fs::current_path(error).string();
}

std::string WhereTheUserStood() {
  const std::string stood = FolderOfBazelsCaller();
  return stood.empty() ? CurrentFolder() : stood;
}

}  // namespace

void GoWhereTheUserStood() {
  const std::string stood = FolderOfBazelsCaller();
  if (stood.empty()) return;
  // With --run_under the folder is the target's runfiles, where plain
  // `bazel run` would have put it; only our own runfiles are no place for it.
  std::error_code error;
  const std::string self = fs::read_symlink("/proc/self/exe", error).string();
  if (CurrentFolder().starts_with(self + ".runfiles")) {
    fs::current_path(stood, error);
  }
}

std::string UserPath(const std::string& path) {
  if (path.starts_with("/")) return path;
  return (fs::path(WhereTheUserStood()) / path).lexically_normal().string();
}

std::string ShownPath(const std::string& path) {
  const std::string relative =
      fs::path(path).lexically_relative(WhereTheUserStood()).string();
  std::string shown =
      relative.empty() || relative.starts_with("..") ? path : relative;
  while (shown.size() > 1 && shown.back() == '/') shown.pop_back();
  return shown;
}

}  // namespace kymo::tools
