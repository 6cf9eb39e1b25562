#include "exporters/perfetto/counter_packets.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "exporters/perfetto/packet_bytes.h"
#include "exporters/perfetto/trace.pb.h"
#include "profiler/base/status_macros.h"

namespace kymo::perfetto {
namespace {

using model::CounterSample;
using proto::ProtoWriter;
using schema::TrackEvent;

// A point of a counter, whose value write(event) adds.
template <typename Write>
void AppendPoint(std::string& out, TimeNs since_base_ns, uint64_t uuid,
                 const Write& write) {
  AppendEventPacket(
      out, static_cast<uint64_t>(since_base_ns), [&](ProtoWriter& writer) {
        writer.Uint(TrackEvent::kTypeFieldNumber, TrackEvent::TYPE_COUNTER);
        writer.Uint(TrackEvent::kTrackUuidFieldNumber, uuid);
        write(writer);
      });
}

}  // namespace

CounterPackets::CounterPackets(const model::Trace& trace, TrackTable& tracks,
                               TimeNs base_ns)
    : trace_(trace),
      base_ns_(base_ns),
      memory_(timeline::MemoryCounters(trace)) {
  const auto counters = trace.counters();
  std::map<std::pair<model::TrackIndex, model::NameId>, uint64_t> uuids;
  for (size_t i = 0; i < counters.size(); ++i) {
    const CounterSample& sample = counters[i];
    if (i > 0 && counters[i - 1].track == sample.track &&
        counters[i - 1].name == sample.name) {
      continue;
    }
    uint64_t& uuid = uuids[{sample.track, sample.name}];
    if (uuid == 0) {
      uuid = tracks.AddCounter(tracks.of(sample.track).uuid,
                               trace.Name(sample.name), CounterUnit::kNone);
    }
    runs_.push_back({i, uuid});
  }
  for (const timeline::MemoryCounter& counter : memory_) {
    memory_uuids_.push_back(
        tracks.AddCounter(tracks.of(counter.track).process_uuid, counter.name,
                          CounterUnit::kBytes));
  }
}

size_t CounterPackets::item_count() const {
  size_t items = trace_.counters().size();
  for (const timeline::MemoryCounter& counter : memory_) {
    items += counter.points.size();
  }
  return items;
}

absl::Status CounterPackets::Write(timeline::OrderedOutput& output) const {
  const auto counters = trace_.counters();
  KYMO_RETURN_IF_ERROR(output.Run(
      counters.size(), [&](size_t begin, size_t end, std::string& out) {
        auto run = std::upper_bound(
            runs_.begin(), runs_.end(), begin,
            [](size_t i, const Run& r) { return i < r.begin; });
        for (size_t i = begin; i < end; ++i) {
          if (run != runs_.end() && run->begin == i) ++run;
          AppendPoint(out, counters[i].time_ns - base_ns_, (run - 1)->uuid,
                      [&](ProtoWriter& event) {
                        event.Double(TrackEvent::kDoubleCounterValueFieldNumber,
                                     counters[i].value);
                      });
        }
      }));
  for (size_t c = 0; c < memory_.size(); ++c) {
    const std::vector<analysis::CurvePoint>& points = memory_[c].points;
    KYMO_RETURN_IF_ERROR(output.Run(
        points.size(), [&](size_t begin, size_t end, std::string& out) {
          for (size_t i = begin; i < end; ++i) {
            AppendPoint(out, points[i].time - base_ns_, memory_uuids_[c],
                        [&](ProtoWriter& event) {
                          event.Int(TrackEvent::kCounterValueFieldNumber,
                                    points[i].value);
                        });
          }
        }));
  }
  return absl::OkStatus();
}

}  // namespace kymo::perfetto
