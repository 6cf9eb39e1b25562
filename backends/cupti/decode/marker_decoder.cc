#include "backends/cupti/decode/marker_decoder.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <string_view>

namespace kymo::cupti {
namespace {

using model::ActivityType;
using model::Arg;
using model::Loss;

}  // namespace

void MarkerDecoder::Decode(const LogReader& reader) {
  switch (reader.kind()) {
    case RecordKind::kMarker:
      return Marker(reader.Get<MarkerRecord>());
    case RecordKind::kMarkerData: {
      const MarkerDataRecord data = reader.Get<MarkerDataRecord>();
      data_[data.id] = data;
      return;
    }
    case RecordKind::kName:
      return Name(reader.Get<NameRecord>());
    default:
      return;
  }
}

void MarkerDecoder::Marker(const MarkerRecord& marker) {
  if ((marker.phase & (kMarkerInstant | kMarkerStart | kMarkerEnd)) == 0) {
    return;
  }
  if (marker.time == 0) {
    writer_.shard().ledger.Add(Loss::kDeviceTimesMissing, 1);
  } else if (marker.phase & kMarkerEnd) {
    ends_[marker.id] = marker;
  } else {
    begins_.push_back(marker);
  }
}

void MarkerDecoder::Name(const NameRecord& name) {
  const std::string_view text = tables_.Text(name.header.name);
  if (text.empty()) return;
  const TrackRows* rows = nullptr;
  if (name.object == NamedObject::kThread) {
    rows = &writer_.Thread(pid_, name.thread);
  } else if (name.object == NamedObject::kStream) {
    rows = &writer_.Stream(pid_, static_cast<int32_t>(name.device),
                           int64_t{name.stream});
  }
  if (rows == nullptr) return;
  model::TraceShard& shard = writer_.shard();
  shard.tracks[rows->track()].name = shard.strings.Intern(text);
}

TrackRows& MarkerDecoder::RowsOf(const MarkerRecord& marker) {
  return writer_.Thread(pid_,
                        marker.thread != 0 ? int64_t{marker.thread} : pid_);
}

void MarkerDecoder::PayloadArg(const MarkerDataRecord& data) {
  model::StringTable& strings = writer_.shard().strings;
  const model::NameId key = strings.Intern("payload");
  constexpr uint64_t kMaxInt = std::numeric_limits<int64_t>::max();
  switch (data.payload_kind) {
    case MarkerPayload::kDouble:
      if (data.payload == 0) return;
      return writer_.Arg(Arg::Double(key, std::bit_cast<double>(data.payload)));
    case MarkerPayload::kUint64:
      if (data.payload > kMaxInt) {
        return writer_.Arg(
            Arg::String(key, strings.Intern(std::to_string(data.payload))));
      }
      return writer_.Arg(Arg::Int(key, static_cast<int64_t>(data.payload)));
    case MarkerPayload::kInt64:
      return writer_.Arg(Arg::Int(key, static_cast<int64_t>(data.payload)));
    case MarkerPayload::kExtended:
      return writer_.Arg(Arg::String(key, strings.Intern("(not shown)")));
  }
}

model::DetailIndex MarkerDecoder::DetailOf(const MarkerRecord& marker) {
  const auto data = data_.find(marker.id);
  const std::string_view domain = tables_.Text(marker.domain);
  if (data == data_.end() && domain.empty()) return model::kNoDetail;
  model::StringTable& strings = writer_.shard().strings;
  writer_.BeginDetail(0);
  if (!domain.empty()) {
    writer_.Arg(Arg::String(strings.Intern("domain"), strings.Intern(domain)));
  }
  if (data != data_.end()) {
    if (data->second.category != 0) {
      writer_.Arg(Arg::Int(strings.Intern("category"), data->second.category));
    }
    if (data->second.has_color != 0) {
      writer_.Arg(Arg::Int(strings.Intern("color"), data->second.color));
    }
    PayloadArg(data->second);
  }
  return writer_.EndDetail();
}

void MarkerDecoder::Add(const MarkerRecord& marker) {
  const std::string_view text = tables_.Text(marker.header.name);
  const model::NameId name =
      writer_.shard().strings.Intern(text.empty() ? "(no name)" : text);
  const TimeNs start_ns = tables_.clock().ToEpochNs(marker.time);
  const model::DetailIndex detail = DetailOf(marker);
  if (marker.phase & kMarkerInstant) {
    RowsOf(marker).Add(start_ns, start_ns, name, ActivityType::kCpuInstantEvent,
                       detail, model::kEventInstant);
    return;
  }
  const auto end = ends_.find(marker.id);
  const bool has_end = end != ends_.end();
  const bool is_nested =
      marker.thread != 0 && (!has_end || end->second.thread == marker.thread);
  // 0 means that the range is open.
  const TimeNs end_ns =
      has_end ? tables_.clock().ToEpochNs(end->second.time) : 0;
  if (has_end) ends_.erase(end);
  RowsOf(marker).Add(start_ns, end_ns, name, ActivityType::kNvtxRange, detail,
                     is_nested ? 0 : model::kEventAsync);
}

void MarkerDecoder::Finish() {
  std::stable_sort(begins_.begin(), begins_.end(),
                   [](const MarkerRecord& a, const MarkerRecord& b) {
                     return a.time < b.time;
                   });
  for (const MarkerRecord& marker : begins_) Add(marker);
  writer_.shard().ledger.Add(Loss::kEndsWithoutBegin, ends_.size());
}

}  // namespace kymo::cupti
