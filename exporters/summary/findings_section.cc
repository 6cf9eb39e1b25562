#include "exporters/summary/findings_section.h"

#include <cstdint>

#include "profiler/analysis/findings/finding.h"
#include "profiler/analysis/findings/findings.h"
#include "profiler/analysis/first_time.h"

namespace kymo {
namespace {

using analysis::Evidence;
using analysis::EvidenceKind;
using json::JsonWriter;
using model::Trace;

void WriteTrack(const Trace& trace, model::TrackIndex index, JsonWriter& json) {
  const model::Track& track = trace.tracks()[index];
  json.Member("track", int64_t{index});
  json.Member("pid", track.pid);
  if (track.kind == model::TrackKind::kStream) {
    json.Member("device", int64_t{track.device_index});
    json.Member("stream", track.id);
  } else {
    json.Member("tid", track.id);
  }
}

void WriteEvidence(const Trace& trace, const Evidence& evidence,
                   TimeNs first_ns, JsonWriter& json) {
  json.Key("evidence");
  json.BeginObject();
  json.Member("kind", EvidenceKindName(evidence.kind));
  json.Member("name", evidence.name);
  if (!evidence.table.empty()) json.Member("table", evidence.table);
  if (evidence.track != model::kNoTrack) {
    WriteTrack(trace, evidence.track, json);
  }
  if (evidence.kind == EvidenceKind::kInterval ||
      evidence.kind == EvidenceKind::kEvent) {
    json.Member("begin_ns", evidence.begin_ns - first_ns);
    json.Member("duration_ns", evidence.duration_ns);
  }
  if (evidence.stack != model::kEmptyStack) {
    json.Key("frames");
    json.BeginArray();
    for (const model::FrameId frame : trace.stacks().Frames(evidence.stack)) {
      json.String(trace.Name(trace.stacks().frame(frame).function));
    }
    json.EndArray();
  }
  json.EndObject();
}

}  // namespace

void WriteFindings(const Trace& trace,
                   const analysis::LazyMemoryProfiles& memory,
                   const analysis::LazyJobOfRanks& ranks, JsonWriter& json) {
  const TimeNs first_ns = analysis::FirstTimeNs(trace);
  json.Key("findings");
  json.BeginArray();
  for (const analysis::Finding& finding :
       analysis::FindFindings(trace, memory, ranks)) {
    json.BeginObject();
    json.Member("id", FindingId(finding.kind));
    json.Member("title", finding.title);
    json.Member("next_step", finding.next_step);
    if (finding.time_ns != 0) json.Member("time_ns", finding.time_ns);
    if (finding.bytes != 0) json.Member("bytes", finding.bytes);
    json.Key("share");
    json.Double(finding.share);
    WriteEvidence(trace, finding.evidence, first_ns, json);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace kymo
