#include "profiler/parquet/file_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/whole_io.h"

namespace kymo::parquet {
namespace {

// At the end of a file: the footer's size, and kMagic.
constexpr size_t kTailBytes = 8;

absl::Status NoParquet(std::string_view why) {
  return absl::InvalidArgumentError(std::string(why));
}

}  // namespace

absl::Status FileReader::Error(const absl::Status& status) const {
  return absl::Status(status.code(),
                      absl::StrCat(path_, ": ", status.message()));
}

absl::StatusOr<FileReader> FileReader::Open(const std::string& path,
                                            Checksums checksums) {
  OwnedDescriptor descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.is_open()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  FileReader file(path, std::move(descriptor), checksums);
  if (const absl::Status status = file.ReadFooter(); !status.ok()) {
    return file.Error(status);
  }
  return file;
}

absl::Status FileReader::ReadFooter() {
  struct stat about;
  if (fstat(file_.get(), &about) != 0) {
    return absl::ErrnoToStatus(errno, "cannot be read");
  }
  const auto size = static_cast<size_t>(about.st_size);
  if (!S_ISREG(about.st_mode) || size < kMagic.size() + kTailBytes) {
    return NoParquet("this is no Parquet file: it is too short");
  }
  char head[kMagic.size()];
  char tail[kTailBytes];
  if (!ReadWhole(file_.get(), 0, head, sizeof(head)) ||
      !ReadWhole(file_.get(), size - sizeof(tail), tail, sizeof(tail))) {
    return absl::ErrnoToStatus(errno, "cannot be read");
  }
  if (std::string_view(head, sizeof(head)) != kMagic) {
    return NoParquet("this is no Parquet file: it does not begin with PAR1");
  }
  if (std::string_view(tail, sizeof(tail)).substr(4) != kMagic) {
    return NoParquet(
        "the end of this Parquet file is missing: it was cut off, or is still "
        "being copied");
  }
  uint32_t footer_bytes;
  std::memcpy(&footer_bytes, tail, sizeof(footer_bytes));
  if (footer_bytes > size - kMagic.size() - kTailBytes) {
    return NoParquet("the footer is larger than the file");
  }
  std::string bytes(footer_bytes, '\0');
  const size_t footer_at = size - kTailBytes - footer_bytes;
  if (!ReadWhole(file_.get(), footer_at, bytes.data(), bytes.size())) {
    return absl::ErrnoToStatus(errno, "cannot be read");
  }
  KYMO_ASSIGN_OR_RETURN(footer_, ParseFooter(bytes));
  return CheckPlaces(footer_at);
}

absl::Status FileReader::CheckPlaces(size_t footer_at) const {
  size_t next = kMagic.size();
  for (const RowGroupPlace& group : footer_.groups) {
    if (group.rows > kMostRows) {
      return NoParquet("a row group is larger than Kymo writes them");
    }
    for (const ChunkPlace& chunk : group.chunks) {
      if (chunk.at < next || chunk.at > footer_at ||
          chunk.bytes > footer_at - chunk.at) {
        return NoParquet("the footer is damaged: columns overlap");
      }
      next = chunk.at + chunk.bytes;
    }
  }
  return absl::OkStatus();
}

std::optional<std::string_view> FileReader::Metadata(
    std::string_view key) const {
  for (const auto& [name, value] : footer_.schema.metadata) {
    if (name == key) return value;
  }
  return std::nullopt;
}

std::optional<size_t> FileReader::FindColumn(std::string_view name) const {
  const auto& columns = footer_.schema.columns;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
  }
  return std::nullopt;
}

size_t FileReader::row_count() const {
  size_t rows = 0;
  for (const RowGroupPlace& group : footer_.groups) rows += group.rows;
  return rows;
}

absl::Status FileReader::Read(size_t group, size_t column,
                              ColumnData& data) const {
  const ChunkPlace& chunk = footer_.groups[group].chunks[column];
  data.stored.resize(chunk.bytes);
  if (!ReadWhole(file_.get(), chunk.at, data.stored.data(), chunk.bytes)) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path_));
  }
  const absl::Status status =
      DecodeColumn(data.stored, footer_.schema.columns[column], chunk.codec,
                   footer_.groups[group].rows, checksums_, data);
  return status.ok() ? status : Error(status);
}

}  // namespace kymo::parquet
