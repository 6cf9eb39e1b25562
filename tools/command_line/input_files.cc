#include "tools/command_line/input_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/whole_io.h"

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

// Adds the files of the events of all jobs and ranks, which stand for all
// tables (importers/parquet).
void FindParquet(const fs::path& tables, std::vector<std::string>& found) {
  std::error_code error;
  // Its folders are two deep, job=J/rank=R; links are not followed.
  fs::recursive_directory_iterator entry(tables / "events", error);
  for (; !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    if (entry.depth() == 2) entry.disable_recursion_pending();
    if (entry->path().extension() == ".parquet") {
      found.push_back(entry->path().string());
    }
  }
}

// The traces that a run left in a folder.
struct Found {
  std::vector<std::string> traces;
  std::vector<std::string> parts;  // of one, if there are no traces
};

absl::StatusOr<Found> Look(const std::string& folder) {
  std::vector<std::string> whole, raw, tensorboard, parquet, parts;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (IsWholeTrace(name)) whole.push_back(entry.path().string());
    if (name == "kymo.raw" || name == "kymo.raw.gz")
      raw.push_back(entry.path().string());
    if (IsTensorboardTrace(name)) tensorboard.push_back(entry.path().string());
    if (IsPartOfTrace(name)) parts.push_back(entry.path().string());
  }
  if (error) {
    return absl::ErrnoToStatus(error.value(),
                               absl::StrCat("could not read '", folder, "'"));
  }
  // The folder of a run, or the folder `parquet` in it.
  FindParquet(fs::path(folder) / "parquet", parquet);
  if (parquet.empty()) FindParquet(folder, parquet);
  for (std::vector<std::string>* const found :
       {&whole, &raw, &tensorboard, &parquet}) {
    if (found->empty()) continue;
    std::sort(found->begin(), found->end());
    if (found == &whole || found == &raw) found->resize(1);
    return Found{.traces = *found};
  }
  if (parts.size() == 1) return Found{.traces = parts};
  return Found{.parts = parts};
}

// Of the folders in this one, those with a trace, the newest first.
std::vector<std::string> RunsIn(const std::string& folder) {
  std::vector<std::pair<fs::file_time_type, std::string>> runs;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (!entry.is_directory(ignored)) continue;
    const absl::StatusOr<Found> found = Look(entry.path().string());
    if (!found.ok() || (found->traces.empty() && found->parts.empty())) {
      continue;
    }
    runs.emplace_back(entry.last_write_time(ignored), entry.path().string());
  }
  std::ranges::sort(runs, std::greater<>());
  std::vector<std::string> paths;
  for (auto& [time, path] : runs) paths.push_back(std::move(path));
  return paths;
}

absl::Status NoTraceIn(const std::string& folder) {
  constexpr size_t kMostNamed = 5;
  std::vector<std::string> runs = RunsIn(folder);
  if (runs.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "'", folder,
        "' has no trace.json, kymo.raw, *.pt.trace.json or parquet/; "
        "name a file"));
  }
  const size_t count = runs.size();
  runs.resize(std::min(count, kMostNamed));
  return absl::NotFoundError(absl::StrCat(
      "'", folder, "' has the folders of ", count,
      count == 1 ? " run" : " runs", "; name one, the newest first: ",
      absl::StrJoin(runs, ", "), count > kMostNamed ? ", ..." : ""));
}

// At least one.
absl::StatusOr<std::vector<std::string>> TracesIn(const std::string& folder) {
  KYMO_ASSIGN_OR_RETURN(Found found, Look(folder));
  if (!found.traces.empty()) return std::move(found.traces);
  if (found.parts.empty()) return NoTraceIn(folder);
  return absl::NotFoundError(absl::StrCat(
      "'", folder, "' has the trace in ", found.parts.size(),
      " parts: name one, such as ", *std::ranges::min_element(found.parts),
      "; for all of it, record without --max_file_mib"));
}

std::string TemporaryFolder() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  return error ? "/tmp" : folder.string();
}

}  // namespace

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
    if (traces.size() > 1 && folder_of_several_.empty()) {
      folder_of_several_ = name;
    }
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
  const OwnedDescriptor pipe(open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!pipe.is_open()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", name));
  }
  return AddPipe(name, pipe.get());
}

absl::Status InputFiles::AddPipe(const std::string& name, int fd) {
  OwnedDescriptor kept = MakeUnnamedFile(TemporaryFolder());
  const auto cannot_keep = [&] {
    return absl::ErrnoToStatus(errno,
                               absl::StrCat("could not keep what ", name,
                                            " gives; try another TMPDIR"));
  };
  if (!kept.is_open()) return cannot_keep();
  std::vector<char> buffer(size_t{1} << 18);
  for (uint64_t size = 0;;) {
    const ssize_t got =
        TEMP_FAILURE_RETRY(read(fd, buffer.data(), buffer.size()));
    if (got < 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", name));
    }
    if (got == 0) break;
    const auto bytes = static_cast<uint64_t>(got);
    if (!WriteWhole(kept.get(), size, buffer.data(), bytes)) {
      return cannot_keep();
    }
    size += bytes;
  }
  paths_.push_back(absl::StrCat("/proc/self/fd/", kept.get()));
  names_.push_back(name);
  unnamed_.push_back(std::move(kept));
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
