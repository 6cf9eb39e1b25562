// part_files.h - the files of one trace: one for each table, beside each other.
//
//   KYMO_ASSIGN_OR_RETURN(
//       const PartFiles files,
//       PartFiles::Open("out/parquet/events/job=a/rank=3/part-0.parquet"));
//   if (const parquet::FileReader* args = files.Find("args")) ...
//
// The path is that of any table's file; the others are found by their folders'
// names. A file alone, as somebody copied it, is a trace with one table.
//
// Errors:  those of FileReader::Open. kInvalidArgument: a file that is not
//   Kymo's, of another version of the schema, or of another recording than the
//   first. All name the file.
// Threads: Find from any.
#ifndef KYMO_IMPORTERS_PARQUET_PART_FILES_H_
#define KYMO_IMPORTERS_PARQUET_PART_FILES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/parquet/file_reader.h"

namespace kymo::parquet_import {

class PartFiles {
 public:
  static absl::StatusOr<PartFiles> Open(
      const std::string& path,
      parquet::Checksums checksums = parquet::Checksums::kVerify);

  // Null: there is no such file.
  const parquet::FileReader* Find(std::string_view table) const;
  // Tables that have no file.
  const std::vector<std::string>& missing() const { return missing_; }

  // A number of the files' metadata; 0 if there is none.
  int64_t Fact(std::string_view key) const;
  double RealFact(std::string_view key) const;
  // Values of all columns of all files.
  uint64_t value_count() const;

 private:
  absl::Status Add(parquet::FileReader file);
  absl::Status AddSibling(const std::string& path, std::string_view table,
                          parquet::Checksums checksums);
  const parquet::FileReader& first() const { return files_.begin()->second; }

  std::map<std::string, parquet::FileReader, std::less<>> files_;
  std::vector<std::string> missing_;
};

}  // namespace kymo::parquet_import

#endif  // KYMO_IMPORTERS_PARQUET_PART_FILES_H_
