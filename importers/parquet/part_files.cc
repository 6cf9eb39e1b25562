#include "importers/parquet/part_files.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/tables/table.h"

namespace kymo::parquet_import {
namespace {

namespace fs = std::filesystem;
using parquet::Checksums;
using parquet::FileReader;

constexpr std::string_view kVersionKey = "kymo.schema_version";
// What differs between the files of two recordings.
constexpr std::string_view kOfRecording[] = {"kymo.start_ns", "kymo.end_ns",
                                             "kymo.job", "kymo.rank"};

absl::Status FileError(const FileReader& file, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", what));
}

// kInvalidArgument unless the file is one of a trace of Kymo.
absl::Status CheckOurs(const FileReader& file) {
  const auto version = file.Metadata(kVersionKey);
  if (!version || !file.Metadata("kymo.table")) {
    return FileError(file, "this Parquet file is not of Kymo: it has no " +
                               std::string(kVersionKey) +
                               "; query it with DuckDB, for example");
  }
  const std::string ours = std::to_string(tables::kSchemaVersion);
  if (*version != ours) {
    const std::string theirs(file.Metadata("kymo.version").value_or("another"));
    return FileError(file, "its tables are of version " +
                               std::string(*version) +
                               ", and this Kymo reads " + ours +
                               "; read it with Kymo " + theirs);
  }
  if (tables::FindTable(*file.Metadata("kymo.table")) == nullptr) {
    return FileError(file, "there is no table '" +
                               std::string(*file.Metadata("kymo.table")) + "'");
  }
  return absl::OkStatus();
}

// TABLE/job=J/rank=R/FILE: the path of another table's file. Empty if the
// folders have other names.
std::string SiblingOf(const fs::path& path, std::string_view table,
                      std::string_view other) {
  const fs::path rank = path.parent_path();
  const fs::path job = rank.parent_path();
  const fs::path folder = job.parent_path();
  if (folder.filename() != fs::path(table)) return "";
  return (folder.parent_path() / fs::path(other) / job.filename() /
          rank.filename() / path.filename())
      .string();
}

template <typename T>
T NumberOf(std::optional<std::string_view> text) {
  T value = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

}  // namespace

absl::Status PartFiles::Add(FileReader file) {
  KYMO_RETURN_IF_ERROR(CheckOurs(file));
  if (!files_.empty()) {
    for (const std::string_view key : kOfRecording) {
      if (file.Metadata(key) == first().Metadata(key)) continue;
      return FileError(file, "it is of another recording than " +
                                 first().path() +
                                 ": their metadata differ in " +
                                 std::string(key) + "; export the trace again");
    }
  }
  const std::string table(*file.Metadata("kymo.table"));
  files_.emplace(table, std::move(file));
  return absl::OkStatus();
}

absl::Status PartFiles::AddSibling(const std::string& path,
                                   std::string_view table,
                                   Checksums checksums) {
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) {
    missing_.emplace_back(table);
    return absl::OkStatus();
  }
  KYMO_ASSIGN_OR_RETURN(FileReader file, FileReader::Open(path, checksums));
  if (file.Metadata("kymo.table") != table) {
    return FileError(file, "it is not the table '" + std::string(table) +
                               "', as its folder says");
  }
  return Add(std::move(file));
}

absl::StatusOr<PartFiles> PartFiles::Open(const std::string& path,
                                          Checksums checksums) {
  PartFiles files;
  KYMO_ASSIGN_OR_RETURN(FileReader named, FileReader::Open(path, checksums));
  KYMO_RETURN_IF_ERROR(CheckOurs(named));
  const std::string table(*named.Metadata("kymo.table"));
  KYMO_RETURN_IF_ERROR(files.Add(std::move(named)));
  for (const tables::Table& other : tables::AllTables()) {
    if (other.name == table) continue;
    KYMO_RETURN_IF_ERROR(files.AddSibling(SiblingOf(path, table, other.name),
                                          other.name, checksums));
  }
  return files;
}

const FileReader* PartFiles::Find(std::string_view table) const {
  const auto it = files_.find(table);
  return it == files_.end() ? nullptr : &it->second;
}

int64_t PartFiles::Fact(std::string_view key) const {
  return NumberOf<int64_t>(first().Metadata(key));
}

double PartFiles::RealFact(std::string_view key) const {
  return NumberOf<double>(first().Metadata(key));
}

uint64_t PartFiles::value_count() const {
  uint64_t values = 0;
  for (const auto& [table, file] : files_) {
    values += uint64_t{file.row_count()} * file.schema().columns.size();
  }
  return values;
}

}  // namespace kymo::parquet_import
