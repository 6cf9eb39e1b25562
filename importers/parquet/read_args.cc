#include <string_view>

#include "importers/parquet/row_group.h"
#include "importers/parquet/shard_tables.h"

namespace kymo::parquet_import {
namespace {

using parquet::Type;

enum ArgColumn { kEvent, kKey, kArgType, kIntValue, kDoubleValue, kTextValue };
constexpr ColumnWish kArgs[] = {{"event_id"},
                                {"key", Type::kText},
                                {"type", Type::kText},
                                {"int_value"},
                                {"double_value", Type::kDouble},
                                {"text_value", Type::kText}};

model::Arg ArgOf(const RowGroup& group, size_t row) {
  const model::NameId key = group.Name(kKey, row);
  const std::string_view type = group.TextOf(kArgType, row);
  if (type == "double")
    return model::Arg::Double(key, group.Double(kDoubleValue, row));
  if (type == "string")
    return model::Arg::String(key, group.Name(kTextValue, row));
  if (type == "json") return model::Arg::Json(key, group.Name(kTextValue, row));
  return model::Arg::Int(key, group.Int(kIntValue, row));
}

}  // namespace

absl::Status ReadArgs(Reading& reading) {
  const parquet::FileReader* const file = reading.files.Find("args");
  if (file == nullptr) return absl::OkStatus();
  model::TraceShard& shard = reading.shard;
  return ForEachRowGroup(
      *file, kArgs, shard.strings, [&](const RowGroup& group) {
        for (size_t row = 0; row < group.rows(); ++row) {
          const int64_t event = group.Int(kEvent, row);
          const auto at = static_cast<uint32_t>(shard.args.size());
          shard.args.push_back(ArgOf(group, row));
          auto& args = reading.args;
          if (args.empty() || args.back().event < event) {
            args.push_back({event, at, at});
          } else if (args.back().event != event) {
            return Wrong(*file, "events are in no order");
          }
          args.back().end = at + 1;
        }
        return absl::OkStatus();
      });
}

}  // namespace kymo::parquet_import
