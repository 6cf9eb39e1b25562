#include "exporters/tensorboard/xspace/counter_plane.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exporters/proto/proto_writer.h"
#include "exporters/tensorboard/xplane.pb.h"
#include "exporters/tensorboard/xspace/stat_writer.h"
#include "exporters/timeline/memory_counters.h"

namespace kymo::tensorboard {
namespace {

using model::CounterSample;
using model::NameId;
using model::Trace;

constexpr char kLineName[] = "_counters_";

// Points of one curve.
class CurveLine : public LineSource {
 public:
  CurveLine(const TimeBase& base, uint64_t event, uint64_t value)
      : base_(base), event_(event), value_(value) {}

 protected:
  void AppendPoint(std::string& out, TimeNs time_ns, double value) const {
    proto::ProtoWriter writer(out);
    const size_t event = writer.Begin(schema::XLine::kEventsFieldNumber);
    writer.Uint(schema::XEvent::kMetadataIdFieldNumber, event_);
    writer.Uint(schema::XEvent::kOffsetPsFieldNumber, base_.OffsetPs(time_ns));
    StatWriter(out, StatWriter::kOfEvent).Double(value_, value);
    writer.End(event);
  }

 private:
  const TimeBase& base_;
  const uint64_t event_;
  const uint64_t value_;
};

class CounterLine final : public CurveLine {
 public:
  CounterLine(const TimeBase& base, uint64_t event, uint64_t value,
              std::span<const CounterSample> samples)
      : CurveLine(base, event, value), samples_(samples) {}
  size_t Begin() override { return samples_.size(); }
  void Append(size_t begin, size_t end, std::string& out) const override {
    for (size_t i = begin; i < end; ++i) {
      if (!std::isfinite(samples_[i].value)) continue;
      AppendPoint(out, samples_[i].time_ns, samples_[i].value);
    }
  }

 private:
  const std::span<const CounterSample> samples_;
};

// Samples that no curve can have. The viewer would write them into JSON as they
// are, and then show nothing at all.
class NotFiniteLine final : public LineSource {
 public:
  NotFiniteLine(const TimeBase& base, PlaneIds& ids,
                std::span<const CounterSample> samples)
      : base_(base),
        samples_(samples),
        infinity_(ids.NewEvent("Infinity")),
        minus_infinity_(ids.NewEvent("-Infinity")),
        nan_(ids.NewEvent("NaN")) {}
  size_t Begin() override { return samples_.size(); }
  void Append(size_t begin, size_t end, std::string& out) const override {
    for (size_t i = begin; i < end; ++i) {
      const double value = samples_[i].value;
      if (std::isfinite(value)) continue;
      const uint64_t offset_ps = base_.OffsetPs(samples_[i].time_ns);
      AppendPlainEvent(out,
                       std::isnan(value) ? nan_
                       : value > 0       ? infinity_
                                         : minus_infinity_,
                       offset_ps, offset_ps);
    }
  }

 private:
  const TimeBase& base_;
  const std::span<const CounterSample> samples_;
  const uint64_t infinity_;
  const uint64_t minus_infinity_;
  const uint64_t nan_;
};

class MemoryLine final : public CurveLine {
 public:
  MemoryLine(const TimeBase& base, uint64_t event, uint64_t value,
             std::vector<analysis::CurvePoint> points)
      : CurveLine(base, event, value), points_(std::move(points)) {}
  size_t Begin() override { return points_.size(); }
  void Append(size_t begin, size_t end, std::string& out) const override {
    for (size_t i = begin; i < end; ++i) {
      AppendPoint(out, points_[i].time, static_cast<double>(points_[i].value));
    }
  }

 private:
  const std::vector<analysis::CurvePoint> points_;
};

// Names under which more than one track counts.
std::set<NameId> SharedNames(const Trace& trace) {
  std::map<NameId, model::TrackIndex> tracks;
  std::set<NameId> shared;
  for (const CounterSample& sample : trace.counters()) {
    const auto [it, is_new] = tracks.try_emplace(sample.name, sample.track);
    if (it->second != sample.track) shared.insert(sample.name);
  }
  return shared;
}

bool HasSeveralProcesses(const Trace& trace) {
  const auto tracks = trace.tracks();
  return std::ranges::any_of(tracks, [&](const model::Track& track) {
    return track.pid != tracks.front().pid;
  });
}

// Adds whose they are to names that come several times.
void TellApart(const Trace& trace,
               std::vector<timeline::MemoryCounter>& counters) {
  std::map<std::string, int> count;
  for (const timeline::MemoryCounter& counter : counters) ++count[counter.name];
  for (timeline::MemoryCounter& counter : counters) {
    if (count[counter.name] < 2) continue;
    absl::StrAppend(&counter.name, " (process ",
                    trace.tracks()[counter.track].pid, ")");
  }
}

}  // namespace

std::unique_ptr<Plane> MakeCounterPlane(const TraceContext& context,
                                        PlaneIds& ids) {
  const Trace& trace = context.trace;
  auto plane = std::make_unique<Plane>(0, kCounterPlaneName, &ids);
  int64_t next_id = 1;
  const uint64_t value = ids.Text(ids.Intern("value"));
  const std::set<NameId> shared = SharedNames(trace);
  const bool has_several = HasSeveralProcesses(trace);
  std::span<const CounterSample> rest = trace.counters();
  while (!rest.empty()) {
    const CounterSample& first = rest.front();
    const auto end = std::find_if(
        rest.begin(), rest.end(), [&](const CounterSample& sample) {
          return sample.track != first.track || sample.name != first.name;
        });
    const std::span<const CounterSample> samples(rest.begin(), end);
    rest = rest.subspan(samples.size());
    std::string name(trace.Name(first.name));
    if (shared.contains(first.name)) {
      const model::Track& track = trace.tracks()[first.track];
      absl::StrAppend(&name, " (thread ", track.id);
      if (has_several) absl::StrAppend(&name, " of process ", track.pid);
      name += ')';
    }
    plane->Add({next_id++, kLineName},
               std::make_unique<CounterLine>(context.base, ids.NewEvent(name),
                                             value, samples));
    const auto is_finite = [](const CounterSample& sample) {
      return std::isfinite(sample.value);
    };
    if (!std::all_of(samples.begin(), samples.end(), is_finite)) {
      plane->Add({next_id++, name + ", not finite"},
                 std::make_unique<NotFiniteLine>(context.base, ids, samples));
    }
  }
  std::vector<timeline::MemoryCounter> memory = timeline::MemoryCounters(trace);
  TellApart(trace, memory);
  for (timeline::MemoryCounter& counter : memory) {
    plane->Add(
        {next_id++, kLineName},
        std::make_unique<MemoryLine>(context.base, ids.NewEvent(counter.name),
                                     value, std::move(counter.points)));
  }
  return plane;
}

}  // namespace kymo::tensorboard
