// file_reader.h - read a Parquet file that FileWriter wrote.
//
//   KYMO_ASSIGN_OR_RETURN(const FileReader file, FileReader::Open(path));
//   for (size_t group = 0; group < file.group_count(); ++group) {
//     ColumnData column;
//     KYMO_RETURN_IF_ERROR(file.Read(group, 0, column));
//     Use(column.ints);
//   }
//
// Files are untrusted. Nothing is allocated because a file says a number: a
// row group has at most kMostRows rows, and no two columns share bytes of the
// file.
//
// Errors:  of the system: kNotFound, kPermissionDenied and the like.
//   kInvalidArgument: no Parquet, damaged, or with parts that FileWriter does
//   not write. All name the file.
// Threads: any may read, concurrently.
#ifndef KYMO_PROFILER_PARQUET_FILE_READER_H_
#define KYMO_PROFILER_PARQUET_FILE_READER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/parquet/decode_column.h"
#include "profiler/parquet/footer.h"
#include "profiler/parquet/format.h"

namespace kymo::parquet {

// The rows that a row group may have.
inline constexpr size_t kMostRows = size_t{1} << 20;

class FileReader {
 public:
  static absl::StatusOr<FileReader> Open(
      const std::string& path, Checksums checksums = Checksums::kVerify);

  const std::string& path() const { return path_; }
  const FileSchema& schema() const { return footer_.schema; }
  // Of the whole file; nothing if there is no such key.
  std::optional<std::string_view> Metadata(std::string_view key) const;
  // The index of the column of that name.
  std::optional<size_t> FindColumn(std::string_view name) const;

  size_t group_count() const { return footer_.groups.size(); }
  size_t group_rows(size_t group) const { return footer_.groups[group].rows; }
  size_t row_count() const;

  // Fills `data`, which is empty.
  absl::Status Read(size_t group, size_t column, ColumnData& data) const;

 private:
  FileReader(std::string path, OwnedDescriptor file, Checksums checksums)
      : path_(std::move(path)), file_(std::move(file)), checksums_(checksums) {}

  absl::Status ReadFooter();
  absl::Status CheckPlaces(size_t footer_at) const;
  absl::Status Error(const absl::Status& status) const;

  std::string path_;
  OwnedDescriptor file_;
  Checksums checksums_;
  Footer footer_;
};

}  // namespace kymo::parquet

#endif  // KYMO_PROFILER_PARQUET_FILE_READER_H_
