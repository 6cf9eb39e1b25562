#include "profiler/parquet/footer.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/parquet/thrift_reader.h"

namespace kymo::parquet {
namespace {

absl::Status Damaged() {
  return absl::InvalidArgumentError("the footer is damaged");
}

// What a column of somebody else's file may have besides.
absl::Status OtherColumn(std::string_view name) {
  return absl::InvalidArgumentError(
      absl::StrCat("column '", std::string(name),
                   "' is of a type that Kymo does not write"));
}

// A number that is negative becomes one that is too large.
size_t Size(ThriftReader& in) { return static_cast<size_t>(in.Int()); }

// One entry of the schema. The first one is the root, which has children.
absl::Status ParseColumn(ThriftReader& in, bool is_root, FileSchema& schema) {
  constexpr int64_t kUnset = -1;
  int64_t type = kUnset;
  int64_t repetition = kUnset;
  bool has_children = false;
  Column column;
  in.BeginStruct();
  while (in.NextField()) {
    switch (in.field()) {
      case 1:
        type = in.Int();
        break;
      case 3:
        repetition = in.Int();
        break;
      case 4:
        column.name = std::string(in.Binary());
        break;
      case 5:
        has_children = in.Int() > 0;
        break;
      default:
        in.Skip();
    }
  }
  if (!in.ok()) return Damaged();
  if (is_root) return absl::OkStatus();
  if (has_children || repetition < 0 || repetition > 1) {
    return OtherColumn(column.name);
  }
  column.is_nullable = repetition == 1;
  for (const Type of :
       {Type::kBool, Type::kInt64, Type::kDouble, Type::kText}) {
    if (static_cast<int64_t>(PhysicalTypeOf(of)) != type) continue;
    column.type = of;
    schema.columns.push_back(std::move(column));
    return absl::OkStatus();
  }
  return OtherColumn(column.name);
}

absl::Status ParseSchema(ThriftReader& in, FileSchema& schema) {
  const size_t count = in.BeginList();
  for (size_t i = 0; i < count; ++i) {
    KYMO_RETURN_IF_ERROR(ParseColumn(in, i == 0, schema));
  }
  return absl::OkStatus();
}

// ColumnMetaData.
absl::Status ParseChunkData(ThriftReader& in, ChunkPlace& chunk) {
  constexpr auto kNowhere = std::numeric_limits<size_t>::max();
  size_t data_at = kNowhere;
  size_t dictionary_at = kNowhere;
  int64_t codec = 0;
  in.BeginStruct();
  while (in.NextField()) {
    switch (in.field()) {
      case 4:
        codec = in.Int();
        break;
      case 7:
        chunk.bytes = Size(in);
        break;
      case 9:
        data_at = Size(in);
        break;
      case 11:
        dictionary_at = Size(in);
        break;
      default:
        in.Skip();
    }
  }
  if (!in.ok()) return Damaged();
  if (codec != static_cast<int64_t>(Codec::kNone) &&
      codec != static_cast<int64_t>(Codec::kZstd)) {
    return absl::InvalidArgumentError(
        "its columns are compressed in a way that Kymo does not write");
  }
  chunk.codec = static_cast<Codec>(codec);
  chunk.at = dictionary_at != kNowhere ? dictionary_at : data_at;
  return absl::OkStatus();
}

absl::Status ParseRowGroup(ThriftReader& in, RowGroupPlace& group) {
  in.BeginStruct();
  while (in.NextField()) {
    if (in.field() == 3) {
      group.rows = Size(in);
    } else if (in.field() == 1) {
      const size_t count = in.BeginList();
      for (size_t i = 0; i < count; ++i) {
        in.BeginStruct();
        ChunkPlace chunk;
        while (in.NextField()) {
          if (in.field() != 3) {
            in.Skip();
            continue;
          }
          KYMO_RETURN_IF_ERROR(ParseChunkData(in, chunk));
        }
        if (!in.ok()) return Damaged();
        group.chunks.push_back(chunk);
      }
    } else {
      in.Skip();
    }
  }
  return in.ok() ? absl::OkStatus() : Damaged();
}

void ParseMetadata(ThriftReader& in, FileSchema& schema) {
  const size_t count = in.BeginList();
  for (size_t i = 0; in.ok() && i < count; ++i) {
    auto& [key, value] = schema.metadata.emplace_back();
    in.BeginStruct();
    while (in.NextField()) {
      if (in.field() == 1) {
        key = std::string(in.Binary());
      } else if (in.field() == 2) {
        value = std::string(in.Binary());
      } else {
        in.Skip();
      }
    }
  }
}

}  // namespace

absl::StatusOr<Footer> ParseFooter(std::string_view bytes) {
  Footer footer;
  ThriftReader in(bytes);
  while (in.NextField()) {
    switch (in.field()) {
      case 2:
        KYMO_RETURN_IF_ERROR(ParseSchema(in, footer.schema));
        break;
      case 4: {
        const size_t count = in.BeginList();
        for (size_t i = 0; i < count; ++i) {
          KYMO_RETURN_IF_ERROR(ParseRowGroup(in, footer.groups.emplace_back()));
        }
        break;
      }
      case 5:
        ParseMetadata(in, footer.schema);
        break;
      case 6:
        footer.schema.created_by = std::string(in.Binary());
        break;
      default:
        in.Skip();
    }
  }
  if (!in.ok()) return Damaged();
  for (const RowGroupPlace& group : footer.groups) {
    if (group.chunks.size() != footer.schema.columns.size()) return Damaged();
  }
  return footer;
}

}  // namespace kymo::parquet
