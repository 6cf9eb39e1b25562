#include "profiler/analysis/device/device_copies.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "profiler/analysis/device/device_work.h"
#include "profiler/model/records.h"
#include "profiler/model/string_table.h"

namespace kymo::analysis {
namespace {

using model::ArgType;
using model::EventIndex;
using model::NameId;
using model::Trace;

std::string_view DirectionOf(std::string_view name) {
  const size_t parenthesis = name.find('(');
  if (parenthesis != name.npos) name = name.substr(0, parenthesis);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  return name;
}

// A copy of more bytes cannot be real. A petabyte, so that no sum overflows.
constexpr double kMostBytes = 1e15;
constexpr double kUnknown = -1;

class CopyReader {
 public:
  explicit CopyReader(const Trace& trace)
      : trace_(trace),
        bytes_key_(trace.strings().Find("bytes")),
        bandwidth_key_(trace.strings().Find("memory bandwidth (GB/s)")) {}

  // The bytes of a copy; negative: not known.
  double BytesOf(EventIndex event) const {
    double bytes = kUnknown;
    for (const model::Arg& arg : trace_.args(event)) {
      if (arg.has_text()) continue;
      const double value = arg.type == ArgType::kInt
                               ? static_cast<double>(arg.int_value())
                               : arg.double_value();
      // A value that is no size, such as NaN, counts as not known.
      if (!(value >= 0 && value < kMostBytes)) continue;
      if (bytes_key_ == arg.key) return value;
      if (bandwidth_key_ == arg.key) {
        bytes = value * static_cast<double>(trace_.end()[event] -
                                            trace_.start()[event]);
      }
    }
    return bytes < kMostBytes ? bytes : kUnknown;
  }

 private:
  const Trace& trace_;
  const std::optional<NameId> bytes_key_;
  const std::optional<NameId> bandwidth_key_;
};

void AddCopy(CopySum& sum, DurationNs duration, double bytes) {
  ++sum.count;
  sum.total_ns += duration;
  if (bytes < 0) {
    ++sum.unknown_count;
    return;
  }
  const bool is_first = sum.known_ns == 0;
  sum.bytes += static_cast<int64_t>(bytes + 0.5);
  sum.known_ns += duration;
  if (duration == 0) return;
  const double rate = bytes * kNsPerSecond / static_cast<double>(duration);
  sum.min_bytes_per_second =
      is_first ? rate : std::min(sum.min_bytes_per_second, rate);
  sum.max_bytes_per_second =
      is_first ? rate : std::max(sum.max_bytes_per_second, rate);
}

}  // namespace

std::vector<CopySum> CopySums(const Trace& trace) {
  const CopyReader reader(trace);
  std::map<std::string, CopySum, std::less<>> by_direction;
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    if (trace.tracks()[t].kind != model::TrackKind::kStream) continue;
    for (EventIndex i = trace.track_begin(t); i < trace.track_end(t); ++i) {
      if (WorkKindOf(trace, i) != WorkKind::kMemory) continue;
      const std::string_view direction = DirectionOf(trace.EventName(i));
      auto it = by_direction.find(direction);
      if (it == by_direction.end()) {
        it = by_direction.emplace(direction, CopySum()).first;
      }
      AddCopy(it->second, trace.end()[i] - trace.start()[i], reader.BytesOf(i));
    }
  }
  std::vector<CopySum> list;
  for (auto& [direction, sum] : by_direction) {
    sum.direction = direction;
    list.push_back(std::move(sum));
  }
  return list;
}

}  // namespace kymo::analysis
