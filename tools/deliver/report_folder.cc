#include "tools/deliver/report_folder.h"

#include <sys/stat.h>

#include <filesystem>
#include <new>
#include <optional>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

using FileId = std::pair<dev_t, ino_t>;

std::optional<FileId> IdOf(const char* path) noexcept {
  struct stat status;
  if (stat(path, &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

}  // namespace

ReportFolder::ReportFolder(std::string path,
                           const std::vector<std::string>& inputs)
    : OutputDirectory(std::move(path)) {
  const auto add = [&](const std::string& file) {
    if (const auto id = IdOf(file.c_str())) inputs_.insert(*id);
  };
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!fs::is_directory(input, error)) {
      add(input);
      continue;
    }
    for (fs::recursive_directory_iterator file(input, error), end;
         !error && file != end; file.increment(error)) {
      add(file->path().string());
    }
  }
}

bool ReportFolder::IsInput(const std::string& name) const noexcept {
  const auto id = IdOf(name.c_str());
  return id && inputs_.contains(*id);
}

absl::StatusOr<std::unique_ptr<ByteSink>> ReportFolder::Open(
    std::string_view name) {
  const std::string file = (fs::path(path()) / name).string();
  if (IsInput(file)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", file,
                     "' is what the report reads, and would be replaced: give "
                     "another --output_dir"));
  }
  const bool was_there = IdOf(file.c_str()).has_value();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    opened_.emplace(name, was_there);
  }
  return OutputDirectory::Open(name);
}

void ReportFolder::Remove(std::string_view name) noexcept {
  try {
    if (IsInput((fs::path(path()) / name).string())) return;
  } catch (const std::bad_alloc&) {
    return;  // as OutputDirectory's
  }
  OutputDirectory::Remove(name);
}

}  // namespace kymo::tools
