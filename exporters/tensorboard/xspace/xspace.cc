#include "exporters/tensorboard/xspace/xspace.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "exporters/proto/proto_writer.h"
#include "exporters/tensorboard/xplane.pb.h"
#include "exporters/tensorboard/xspace/counter_plane.h"
#include "exporters/tensorboard/xspace/device_details.h"
#include "exporters/tensorboard/xspace/device_properties.h"
#include "exporters/tensorboard/xspace/event_bytes.h"
#include "exporters/tensorboard/xspace/lines.h"
#include "exporters/tensorboard/xspace/memory_events.h"
#include "exporters/tensorboard/xspace/plane.h"
#include "exporters/timeline/ordered_output.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/text/utf8.h"

namespace kymo::tensorboard {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::NameId;
using model::Trace;
using model::TrackIndex;
using model::TrackKind;

using Tracks = std::vector<TrackIndex>;

// A plane of tracks and what it needs while it is written.
struct TrackPlane {
  std::unique_ptr<PlaneIds> ids;
  std::unique_ptr<MemoryEvents> memory;
  std::unique_ptr<EventBytes> events;
  std::unique_ptr<Plane> plane;
};

TrackPlane MakeHostPlane(const TraceContext& context, const Tracks& tracks,
                         const XSpaceSettings& settings) {
  TrackPlane host;
  host.ids = std::make_unique<PlaneIds>(
      context.trace, context.steps,
      [&context](NameId name) { return context.operations.Get(name); });
  host.events =
      std::make_unique<EventBytes>(context, *host.ids, ActivityType::kCpuOp);
  for (const TrackIndex track : tracks) {
    host.events->InternTexts(context.trace.track_begin(track),
                             context.trace.track_end(track));
  }
  host.memory = std::make_unique<MemoryEvents>(
      context.trace, *host.ids, context.base, settings.max_heap_records);
  host.plane = std::make_unique<Plane>(0, "/host:CPU", host.ids.get());
  AddTrackLines(context, *host.events, host.memory.get(), *host.ids, tracks,
                *host.plane);
  return host;
}

TrackPlane MakeDevicePlane(const TraceContext& context, int32_t device,
                           const Tracks& tracks) {
  TrackPlane made;
  made.ids = std::make_unique<PlaneIds>(
      context.trace, context.steps,
      [&context](NameId name) { return CopyName(context.trace.Name(name)); });
  made.events = std::make_unique<EventBytes>(context, *made.ids,
                                             ActivityType::kGpuMemcpy);
  for (const TrackIndex track : tracks) {
    made.events->InternTexts(context.trace.track_begin(track),
                             context.trace.track_end(track));
  }
  std::string properties;
  AppendDeviceProperties(context.trace, device, *made.ids, properties);
  made.plane =
      std::make_unique<Plane>(device, absl::StrCat("/device:GPU:", device),
                              made.ids.get(), std::move(properties));
  AddTrackLines(context, *made.events, /*memory=*/nullptr, *made.ids, tracks,
                *made.plane);
  return made;
}

absl::flat_hash_map<EventIndex, int32_t> FindLaunchDevices(
    const Trace& trace, const analysis::Launches& launches) {
  absl::flat_hash_map<EventIndex, int32_t> devices;
  for (TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    const model::Track& track = trace.tracks()[t];
    if (track.kind != TrackKind::kStream) continue;
    for (EventIndex i = trace.track_begin(t); i < trace.track_end(t); ++i) {
      const EventIndex call = launches.LauncherOf(i);
      if (call != model::kNoEvent) devices[call] = track.device_index;
    }
  }
  return devices;
}

// Start and end since the epoch, for people.
std::unique_ptr<Plane> MakeEnvironmentPlane(const TraceContext& context,
                                            PlaneIds& ids) {
  std::string stats;
  StatWriter writer(stats, StatWriter::kOfPlane);
  const auto add = [&](std::string_view name, TimeNs time_ns) {
    writer.Uint(ids.Text(ids.Intern(name)),
                static_cast<uint64_t>(std::max<TimeNs>(time_ns, 0)));
  };
  add("profile_start_time", context.base.start_ns());
  add("profile_stop_time", context.base.end_ns());
  return std::make_unique<Plane>(1, "Task Environment", &ids, stats);
}

// The space's fields but the planes.
std::string SpaceFields(const Trace& trace, const XSpaceSettings& settings,
                        size_t memory_left_out) {
  std::string out;
  proto::ProtoWriter writer(out);
  std::string losses;
  for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
    const model::Loss loss = static_cast<model::Loss>(i);
    if (!model::IsLoss(loss) || trace.ledger().Get(loss) == 0) continue;
    absl::StrAppend(&losses, losses.empty() ? "Lost: " : "; ",
                    ToAbsl(model::LossName(loss)), ": ",
                    trace.ledger().Get(loss), " (",
                    model::LossText(trace.ledger(), loss), ")");
  }
  // XProf shows a banner for each warning, above everything else.
  if (!losses.empty()) {
    writer.String(schema::XSpace::kWarningsFieldNumber, losses);
  }
  if (memory_left_out > 0) {
    writer.String(
        schema::XSpace::kWarningsFieldNumber,
        absl::StrCat(settings.folded_ranges > 0 ? "--max_size: "
                                                : "tensorboard_memory_events: ",
                     memory_left_out,
                     " records of the heap are left out, but for "
                     "the extremes of what was in use"));
  }
  if (settings.folded_ranges > 0) {
    writer.String(
        schema::XSpace::kWarningsFieldNumber,
        absl::StrCat(settings.folded_ranges,
                     " ranges are folded into others of their name, to stay "
                     "within --max_size: their times are exact, and their "
                     "numbers are in the statistic kymo_folded"));
  }
  if (settings.left_out > 0) {
    writer.String(
        schema::XSpace::kWarningsFieldNumber,
        absl::StrCat(
            settings.left_out, " ",
            ToAbsl(model::LossMeaning(model::Loss::kTimelineLeftOut))));
  }
  std::string scratch;
  writer.String(schema::XSpace::kHostnamesFieldNumber,
                json::ToUtf8(settings.host, scratch));
  return out;
}

absl::Status CheckSize(const std::string& fields,
                       const std::vector<const Plane*>& planes,
                       uint64_t most_bytes) {
  uint64_t bytes = fields.size();
  for (const Plane* plane : planes) bytes += plane->bytes();
  if (bytes <= most_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "tensorboard: the trace makes an XSpace of ", bytes,
      " bytes, and XProf reads at most ", most_bytes,
      "; record fewer steps or a shorter time, or export chrome or perfetto, "
      "whose files --max_file_mib splits at steps"));
}

}  // namespace

absl::Status WriteXSpace(const Trace& trace, const StepNames& steps,
                         const XSpaceSettings& settings,
                         const std::function<void(double)>& progress,
                         ByteSink& sink) {
  const OperationNames operations(trace, steps);
  const analysis::Launches launches(trace);
  const auto launch_devices = FindLaunchDevices(trace, launches);
  const auto flows = timeline::FindForwardBackwardFlows(trace);
  const TimeBase base(trace);
  const TraceContext context{trace,          steps, operations, launches,
                             launch_devices, flows, base};

  Tracks threads;
  std::map<int32_t, Tracks> devices;
  for (TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    const model::Track& track = trace.tracks()[t];
    const bool is_stream = track.kind == TrackKind::kStream;
    (is_stream ? devices[std::max(track.device_index, 0)] : threads)
        .push_back(t);
  }
  std::vector<TrackPlane> made;
  made.push_back(MakeHostPlane(context, threads, settings));
  for (const auto& [device, tracks] : devices) {
    made.push_back(MakeDevicePlane(context, device, tracks));
  }
  const auto no_special = [](NameId) { return std::string(); };
  PlaneIds counter_ids(trace, steps, no_special);
  PlaneIds environment_ids(trace, steps, no_special);
  const auto counters = MakeCounterPlane(context, counter_ids);
  const auto environment = MakeEnvironmentPlane(context, environment_ids);

  std::vector<Plane*> planes;
  for (const TrackPlane& plane : made) planes.push_back(plane.plane.get());
  if (counters->line_count() > 0) planes.push_back(counters.get());
  planes.push_back(environment.get());
  size_t items = 0;
  for (Plane* const plane : planes) {
    plane->Measure();
    items += plane->item_count();
  }
  const std::string fields =
      SpaceFields(trace, settings, made.front().memory->left_out());
  KYMO_RETURN_IF_ERROR(
      CheckSize(fields, {planes.begin(), planes.end()}, settings.most_bytes));
  KYMO_RETURN_IF_ERROR(sink.Append(fields));
  timeline::OrderedOutput output(sink, items, progress);
  for (const Plane* const plane : planes) {
    KYMO_RETURN_IF_ERROR(plane->Write(sink, output));
  }
  return absl::OkStatus();
}

}  // namespace kymo::tensorboard
