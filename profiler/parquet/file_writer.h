// file_writer.h - write a Parquet file, one row group after another.
//
//   FileWriter writer(schema, [&](std::string_view bytes) {
//     return sink->Append(bytes);
//   });
//   KYMO_RETURN_IF_ERROR(writer.Begin());
//   for (const Group& group : groups) {
//     std::vector<EncodedColumn> columns;   // EncodeColumn() of each column
//     KYMO_RETURN_IF_ERROR(writer.AddRowGroup(group.rows, columns));
//   }
//   KYMO_RETURN_IF_ERROR(writer.Finish());
//
// Errors:  those of the function that takes the bytes.
// Threads: one at a time.
// Memory:  about 100 bytes for each column of a row group, until Finish.
#ifndef KYMO_PROFILER_PARQUET_FILE_WRITER_H_
#define KYMO_PROFILER_PARQUET_FILE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "profiler/parquet/encode_column.h"
#include "profiler/parquet/format.h"

namespace kymo::parquet {

class FileWriter {
 public:
  using Append = std::function<absl::Status(std::string_view)>;

  FileWriter(FileSchema schema, Append append)
      : schema_(std::move(schema)), append_(std::move(append)) {}
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  absl::Status Begin();
  // REQUIRES: one encoded column for each of the schema, each of `rows` rows.
  absl::Status AddRowGroup(size_t rows, std::span<const EncodedColumn> columns);
  // The last call.
  absl::Status Finish();

 private:
  struct Chunk {
    size_t at;  // in the file
    size_t bytes;
    size_t dictionary_bytes;
    size_t unpacked_bytes;
    Codec codec;
    Statistics statistics;
  };
  struct RowGroup {
    size_t rows;
    std::vector<Chunk> chunks;
  };

  absl::Status Write(std::string_view bytes);
  std::string Footer() const;

  const FileSchema schema_;
  const Append append_;
  size_t written_ = 0;
  std::vector<RowGroup> groups_;
};

}  // namespace kymo::parquet

#endif  // KYMO_PROFILER_PARQUET_FILE_WRITER_H_
