#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "importers/chrome/events/input_encoder.h"
#include "importers/parquet/row_group.h"
#include "importers/parquet/shard_tables.h"
#include "profiler/base/record_scope.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/activity_type.h"

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

enum EventColumn {
  kTrack,
  kName,
  kCategory,
  kStart,
  kDuration,
  kDepth,
  kScope,
  kCalls,
  kPid,
  kTid,
  kDevice,
  kStream,
  kInstant,
  kOpen,
  kAsync,
  kModule,
  kRepeated,
  kCorrelation,
  kSequence,
  kForwardThread,
  kDebugHandle,
  kNode,
  kOverload,
  kShapes,
  kStrides,
  kTypes,
  kConcrete,
  kStack
};
constexpr ColumnWish kEvents[] = {{"track_id"},
                                  {"name", Type::kText},
                                  {"category", Type::kText},
                                  {"start_ns"},
                                  {"dur_ns"},
                                  {"depth"},
                                  {"scope"},
                                  {"calls"},
                                  {"pid"},
                                  {"tid"},
                                  {"device"},
                                  {"stream"},
                                  {"is_instant", Type::kBool},
                                  {"is_open", Type::kBool},
                                  {"is_async", Type::kBool},
                                  {"is_module", Type::kBool},
                                  {"is_repeated", Type::kBool},
                                  {"correlation_id"},
                                  {"sequence_nr"},
                                  {"forward_thread"},
                                  {"debug_handle"},
                                  {"node_id"},
                                  {"overload_name", Type::kText},
                                  {"input_shapes", Type::kText},
                                  {"input_strides", Type::kText},
                                  {"input_types", Type::kText},
                                  {"concrete_inputs", Type::kText},
                                  {"stack_id"}};
// With any of these, an event has a detail.
constexpr size_t kDetailBegin = kCorrelation;
constexpr size_t kDetailEnd = kStack + 1;

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

uint8_t FlagsOf(const RowGroup& group, size_t row) {
  constexpr std::pair<size_t, uint8_t> kFlags[] = {
      {kInstant, model::kEventInstant},
      {kOpen, model::kEventOpen},
      {kAsync, model::kEventAsync},
      {kModule, model::kEventModule},
      {kRepeated, model::kEventRepeated}};
  uint8_t flags = group.Int(kCalls, row) > 1 ? model::kEventFolded : 0;
  for (const auto& [column, flag] : kFlags) {
    if (group.Bool(column, row)) flags |= flag;
  }
  return flags;
}

// Adds the row groups of `events`, one after the other.
class EventReader {
 public:
  EventReader(Reading& reading, const parquet::FileReader& file)
      : reading_(reading), file_(file), block_(reading.shard.block) {}

  absl::Status Add(const RowGroup& group) {
    KYMO_RETURN_IF_ERROR(ReadCategories(group));
    FindDetails(group);
    inputs_.clear();
    const size_t before = block_.size();
    Resize(before + group.rows());
    for (size_t row = 0; row < group.rows(); ++row) {
      KYMO_RETURN_IF_ERROR(AddEvent(group, row, before + row));
    }
    if (before == 0) ReserveDetails();
    return absl::OkStatus();
  }

 private:
  absl::Status Wrong(std::string_view what) const {
    return parquet_import::Wrong(file_, what);
  }

  // Later row groups will have as many details as the first. Growing step by
  // step took a tenth of the time of reading a file.
  void ReserveDetails() {
    constexpr size_t kMostDetails = size_t{1} << 22;
    auto& details = reading_.shard.details;
    details.reserve(
        std::max(details.size(),
                 std::min(details.size() * file_.group_count(), kMostDetails)));
  }

  void Resize(size_t size) {
    block_.start_ns.resize(size);
    block_.end_ns.resize(size);
    block_.name.resize(size);
    block_.type.resize(size);
    block_.scope.resize(size);
    block_.flags.resize(size);
    block_.depth.resize(size);
    block_.detail.resize(size);
  }

  // The categories of the row group's dictionary.
  absl::Status ReadCategories(const RowGroup& group) {
    categories_.clear();
    for (const std::string_view text : group.DictionaryOf(kCategory)) {
      const auto type = model::ParseActivityType(text);
      if (!type) {
        return Wrong("there is no category '" + std::string(text) + "'");
      }
      categories_.push_back(*type);
    }
    return absl::OkStatus();
  }

  // Which columns of details have a value at all.
  void FindDetails(const RowGroup& group) {
    detail_columns_.clear();
    for (size_t column = kDetailBegin; column < kDetailEnd; ++column) {
      if (!group.IsNull(column)) detail_columns_.push_back(column);
    }
  }

  absl::Status AddEvent(const RowGroup& group, size_t row, size_t at) {
    const int64_t start = group.Int(kStart, row);
    const int64_t duration = group.Int(kDuration, row);
    const int64_t depth = group.Int(kDepth, row);
    const int64_t scope = group.Int(kScope, row);
    if (!IsTime(start) || !IsDuration(duration) || !IsTime(start + duration)) {
      return Wrong("an event has an impossible time");
    }
    if (!group.Has(kCategory, row)) return Wrong("an event has no category");
    if (depth < 0 || depth >= model::kNoEvent || scope < 0 ||
        scope >= static_cast<int64_t>(RecordScope::kCount)) {
      return Wrong("an event has an impossible depth or scope");
    }
    KYMO_RETURN_IF_ERROR(EnterTrack(group, row, at));
    block_.start_ns[at] = start;
    block_.end_ns[at] = start + duration;
    block_.name[at] = group.Name(kName, row);
    block_.type[at] = categories_[group.Text(kCategory, row)];
    block_.scope[at] = static_cast<RecordScope>(scope);
    block_.flags[at] = FlagsOf(group, row);
    block_.depth[at] = static_cast<uint32_t>(depth);
    return AddDetail(group, row, at);
  }

  // Events of a track follow one another.
  absl::Status EnterTrack(const RowGroup& group, size_t row, size_t at) {
    const int64_t id = group.Int(kTrack, row);
    if (at > 0 && id == track_id_) {
      block_.parts.back().end = at + 1;
      return absl::OkStatus();
    }
    if (at > 0 && id < track_id_) return Wrong("tracks are in no order");
    track_id_ = id;
    if (!reading_.has_tracks) AddTrack(group, row, id);
    const auto track = reading_.Track(id);
    if (!track) return Wrong("an event has no track");
    block_.parts.push_back({.track = *track, .end = at + 1});
    return absl::OkStatus();
  }

  void AddTrack(const RowGroup& group, size_t row, int64_t id) {
    auto& tracks = reading_.shard.tracks;
    reading_.tracks.emplace(id, static_cast<model::TrackIndex>(tracks.size()));
    const bool is_stream = group.Has(kStream, row);
    tracks.push_back(
        {.kind =
             is_stream ? model::TrackKind::kStream : model::TrackKind::kThread,
         .pid = group.Int(kPid, row),
         .id = group.Int(is_stream ? kStream : kTid, row),
         .device_index =
             is_stream ? static_cast<int32_t>(group.Int(kDevice, row)) : -1});
  }

  bool HasDetail(const RowGroup& group, size_t row, size_t at) {
    const auto& args = reading_.args;
    while (next_args_ < args.size() &&
           args[next_args_].event < static_cast<int64_t>(at)) {
      ++next_args_;
    }
    if (next_args_ < args.size() &&
        args[next_args_].event == static_cast<int64_t>(at)) {
      return true;
    }
    if (group.Int(kCalls, row) > 1) return true;
    for (const size_t column : detail_columns_) {
      if (group.Has(column, row)) return true;
    }
    return false;
  }

  absl::Status AddDetail(const RowGroup& group, size_t row, size_t at) {
    block_.detail[at] = model::kNoDetail;
    if (!HasDetail(group, row, at)) return absl::OkStatus();
    model::Detail detail;
    detail.correlation_id =
        static_cast<uint64_t>(group.IntOr(kCorrelation, row, 0));
    detail.sequence_nr = group.IntOr(kSequence, row, -1);
    detail.forward_thread =
        static_cast<uint64_t>(group.IntOr(kForwardThread, row, 0));
    detail.debug_handle = group.IntOr(kDebugHandle, row, -1);
    detail.node_id = group.IntOr(kNode, row, -1);
    detail.overload_name = group.Name(kOverload, row);
    detail.inputs = InputsOf(group, row);
    const auto stack = reading_.Stack(group.IntOr(kStack, row, 0));
    if (!stack) return Wrong("an event has no stack");
    detail.stack = *stack;
    const int64_t calls = group.Int(kCalls, row);
    if (calls < 1 || calls > ~uint32_t{0}) {
      return Wrong("an event stands for no calls");
    }
    detail.calls = static_cast<uint32_t>(calls);
    if (next_args_ < reading_.args.size() &&
        reading_.args[next_args_].event == static_cast<int64_t>(at)) {
      detail.args_begin = reading_.args[next_args_].begin;
      detail.args_end = reading_.args[next_args_].end;
    }
    block_.detail[at] =
        static_cast<model::DetailIndex>(reading_.shard.details.size());
    reading_.shard.details.push_back(detail);
    return absl::OkStatus();
  }

  // The encoding of the inputs' texts; one parse for all events of a row group
  // that have the same.
  model::NameId InputsOf(const RowGroup& group, size_t row) {
    constexpr size_t kColumns[] = {kShapes, kTypes, kStrides, kConcrete};
    static_assert(std::size(kColumns) == chrome_import::kInputKeys);
    std::array<uint32_t, std::size(kColumns)> key = {};
    chrome_import::InputTexts texts;
    bool has_any = false;
    for (size_t i = 0; i < std::size(kColumns); ++i) {
      if (!group.Has(kColumns[i], row)) continue;
      has_any = true;
      key[i] = group.Text(kColumns[i], row) + 1;
      texts.text[i] = group.TextOf(kColumns[i], row);
    }
    if (!has_any) return model::kEmptyName;
    const auto [it, is_new] = inputs_.try_emplace(key, model::kEmptyName);
    if (is_new) {
      it->second = reading_.shard.strings.Intern(
          chrome_import::EncodeInputTexts(texts).bytes);
    }
    return it->second;
  }

  Reading& reading_;
  const parquet::FileReader& file_;
  model::EventBlock& block_;
  int64_t track_id_ = 0;
  size_t next_args_ = 0;  // of reading_.args
  std::vector<model::ActivityType> categories_;
  std::vector<size_t> detail_columns_;
  std::map<std::array<uint32_t, chrome_import::kInputKeys>, model::NameId>
      inputs_;
};

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

absl::Status ReadEvents(Reading& reading) {
  const parquet::FileReader* const file = reading.files.Find("events");
  if (file == nullptr) return absl::OkStatus();
  EventReader events(reading, *file);
  return ForEachRowGroup(
      *file, kEvents, reading.shard.strings,
      [&](const RowGroup& group) { return events.Add(group); });
}

}  // namespace kymo::parquet_import
