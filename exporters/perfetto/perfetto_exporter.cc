#include "exporters/perfetto/perfetto_exporter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "exporters/perfetto/counter_packets.h"
#include "exporters/perfetto/event_packets.h"
#include "exporters/perfetto/interned.h"
#include "exporters/perfetto/packet_bytes.h"
#include "exporters/perfetto/sample_packets.h"
#include "exporters/perfetto/state_packets.h"
#include "exporters/perfetto/trace.pb.h"
#include "exporters/perfetto/track_table.h"
#include "exporters/proto/proto_writer.h"
#include "exporters/timeline/bounded_file.h"
#include "exporters/timeline/flame_slices.h"
#include "exporters/timeline/ordered_output.h"
#include "exporters/timeline/short_slices.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/model/thread_states.h"
#include "profiler/text/utf8.h"

namespace kymo {
namespace {

namespace pf = perfetto;
using model::Trace;
using perfetto::schema::ClockSnapshot;
using perfetto::schema::DebugAnnotation;
using perfetto::schema::TracePacket;
using perfetto::schema::TrackEvent;
using proto::ProtoWriter;
using timeline::FileForm;
using timeline::OrderedOutput;
using timeline::ShortSlices;

// The packet of an instant with the shortest numbers (packet_bytes.h).
constexpr uint64_t kLeastEventBytes = 18;

// The earliest time of anything.
TimeNs BaseTime(const Trace& trace) {
  TimeNs base_ns = std::min(trace.start_ns(), trace.end_ns());
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    if (trace.track_begin(t) == trace.track_end(t)) continue;
    base_ns = std::min(base_ns, trace.start()[trace.track_begin(t)]);
  }
  for (const model::CounterSample& sample : trace.counters()) {
    base_ns = std::min(base_ns, sample.time_ns);
  }
  for (const model::MemoryRecord& record : trace.memory()) {
    base_ns = std::min(base_ns, record.time_ns);
  }
  for (const model::StackSample& sample : trace.samples()) {
    base_ns = std::min(base_ns, sample.time_ns);
  }
  if (timeline::HasWaits(trace)) {
    for (const model::Wait& wait : trace.thread_states()->waits) {
      base_ns = std::min(base_ns, wait.begin_ns);
    }
  }
  return base_ns;
}

void AppendClock(ProtoWriter& snapshot, uint64_t id, uint64_t time_ns) {
  const size_t clock = snapshot.Begin(ClockSnapshot::kClocksFieldNumber);
  snapshot.Uint(ClockSnapshot::Clock::kClockIdFieldNumber, id);
  snapshot.Uint(ClockSnapshot::Clock::kTimestampFieldNumber, time_ns);
  snapshot.End(clock);
}

// The sequence begins; the file's clock, 0 here, is tied to wall time.
std::string Head(TimeNs base_ns) {
  std::string out;
  ProtoWriter writer(out);
  const size_t packet = writer.Begin(pf::schema::Trace::kPacketFieldNumber);
  writer.Uint(TracePacket::kTrustedPacketSequenceIdFieldNumber, pf::kSequence);
  writer.Uint(TracePacket::kSequenceFlagsFieldNumber,
              TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
  const size_t snapshot = writer.Begin(TracePacket::kClockSnapshotFieldNumber);
  AppendClock(writer, pf::schema::BUILTIN_CLOCK_BOOTTIME, 0);
  AppendClock(writer, pf::schema::BUILTIN_CLOCK_REALTIME,
              static_cast<uint64_t>(std::max<TimeNs>(base_ns, 0)));
  writer.Uint(ClockSnapshot::kPrimaryTraceClockFieldNumber,
              pf::schema::BUILTIN_CLOCK_BOOTTIME);
  writer.End(snapshot);
  writer.End(packet);
  return out;
}

// An argument with a name that is written once.
template <typename Write>
void AppendNote(ProtoWriter& event, std::string_view key, const Write& write) {
  std::string scratch;
  const size_t note = event.Begin(TrackEvent::kDebugAnnotationsFieldNumber);
  event.String(DebugAnnotation::kNameFieldNumber, json::ToUtf8(key, scratch));
  write();
  event.End(note);
}

// Metadata, of which the last of a key counts, and what was lost.
void AppendNotes(ProtoWriter& event, const Trace& trace,
                 const model::LossLedger& ledger) {
  const auto metadata = trace.metadata();
  for (size_t i = 0; i < metadata.size(); ++i) {
    const bool is_last_of_key =
        i + 1 == metadata.size() || metadata[i + 1].key != metadata[i].key;
    if (!is_last_of_key) continue;
    AppendNote(event, trace.Name(metadata[i].key), [&] {
      std::string scratch;
      event.String(DebugAnnotation::kStringValueFieldNumber,
                   json::ToUtf8(trace.Name(metadata[i].json_value), scratch));
    });
  }
  for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
    const model::Loss loss = static_cast<model::Loss>(i);
    const uint64_t count = ledger.Get(loss);
    if (count == 0) continue;
    AppendNote(event, model::LossName(loss), [&] {
      event.Uint(DebugAnnotation::kUintValueFieldNumber, count);
    });
  }
}

// The recording's window as a slice.
std::string Recording(const Trace& trace, const model::LossLedger& ledger,
                      uint64_t uuid, TimeNs base_ns) {
  const pf::TrackField track(uuid);
  const TimeNs end_ns = std::max(trace.start_ns(), trace.end_ns());
  std::string out;
  pf::AppendEventPacket(
      out, static_cast<uint64_t>(trace.start_ns() - base_ns),
      [&](ProtoWriter& event) {
        event.Uint(TrackEvent::kTypeFieldNumber, TrackEvent::TYPE_SLICE_BEGIN);
        event.Uint(TrackEvent::kTrackUuidFieldNumber, uuid);
        event.String(TrackEvent::kNameFieldNumber, "recording");
        AppendNotes(event, trace, ledger);
      });
  pf::AppendEnd(out, static_cast<uint64_t>(end_ns - base_ns), track);
  return out;
}

// What a file that had to be folded does not show, beside ranges.
struct LeftOut {
  ShortSlices samples;
  ShortSlices waits;
  bool records = false;  // some of each kind (FileForm::left_out)
};

absl::Status WriteTrace(const Trace& trace, const FileForm& form,
                        const ExportOptions& options, LeftOut& left_out,
                        ByteSink& sink) {
  left_out = {
      .samples = {.shorter_than_ns = timeline::LeastFlameNs(trace, form.fold)},
      .waits = {.shorter_than_ns = timeline::LeastWaitNs(trace, form.fold)},
      .records = form.left_out > 0};
  const model::LossLedger ledger = timeline::LedgerOf(trace, form);
  const TimeNs base_ns = BaseTime(trace);
  pf::TrackTable tracks(trace);
  const uint64_t recording = tracks.AddChild(0, "Recording");
  const pf::Interned interned(trace);
  const pf::EventPackets events(trace, tracks, base_ns);
  const pf::CounterPackets counters(trace, tracks, base_ns);
  const pf::SamplePackets samples(trace, tracks, base_ns);
  const pf::StatePackets states(trace, tracks, base_ns);

  KYMO_RETURN_IF_ERROR(sink.Append(Head(base_ns)));
  KYMO_RETURN_IF_ERROR(sink.Append(tracks.packets()));
  KYMO_RETURN_IF_ERROR(
      sink.Append(Recording(trace, ledger, recording, base_ns)));
  OrderedOutput output(sink,
                       interned.item_count() + trace.event_count() +
                           counters.item_count() + states.item_count() +
                           samples.item_count(),
                       options.progress);
  KYMO_RETURN_IF_ERROR(interned.Write(output));
  KYMO_RETURN_IF_ERROR(output.Run(
      trace.event_count(), [&](size_t begin, size_t end, std::string& out) {
        events.Append(out, static_cast<model::EventIndex>(begin),
                      static_cast<model::EventIndex>(end));
      }));
  KYMO_RETURN_IF_ERROR(counters.Write(output));
  KYMO_RETURN_IF_ERROR(states.Write(output, left_out.waits));
  return samples.Write(output, left_out.samples);
}

void AddNotices(const LeftOut& left_out, const std::string& name,
                ExportNotes& notes) {
  if (left_out.samples.left_out > 0) {
    notes.notices.push_back(
        absl::StrCat(name, ": ", TextOf(left_out.samples, "slices of samples"),
                     ", and the file has every sample for flame graphs"));
  }
  if (left_out.waits.left_out > 0) {
    notes.notices.push_back(
        absl::StrCat(name, ": ", TextOf(left_out.waits, "waits")));
  }
}

constexpr char kFileName[] = "trace.pftrace";

class PerfettoExporter final : public TraceExporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  absl::StatusOr<std::vector<std::string>> Export(
      const Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    LeftOut left_out;
    KYMO_ASSIGN_OR_RETURN(
        std::string name,
        timeline::WriteBounded(
            {.name = kFileName,
             .max_bytes = options.max_bytes,
             .obeys_fold =
                 !trace.samples().empty() || timeline::HasWaits(trace),
             .least_event_bytes = kLeastEventBytes},
            trace, options, out,
            [&](const Trace& shown, const FileForm& form, ByteSink& sink) {
              return WriteTrace(shown, form, options, left_out, sink);
            }));
    if (options.progress) options.progress(1.0);
    if (name.empty()) return std::vector<std::string>();
    if (options.notes != nullptr && !left_out.records) {
      AddNotices(left_out, name, *options.notes);
    }
    return std::vector<std::string>{std::move(name)};
  }

 private:
  const PluginInfo info_ = {
      .name = "perfetto",
      .purpose = "Perfetto's trace format, for ui.perfetto.dev (trace.pftrace)",
      .splits_by_step = true,
      .takes_max_bytes = true,
      .files = timeline::NamesOf(kFileName),
  };
};

}  // namespace

std::unique_ptr<TraceExporter> NewPerfettoExporter() {
  return std::make_unique<PerfettoExporter>();
}

}  // namespace kymo
