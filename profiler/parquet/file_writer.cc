#include "profiler/parquet/file_writer.h"

#include <string>

#include "profiler/base/status_macros.h"
#include "profiler/parquet/thrift_writer.h"

namespace kymo::parquet {
namespace {

constexpr int32_t kVersion = 1;
constexpr int32_t kConvertedUtf8 = 0;
constexpr int32_t kRequired = 0;
constexpr int32_t kOptional = 1;

void WriteSchema(const FileSchema& schema, ThriftWriter& out) {
  out.BeginList(2, ThriftType::kStruct, schema.columns.size() + 1);
  out.BeginStructElement();
  out.Binary(4, "schema");
  out.Int32(5, static_cast<int32_t>(schema.columns.size()));
  out.EndStruct();
  for (const Column& column : schema.columns) {
    out.BeginStructElement();
    out.Int32(1, static_cast<int32_t>(PhysicalTypeOf(column.type)));
    out.Int32(3, column.is_nullable ? kOptional : kRequired);
    out.Binary(4, column.name);
    if (column.type == Type::kText) {
      out.Int32(6, kConvertedUtf8);  // for old readers
      out.BeginStruct(10);
      out.BeginStruct(1);  // STRING
      out.EndStruct();
      out.EndStruct();
    }
    out.EndStruct();
  }
}

void WriteStatistics(const Statistics& statistics, ThriftWriter& out) {
  out.BeginStruct(12);
  out.Int64(3, statistics.null_count);
  if (statistics.most && statistics.least) {
    out.Binary(5, *statistics.most);
    out.Binary(6, *statistics.least);
  }
  out.EndStruct();
}

void WriteEncodings(const Column& column, ThriftWriter& out) {
  std::vector<Encoding> encodings = {EncodingOf(column.type)};
  if (column.type == Type::kText) encodings.push_back(Encoding::kPlain);
  if (column.is_nullable) encodings.push_back(Encoding::kRle);
  out.BeginList(2, ThriftType::kInt32, encodings.size());
  for (const Encoding encoding : encodings) {
    out.Int32Element(static_cast<int32_t>(encoding));
  }
}

}  // namespace

absl::Status FileWriter::Write(std::string_view bytes) {
  written_ += bytes.size();
  return append_(bytes);
}

absl::Status FileWriter::Begin() { return Write(kMagic); }

absl::Status FileWriter::AddRowGroup(size_t rows,
                                     std::span<const EncodedColumn> columns) {
  RowGroup& group = groups_.emplace_back();
  group.rows = rows;
  for (const EncodedColumn& column : columns) {
    group.chunks.push_back({.at = written_,
                            .bytes = column.bytes.size(),
                            .dictionary_bytes = column.dictionary_bytes,
                            .unpacked_bytes = column.unpacked_bytes,
                            .codec = column.codec,
                            .statistics = column.statistics});
    KYMO_RETURN_IF_ERROR(Write(column.bytes));
  }
  return absl::OkStatus();
}

std::string FileWriter::Footer() const {
  std::string bytes;
  ThriftWriter out(bytes);
  size_t rows = 0;
  for (const RowGroup& group : groups_) rows += group.rows;
  out.Int32(1, kVersion);
  WriteSchema(schema_, out);
  out.Int64(3, static_cast<int64_t>(rows));
  out.BeginList(4, ThriftType::kStruct, groups_.size());
  for (const RowGroup& group : groups_) {
    size_t group_bytes = 0;
    size_t packed_bytes = 0;
    out.BeginStructElement();
    out.BeginList(1, ThriftType::kStruct, group.chunks.size());
    for (size_t i = 0; i < group.chunks.size(); ++i) {
      const Chunk& chunk = group.chunks[i];
      const Column& column = schema_.columns[i];
      group_bytes += chunk.unpacked_bytes;
      packed_bytes += chunk.bytes;
      out.BeginStructElement();
      out.Int64(2, static_cast<int64_t>(chunk.at));
      out.BeginStruct(3);
      out.Int32(1, static_cast<int32_t>(PhysicalTypeOf(column.type)));
      WriteEncodings(column, out);
      out.BeginList(3, ThriftType::kBinary, 1);
      out.BinaryElement(column.name);
      out.Int32(4, static_cast<int32_t>(chunk.codec));
      out.Int64(5, static_cast<int64_t>(group.rows));
      out.Int64(6, static_cast<int64_t>(chunk.unpacked_bytes));
      out.Int64(7, static_cast<int64_t>(chunk.bytes));
      out.Int64(9, static_cast<int64_t>(chunk.at + chunk.dictionary_bytes));
      if (chunk.dictionary_bytes != 0) {
        out.Int64(11, static_cast<int64_t>(chunk.at));
      }
      WriteStatistics(chunk.statistics, out);
      out.EndStruct();
      out.EndStruct();
    }
    out.Int64(2, static_cast<int64_t>(group_bytes));
    out.Int64(3, static_cast<int64_t>(group.rows));
    out.Int64(6, static_cast<int64_t>(packed_bytes));
    out.EndStruct();
  }
  out.BeginList(5, ThriftType::kStruct, schema_.metadata.size());
  for (const auto& [key, value] : schema_.metadata) {
    out.BeginStructElement();
    out.Binary(1, key);
    out.Binary(2, value);
    out.EndStruct();
  }
  out.Binary(6, schema_.created_by);
  // Readers use statistics only where the order is said to be the type's.
  out.BeginList(7, ThriftType::kStruct, schema_.columns.size());
  for (size_t i = 0; i < schema_.columns.size(); ++i) {
    out.BeginStructElement();
    out.BeginStruct(1);
    out.EndStruct();
    out.EndStruct();
  }
  out.EndStruct();
  return bytes;
}

absl::Status FileWriter::Finish() {
  std::string footer = Footer();
  const auto size = static_cast<uint32_t>(footer.size());
  footer.append(reinterpret_cast<const char*>(&size), sizeof(size));
  footer.append(kMagic);
  return Write(footer);
}

}  // namespace kymo::parquet
