#include "exporters/perfetto/sample_packets.h"

#include <algorithm>
#include <span>
#include <string>

#include "exporters/perfetto/interned.h"
#include "exporters/perfetto/packet_bytes.h"
#include "exporters/perfetto/trace.pb.h"
#include "exporters/timeline/flame_slices.h"
#include "profiler/base/status_macros.h"

namespace kymo::perfetto {
namespace {

using model::StackSample;
using proto::ProtoWriter;
using schema::DebugAnnotation;
using schema::PerfSample;
using schema::Profiling;
using schema::TracePacket;
using schema::TrackEvent;
using timeline::FlameSlice;

constexpr size_t kNoSlice = ~size_t{0};

// By slice, the innermost one around it.
std::vector<size_t> FindParents(std::span<const FlameSlice> slices) {
  std::vector<size_t> parents(slices.size(), kNoSlice);
  std::vector<size_t> open;
  for (size_t i = 0; i < slices.size(); ++i) {
    while (!open.empty() && slices[open.back()].end_ns <= slices[i].start_ns) {
      open.pop_back();
    }
    if (!open.empty()) parents[i] = open.back();
    open.push_back(i);
  }
  return parents;
}

// Appends the details of a slice's function to the slice's begin.
void AppendFrame(ProtoWriter& writer, const model::Trace& trace,
                 const FlameSlice& slice) {
  const model::Frame& frame = trace.stacks().frame(slice.frame);
  if (frame.function == model::kEmptyName) {
    writer.String(TrackEvent::kNameFieldNumber, "[unknown]");
  } else {
    writer.Uint(TrackEvent::kNameIidFieldNumber, EventNameId(frame.function));
  }
  // The place of an outer frame is that of one call of several.
  if (!slice.is_leaf) return;
  if (frame.file != model::kEmptyName) {
    writer.Uint(TrackEvent::kSourceLocationIidFieldNumber,
                SourceLocationId(slice.frame));
  }
  if (frame.module != model::kEmptyName) {
    const size_t module =
        writer.Begin(TrackEvent::kDebugAnnotationsFieldNumber);
    writer.Uint(DebugAnnotation::kNameIidFieldNumber, KeyId(Key::kModule));
    writer.Uint(DebugAnnotation::kStringValueIidFieldNumber,
                TextId(frame.module));
    writer.End(module);
  }
}

}  // namespace

SamplePackets::SamplePackets(const model::Trace& trace, TrackTable& tracks,
                             TimeNs base_ns)
    : trace_(trace),
      tracks_(tracks),
      base_ns_(base_ns),
      uuids_(trace.tracks().size()) {
  for (const StackSample& sample : trace.samples()) {
    uint64_t& uuid = uuids_[sample.track];
    if (uuid == 0) {
      uuid = tracks.AddChild(tracks.of(sample.track).uuid, "samples");
    }
  }
}

absl::Status SamplePackets::Write(timeline::OrderedOutput& output,
                                  timeline::ShortSlices& short_ones) const {
  KYMO_RETURN_IF_ERROR(WriteSlices(output, short_ones));
  return WriteSamples(output);
}

// One thread after the other; ends as in event_packets.h.
absl::Status SamplePackets::WriteSlices(
    timeline::OrderedOutput& output, timeline::ShortSlices& short_ones) const {
  const DurationNs period_ns = timeline::SlicePeriodNs(trace_);
  const auto since_base = [this](TimeNs ns) {
    return static_cast<uint64_t>(ns - base_ns_);
  };
  std::span<const StackSample> rest = trace_.samples();
  while (!rest.empty()) {
    const auto end =
        std::find_if(rest.begin(), rest.end(), [&](const StackSample& sample) {
          return sample.track != rest.front().track;
        });
    const std::span<const StackSample> samples(rest.begin(), end);
    rest = rest.subspan(samples.size());
    const TrackField track(uuids_[samples.front().track]);
    std::vector<FlameSlice> slices =
        timeline::MakeFlameSlices(trace_.stacks(), samples, period_ns);
    short_ones.all += slices.size();
    short_ones.left_out += std::erase_if(slices, [&](const FlameSlice& slice) {
      return slice.end_ns - slice.start_ns < short_ones.shorter_than_ns;
    });
    const std::vector<size_t> parents = FindParents(slices);
    KYMO_RETURN_IF_ERROR(output.Run(
        slices.size(), [&](size_t begin, size_t stop, std::string& out) {
          for (size_t i = begin; i < stop; ++i) {
            AppendEventPacket(
                out, since_base(slices[i].start_ns), [&](ProtoWriter& writer) {
                  writer.Uint(TrackEvent::kTypeFieldNumber,
                              TrackEvent::TYPE_SLICE_BEGIN);
                  writer.Uint(TrackEvent::kTrackUuidFieldNumber, track.uuid());
                  writer.Uint(TrackEvent::kCategoryIidsFieldNumber,
                              CategoryId(model::ActivityType::kCpuSample));
                  AppendFrame(writer, trace_, slices[i]);
                });
            const size_t open =
                i + 1 < slices.size() ? parents[i + 1] : kNoSlice;
            for (size_t at = i; at != open; at = parents[at]) {
              AppendEnd(out, since_base(slices[at].end_ns), track);
            }
          }
        }));
  }
  return absl::OkStatus();
}

absl::Status SamplePackets::WriteSamples(
    timeline::OrderedOutput& output) const {
  const std::span<const StackSample> samples = trace_.samples();
  return output.Run(samples.size(), [&](size_t begin, size_t end,
                                        std::string& out) {
    ProtoWriter writer(out);
    for (size_t i = begin; i < end; ++i) {
      const model::StackId stack = samples[i].stack;
      if (stack == model::kEmptyStack) continue;
      const TrackIds& ids = tracks_.of(samples[i].track);
      const model::StackTable& stacks = trace_.stacks();
      const bool is_kernel = stacks.frame(stacks.leaf(stack)).is_kernel;
      const size_t packet = writer.Begin(schema::Trace::kPacketFieldNumber);
      writer.Uint(TracePacket::kTimestampFieldNumber,
                  static_cast<uint64_t>(samples[i].time_ns - base_ns_));
      writer.Uint(TracePacket::kTrustedPacketSequenceIdFieldNumber, kSequence);
      writer.Uint(TracePacket::kSequenceFlagsFieldNumber,
                  TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
      const size_t sample = writer.Begin(TracePacket::kPerfSampleFieldNumber);
      writer.Int(PerfSample::kPidFieldNumber, ids.pid);
      writer.Int(PerfSample::kTidFieldNumber, ids.tid);
      writer.Uint(PerfSample::kCallstackIidFieldNumber, CallstackId(stack));
      writer.Uint(PerfSample::kCpuModeFieldNumber,
                  is_kernel ? Profiling::MODE_KERNEL : Profiling::MODE_USER);
      writer.End(sample);
      writer.End(packet);
    }
  });
}

}  // namespace kymo::perfetto
