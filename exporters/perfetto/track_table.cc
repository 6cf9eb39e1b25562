#include "exporters/perfetto/track_table.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exporters/perfetto/packet_bytes.h"
#include "exporters/perfetto/trace.pb.h"
#include "profiler/model/lanes.h"
#include "profiler/text/utf8.h"

namespace kymo::perfetto {
namespace {

using model::Track;
using model::TrackKind;
using proto::ProtoWriter;
using schema::CounterDescriptor;
using schema::ProcessDescriptor;
using schema::ThreadDescriptor;
using schema::TracePacket;
using schema::TrackDescriptor;

bool Fits(int64_t id) {
  return id > 0 && id <= std::numeric_limits<int32_t>::max();
}

void AddText(ProtoWriter& writer, uint32_t field, std::string_view text) {
  std::string scratch;
  if (!text.empty()) writer.String(field, json::ToUtf8(text, scratch));
}

void AddOldId(ProtoWriter& descriptor, const char* what, int64_t old_id,
              int64_t id) {
  if (old_id == id) return;
  descriptor.String(TrackDescriptor::kDescriptionFieldNumber,
                    absl::StrCat(what, " id ", old_id));
}

}  // namespace

TrackTable::TrackTable(const model::Trace& trace)
    : trace_(trace), ids_(trace.tracks().size()) {
  for (const model::Process& process : trace.processes()) {
    taken_ids_.insert(process.pid);
  }
  for (const Track& track : trace.tracks()) {
    taken_ids_.insert({track.pid, track.id});
  }
  AddProcesses();
  AddThreads();
  AddStreams();
}

// write(descriptor) adds what is special to the descriptor.
template <typename Write>
uint64_t TrackTable::AddDescriptor(const Write& write) {
  ProtoWriter writer(packets_);
  const size_t packet = writer.Begin(schema::Trace::kPacketFieldNumber);
  writer.Uint(TracePacket::kTimestampFieldNumber, 0);
  writer.Uint(TracePacket::kTrustedPacketSequenceIdFieldNumber, kSequence);
  const size_t descriptor =
      writer.Begin(TracePacket::kTrackDescriptorFieldNumber);
  writer.Uint(TrackDescriptor::kUuidFieldNumber, ++last_uuid_);
  write(writer);
  writer.End(descriptor);
  writer.End(packet);
  return last_uuid_;
}

void TrackTable::AddProcesses() {
  // The last name of a process is the one after its exec.
  std::map<int64_t, const model::Process*> last;
  for (const Track& track : trace_.tracks()) {
    if (track.kind == TrackKind::kThread) last.try_emplace(track.pid, nullptr);
  }
  for (const model::Process& process : trace_.processes()) {
    last[process.pid] = &process;
  }
  for (const auto& [pid, known] : last) {
    TrackIds& ids = processes_[pid];
    ids.pid = FitId(pid);
    ids.uuid = AddDescriptor([&, pid = pid, known = known](ProtoWriter& out) {
      const size_t process = out.Begin(TrackDescriptor::kProcessFieldNumber);
      out.Int(ProcessDescriptor::kPidFieldNumber, ids.pid);
      if (known != nullptr) {
        AddText(out, ProcessDescriptor::kCmdlineFieldNumber,
                trace_.Name(known->command_line));
        AddText(out, ProcessDescriptor::kProcessNameFieldNumber,
                trace_.Name(known->name));
      }
      out.End(process);
      AddOldId(out, "process", pid, ids.pid);
    });
  }
}

void TrackTable::AddThreads() {
  uint32_t lane = 1;
  for (size_t t = 0; t < ids_.size(); ++t) {
    const Track& track = trace_.tracks()[t];
    if (track.kind != TrackKind::kThread) continue;
    const bool is_lane = t > 0 && IsLaneOf(track, trace_.tracks()[t - 1]);
    lane = is_lane ? lane + 1 : 1;
    TrackIds& ids = ids_[t];
    if (is_lane) {
      ids = ids_[t - 1];
      ids.uuid = AddChild(ids_[t + 1 - lane].uuid, absl::StrCat("lane ", lane));
      continue;
    }
    const TrackIds& process = processes_.at(track.pid);
    ids.process_uuid = process.uuid;
    ids.pid = process.pid;
    ids.tid = FitId(track.id);
    ids.uuid = AddDescriptor([&](ProtoWriter& out) {
      const size_t thread = out.Begin(TrackDescriptor::kThreadFieldNumber);
      out.Int(ThreadDescriptor::kPidFieldNumber, ids.pid);
      out.Int(ThreadDescriptor::kTidFieldNumber, ids.tid);
      AddText(out, ThreadDescriptor::kThreadNameFieldNumber,
              trace_.Name(track.name));
      out.End(thread);
      AddOldId(out, "thread", track.id, ids.tid);
    });
  }
}

void TrackTable::AddStreams() {
  uint32_t lane = 1;
  for (size_t t = 0; t < ids_.size(); ++t) {
    const Track& track = trace_.tracks()[t];
    if (track.kind != TrackKind::kStream) continue;
    const bool is_lane = t > 0 && IsLaneOf(track, trace_.tracks()[t - 1]);
    lane = is_lane ? lane + 1 : 1;
    std::string name = absl::StrCat("Stream ", track.id);
    if (track.name != model::kEmptyName) {
      absl::StrAppend(&name, " (", std::string(trace_.Name(track.name)), ")");
    }
    if (is_lane) absl::StrAppend(&name, " lane ", lane);
    TrackIds& ids = ids_[t];
    ids.process_uuid = ProcessOfDevice(track);
    const uint64_t device = DeviceUuid(track);
    ids.uuid = AddDescriptor([&](ProtoWriter& out) {
      out.Uint(TrackDescriptor::kParentUuidFieldNumber, device);
      AddText(out, TrackDescriptor::kNameFieldNumber, name);
      out.Uint(TrackDescriptor::kSiblingMergeBehaviorFieldNumber,
               TrackDescriptor::SIBLING_MERGE_BEHAVIOR_NONE);
      out.Uint(TrackDescriptor::kSiblingOrderRankFieldNumber, t);
    });
  }
}

// The process that a stream was recorded in, if that can be told.
uint64_t TrackTable::ProcessOfDevice(const Track& track) const {
  const auto it = processes_.find(track.pid);
  if (it != processes_.end()) return it->second.uuid;
  return processes_.size() == 1 ? processes_.begin()->second.uuid : 0;
}

uint64_t TrackTable::DeviceUuid(const Track& track) {
  const auto [it, is_new] =
      devices_.try_emplace({track.pid, track.device_index}, uint64_t{0});
  if (is_new) {
    it->second = AddDescriptor([&](ProtoWriter& out) {
      const uint64_t parent = ProcessOfDevice(track);
      if (parent != 0)
        out.Uint(TrackDescriptor::kParentUuidFieldNumber, parent);
      out.String(TrackDescriptor::kNameFieldNumber,
                 absl::StrCat("GPU ", track.device_index));
      out.Uint(TrackDescriptor::kChildOrderingFieldNumber,
               TrackDescriptor::EXPLICIT);
    });
  }
  return it->second;
}

uint64_t TrackTable::AddChild(uint64_t parent_uuid, std::string_view name) {
  return AddDescriptor([&](ProtoWriter& out) {
    if (parent_uuid != 0)
      out.Uint(TrackDescriptor::kParentUuidFieldNumber, parent_uuid);
    AddText(out, TrackDescriptor::kNameFieldNumber, name);
  });
}

uint64_t TrackTable::AddCounter(uint64_t parent_uuid, std::string_view name,
                                CounterUnit unit) {
  return AddDescriptor([&](ProtoWriter& out) {
    if (parent_uuid != 0)
      out.Uint(TrackDescriptor::kParentUuidFieldNumber, parent_uuid);
    AddText(out, TrackDescriptor::kNameFieldNumber, name);
    // Makes it a counter even when nothing is in it.
    const size_t counter = out.Begin(TrackDescriptor::kCounterFieldNumber);
    if (unit == CounterUnit::kBytes) {
      out.Uint(CounterDescriptor::kUnitFieldNumber,
               CounterDescriptor::UNIT_SIZE_BYTES);
    }
    out.End(counter);
  });
}

int64_t TrackTable::FitId(int64_t id) {
  if (Fits(id)) return id;
  const auto [it, is_new] = new_ids_.try_emplace(id, 0);
  if (is_new) {
    while (!taken_ids_.insert(next_id_).second) ++next_id_;
    it->second = next_id_;
  }
  return it->second;
}

}  // namespace kymo::perfetto
