#include "exporters/perfetto/test_reader.h"

#include <set>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "exporters/perfetto/trace.pb.h"
#include "profiler/text/utf8.h"

namespace kymo::perfetto {
namespace {

using schema::TracePacket;
using schema::TrackEvent;

void ExpectUtf8(const std::string& text) {
  std::string scratch;
  EXPECT_EQ(json::ToUtf8(text, scratch).data(), text.data()) << text;
}

// The interned values of one list, by id.
template <typename Value>
class Table {
 public:
  explicit Table(std::string name) : name_(std::move(name)) {}

  void Add(uint64_t id, Value value) {
    EXPECT_NE(id, 0u) << name_;
    EXPECT_TRUE(entries_.emplace(id, std::move(value)).second)
        << name_ << " defines " << id << " again";
  }
  const Value& Get(uint64_t id) const {
    static const Value* const kNone = new Value();
    const auto it = entries_.find(id);
    EXPECT_TRUE(it != entries_.end()) << name_ << " lacks " << id;
    return it == entries_.end() ? *kNone : it->second;
  }

 private:
  const std::string name_;
  std::map<uint64_t, Value> entries_;
};

using Texts = Table<std::string>;

class Reader {
 public:
  DecodedTrace Read(const std::string& bytes) {
    schema::Trace file;
    EXPECT_TRUE(file.ParseFromString(bytes));
    const size_t known_and_unknown = file.ByteSizeLong();
    file.DiscardUnknownFields();
    EXPECT_EQ(file.ByteSizeLong(), known_and_unknown) << "unknown fields";
    for (int i = 0; i < file.packet_size(); ++i) {
      ReadPacket(file.packet(i), i == 0);
    }
    CheckEnds();
    return std::move(trace_);
  }

 private:
  void ReadPacket(const TracePacket& packet, bool is_first) {
    EXPECT_EQ(packet.trusted_packet_sequence_id(), 1u);
    const uint32_t flags = packet.sequence_flags();
    EXPECT_EQ((flags & TracePacket::SEQ_INCREMENTAL_STATE_CLEARED) != 0,
              is_first);
    EXPECT_EQ(packet.has_clock_snapshot(), is_first);
    if (packet.has_clock_snapshot()) ReadClocks(packet.clock_snapshot());
    if (packet.has_interned_data()) {
      EXPECT_TRUE(flags & TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
      ReadInterned(packet.interned_data());
    }
    if (packet.has_track_descriptor()) ReadTrack(packet.track_descriptor());
    if (packet.has_track_event()) {
      EXPECT_TRUE(packet.has_timestamp());
      EXPECT_LE(packet.timestamp(), uint64_t{1} << 62) << "a negative time";
      const TrackEvent& event = packet.track_event();
      if (event.name_iid() != 0) {
        EXPECT_TRUE(flags & TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
      }
      ReadEvent(event, packet.timestamp());
    }
    if (packet.has_generic_kernel_task_state_event()) {
      const auto& event = packet.generic_kernel_task_state_event();
      EXPECT_LE(packet.timestamp(), uint64_t{1} << 62) << "a negative time";
      trace_.states.push_back({packet.timestamp(), event.tid(), event.comm(),
                               event.cpu(),
                               event.TaskStateEnum_Name(event.state())
                                   .substr(sizeof("TASK_STATE_") - 1)});
    }
    if (packet.has_perf_sample()) {
      const schema::PerfSample& sample = packet.perf_sample();
      trace_.samples.push_back({packet.timestamp(), sample.pid(), sample.tid(),
                                CallstackText(sample.callstack_iid())});
    }
  }

  void ReadClocks(const schema::ClockSnapshot& snapshot) {
    for (const auto& clock : snapshot.clocks()) {
      if (clock.clock_id() == schema::BUILTIN_CLOCK_REALTIME) {
        trace_.realtime_ns = clock.timestamp();
      }
      if (clock.clock_id() == schema::BUILTIN_CLOCK_BOOTTIME) {
        EXPECT_EQ(clock.timestamp(), 0u);
      }
    }
    EXPECT_EQ(snapshot.primary_trace_clock(), schema::BUILTIN_CLOCK_BOOTTIME);
  }

  template <typename Entries>
  static void AddTexts(const Entries& entries, Texts& texts) {
    for (const auto& entry : entries) {
      ExpectUtf8(entry.text());
      texts.Add(entry.iid(), entry.text());
    }
  }

  void ReadInterned(const schema::InternedData& data) {
    AddTexts(data.event_categories(), categories_);
    AddTexts(data.event_names(), names_);
    AddTexts(data.debug_annotation_names(), keys_);
    AddTexts(data.debug_annotation_string_values(), values_);
    AddTexts(data.function_names(), functions_);
    AddTexts(data.mapping_paths(), mapping_paths_);
    AddTexts(data.source_paths(), source_paths_);
    for (const auto& mapping : data.mappings()) {
      EXPECT_EQ(mapping.path_string_ids_size(), 1);
      mappings_.Add(mapping.iid(),
                    mapping_paths_.Get(mapping.path_string_ids(0)));
    }
    for (const auto& frame : data.frames()) {
      mappings_.Get(frame.mapping_id());
      if (frame.has_source_path_iid()) {
        source_paths_.Get(frame.source_path_iid());
      }
      frames_.Add(frame.iid(), functions_.Get(frame.function_name_id()));
    }
    for (const auto& place : data.source_locations()) {
      places_.Add(place.iid(),
                  absl::StrCat(place.file_name(), ":", place.line_number(), " ",
                               place.function_name()));
    }
    for (const auto& stack : data.callstacks()) {
      EXPECT_GT(stack.frame_ids_size(), 0);
      std::string text;
      for (const uint64_t id : stack.frame_ids()) {
        absl::StrAppend(&text, text.empty() ? "" : ";", frames_.Get(id));
      }
      callstacks_.Add(stack.iid(), text);
    }
  }

  std::string CallstackText(uint64_t id) const { return callstacks_.Get(id); }

  void ReadTrack(const schema::TrackDescriptor& descriptor) {
    DecodedTrack track;
    track.uuid = descriptor.uuid();
    track.parent_uuid = descriptor.parent_uuid();
    track.name = descriptor.name();
    track.description = descriptor.description();
    EXPECT_NE(track.uuid, 0u);
    if (track.parent_uuid != 0) {
      EXPECT_TRUE(positions_.contains(track.parent_uuid)) << track.name;
    }
    if (descriptor.has_process()) {
      track.pid = descriptor.process().pid();
      track.name = descriptor.process().process_name();
      EXPECT_GT(track.pid, 0);
    }
    if (descriptor.has_thread()) {
      EXPECT_EQ(track.parent_uuid, 0u);
      track.pid = descriptor.thread().pid();
      track.tid = descriptor.thread().tid();
      track.name = descriptor.thread().thread_name();
      EXPECT_GT(track.pid, 0);
      EXPECT_GT(track.tid, 0);
    }
    ExpectUtf8(track.name);
    track.is_counter = descriptor.has_counter();
    track.unit = descriptor.counter().unit();
    EXPECT_TRUE(positions_.emplace(track.uuid, trace_.tracks.size()).second)
        << "track " << track.uuid << " is defined again";
    trace_.tracks.push_back(std::move(track));
    open_.emplace_back();
    last_ns_.push_back(0);
  }

  void ReadEvent(const TrackEvent& event, uint64_t time_ns) {
    const auto it = positions_.find(event.track_uuid());
    ASSERT_TRUE(it != positions_.end()) << "no track " << event.track_uuid();
    const size_t position = it->second;
    DecodedTrack& track = trace_.tracks[position];
    EXPECT_EQ(track.is_counter, event.type() == TrackEvent::TYPE_COUNTER)
        << track.name;
    EXPECT_GE(time_ns, last_ns_[position]) << track.name;
    last_ns_[position] = time_ns;
    std::vector<size_t>& open = open_[position];
    switch (event.type()) {
      case TrackEvent::TYPE_SLICE_BEGIN:
      case TrackEvent::TYPE_INSTANT:
        track.slices.push_back(ReadSlice(event, time_ns));
        track.slices.back().depth = static_cast<int>(open.size());
        if (event.type() == TrackEvent::TYPE_SLICE_BEGIN)
          open.push_back(track.slices.size() - 1);
        break;
      case TrackEvent::TYPE_SLICE_END:
        ASSERT_FALSE(open.empty()) << track.name << ": an end without a begin";
        track.slices[open.back()].end_ns = time_ns;
        ReadFlowEnds(event, time_ns, track.slices[open.back()]);
        open.pop_back();
        break;
      case TrackEvent::TYPE_COUNTER:
        track.points.push_back({time_ns, event.has_counter_value()
                                             ? double(event.counter_value())
                                             : event.double_counter_value()});
        break;
      default:
        ADD_FAILURE() << "type " << event.type();
    }
  }

  DecodedSlice ReadSlice(const TrackEvent& event, uint64_t time_ns) {
    DecodedSlice slice;
    slice.is_instant = event.type() == TrackEvent::TYPE_INSTANT;
    slice.start_ns = slice.end_ns = time_ns;
    slice.name = event.has_name() ? event.name() : names_.Get(event.name_iid());
    ExpectUtf8(slice.name);
    for (const uint64_t id : event.category_iids()) {
      slice.category = categories_.Get(id);
    }
    for (const uint64_t id : event.flow_ids()) {
      EXPECT_TRUE(flows_.emplace(id, std::pair(time_ns, 1)).second);
      slice.flow_ids.push_back(id);
    }
    ReadFlowEnds(event, time_ns, slice);
    if (event.has_callstack_iid()) {
      slice.callstack = CallstackText(event.callstack_iid());
    }
    if (event.has_source_location_iid()) {
      slice.source = places_.Get(event.source_location_iid());
    }
    for (const auto& annotation : event.debug_annotations()) {
      const std::string& key = annotation.has_name()
                                   ? annotation.name()
                                   : keys_.Get(annotation.name_iid());
      EXPECT_TRUE(slice.args.emplace(key, ValueText(annotation)).second)
          << key << " comes twice";
    }
    return slice;
  }

  void ReadFlowEnds(const TrackEvent& event, uint64_t time_ns,
                    DecodedSlice& slice) {
    for (const uint64_t id : event.terminating_flow_ids()) {
      flow_ends_.emplace_back(id, time_ns);
      slice.terminating_flow_ids.push_back(id);
    }
  }

  std::string ValueText(const schema::DebugAnnotation& value) const {
    if (value.has_bool_value()) return value.bool_value() ? "true" : "false";
    if (value.has_uint_value()) return absl::StrCat(value.uint_value());
    if (value.has_int_value()) return absl::StrCat(value.int_value());
    if (value.has_double_value()) return absl::StrCat(value.double_value());
    if (value.has_string_value()) {
      ExpectUtf8(value.string_value());
      return value.string_value();
    }
    return values_.Get(value.string_value_iid());
  }

  void CheckEnds() {
    for (size_t i = 0; i < open_.size(); ++i) {
      EXPECT_TRUE(open_[i].empty()) << trace_.tracks[i].name << " stays open";
    }
    EXPECT_EQ(flow_ends_.size(), flows_.size());
    for (const auto& [id, time_ns] : flow_ends_) {
      const auto it = flows_.find(id);
      ASSERT_TRUE(it != flows_.end()) << "flow " << id << " has no start";
      EXPECT_LE(it->second.first, time_ns);
      EXPECT_EQ(it->second.second--, 1) << "flow " << id << " ends twice";
    }
  }

  DecodedTrace trace_;
  std::map<uint64_t, size_t> positions_;                // of tracks, by uuid
  std::vector<std::vector<size_t>> open_;               // by track
  std::vector<uint64_t> last_ns_;                       // by track
  std::map<uint64_t, std::pair<uint64_t, int>> flows_;  // start, ends to come
  std::vector<std::pair<uint64_t, uint64_t>> flow_ends_;
  Texts categories_{"event_categories"};
  Texts names_{"event_names"};
  Texts keys_{"debug_annotation_names"};
  Texts values_{"debug_annotation_string_values"};
  Texts functions_{"function_names"};
  Texts mapping_paths_{"mapping_paths"};
  Texts source_paths_{"source_paths"};
  Texts mappings_{"mappings"};
  Texts frames_{"frames"};
  Texts places_{"source_locations"};
  Texts callstacks_{"callstacks"};
};

}  // namespace

const DecodedTrack& DecodedTrace::Find(const std::string& name) const {
  for (const DecodedTrack& track : tracks) {
    if (track.name == name) return track;
  }
  ADD_FAILURE() << "no track " << name;
  static const DecodedTrack* const kNone = new DecodedTrack();
  return *kNone;
}

std::vector<std::string> DecodedTrace::Names(const std::string& track) const {
  std::vector<std::string> names;
  for (const DecodedSlice& slice : Find(track).slices) {
    names.push_back(slice.name);
  }
  return names;
}

DecodedTrace ReadTrace(const std::string& bytes) {
  return Reader().Read(bytes);
}

}  // namespace kymo::perfetto
