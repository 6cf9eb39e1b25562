// footer.h - the footer of a Parquet file: what it has, and where.
//
//   absl::StatusOr<Footer> footer = ParseFooter(bytes);
//
// Errors:  kInvalidArgument: not a footer, or columns that FileWriter does not
//   write. The footer alone is checked: places may be beyond the file.
// Threads: a pure function.
#ifndef KYMO_PROFILER_PARQUET_FOOTER_H_
#define KYMO_PROFILER_PARQUET_FOOTER_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/parquet/format.h"

namespace kymo::parquet {

// The pages of one column of a row group.
struct ChunkPlace {
  size_t at = 0;  // in the file
  size_t bytes = 0;
  Codec codec = Codec::kNone;
};

struct RowGroupPlace {
  size_t rows = 0;
  std::vector<ChunkPlace> chunks;  // one for each column
};

struct Footer {
  FileSchema schema;
  std::vector<RowGroupPlace> groups;
};

absl::StatusOr<Footer> ParseFooter(std::string_view bytes);

}  // namespace kymo::parquet

#endif  // KYMO_PROFILER_PARQUET_FOOTER_H_
