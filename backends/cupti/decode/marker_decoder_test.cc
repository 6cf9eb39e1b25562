#include "backends/cupti/decode/marker_decoder.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <string>
#include <vector>

#include "backends/cupti/decode/decode.h"
#include "backends/cupti/log/test_log.h"

namespace kymo::cupti {
namespace {

using model::ActivityType;
using model::Loss;

struct Event {
  ActivityType type;
  TimeNs start_ns, end_ns;
  int64_t thread;
  uint8_t flags;
  std::map<std::string, std::string> args;
};

std::string TextOf(const model::TraceShard& shard, const model::Arg& arg) {
  switch (arg.type) {
    case model::ArgType::kInt:
      return std::to_string(arg.int_value());
    case model::ArgType::kDouble:
      return std::to_string(arg.double_value());
    default:
      return std::string(shard.strings.Get(arg.string_value()));
  }
}

class MarkerDecoderTest : public ::testing::Test {
 protected:
  void Add(uint32_t id, uint64_t time, uint32_t phase, uint32_t thread,
           const char* name = nullptr) {
    MarkerRecord marker = {};
    marker.id = id;
    marker.time = time;
    marker.phase = phase;
    marker.thread = thread;
    log_.Add(RecordKind::kMarker, marker, name);
  }

  void AddPayload(uint32_t id, MarkerPayload kind, uint64_t bits) {
    MarkerDataRecord data = {};
    data.id = id;
    data.payload_kind = kind;
    data.payload = bits;
    log_.Add(RecordKind::kMarkerData, data);
  }

  // By name.
  std::map<std::string, Event> Decode() {
    DecodeLog({.pid = 42}, log_.bytes(), {.epoch_offset_ns = 1000}, shard_);
    std::map<std::string, Event> all;
    for (const model::TrackEvents& events : shard_.events) {
      for (size_t i = 0; i < events.size(); ++i) {
        Event& event = all[std::string(shard_.strings.Get(events.name[i]))];
        event = {.type = events.type[i],
                 .start_ns = events.start_ns[i],
                 .end_ns = events.end_ns[i],
                 .thread = shard_.tracks[events.track].id,
                 .flags = events.flags[i],
                 .args = {}};
        if (events.detail[i] == model::kNoDetail) continue;
        const model::Detail& detail = shard_.details[events.detail[i]];
        for (uint32_t a = detail.args_begin; a < detail.args_end; ++a) {
          const model::Arg& arg = shard_.args[a];
          event.args[std::string(shard_.strings.Get(arg.key))] =
              TextOf(shard_, arg);
        }
      }
    }
    return all;
  }

  TestLog log_;
  model::TraceShard shard_;
};

TEST_F(MarkerDecoderTest, PushedRangesNestOnTheirThread) {
  Add(1, 100, kMarkerStart, 43, "outer");
  Add(2, 200, kMarkerStart, 43, "inner");
  Add(2, 300, kMarkerEnd, 43);
  Add(1, 400, kMarkerEnd, 43);
  auto events = Decode();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events["outer"].type, ActivityType::kNvtxRange);
  EXPECT_EQ(events["outer"].thread, 43);
  EXPECT_EQ(events["outer"].start_ns, 1100);
  EXPECT_EQ(events["outer"].end_ns, 1400);
  EXPECT_EQ(events["outer"].flags, 0);
  EXPECT_EQ(events["inner"].start_ns, 1200);
  EXPECT_EQ(events["inner"].end_ns, 1300);
  EXPECT_FALSE(shard_.ledger.AnythingLost());
}

TEST_F(MarkerDecoderTest, StartedRangesAreAsynchronous) {
  Add(1, 100, kMarkerStart, 0, "of the process");
  Add(2, 200, kMarkerStart, 43, "ends elsewhere");
  Add(1, 300, kMarkerEnd, 0);
  Add(2, 400, kMarkerEnd, 44);
  auto events = Decode();
  EXPECT_EQ(events["of the process"].flags, model::kEventAsync);
  EXPECT_EQ(events["of the process"].thread, 42) << "its first thread";
  EXPECT_EQ(events["ends elsewhere"].flags, model::kEventAsync);
  EXPECT_EQ(events["ends elsewhere"].thread, 43);
  EXPECT_EQ(events["ends elsewhere"].end_ns, 1400);
}

TEST_F(MarkerDecoderTest, MarksAreInstants) {
  Add(1, 100, kMarkerInstant, 43, "mark");
  const Event mark = Decode()["mark"];
  EXPECT_EQ(mark.type, ActivityType::kCpuInstantEvent);
  EXPECT_EQ(mark.flags, model::kEventInstant);
  EXPECT_EQ(mark.start_ns, 1100);
  EXPECT_EQ(mark.end_ns, 1100);
}

TEST_F(MarkerDecoderTest, DomainCategoryColourAndPayloadAreArguments) {
  MarkerDataRecord data = {};
  data.id = 1;
  data.category = 9;
  data.has_color = 1;
  data.color = 0xff112233;
  data.payload_kind = MarkerPayload::kInt64;
  data.payload = static_cast<uint64_t>(int64_t{-5});
  log_.Add(RecordKind::kMarkerData, data);
  // The first text of the log, so its id is 1.
  MarkerRecord marker = {};
  marker.id = 1;
  marker.time = 100;
  marker.phase = kMarkerInstant;
  marker.thread = 43;
  marker.domain = 1;
  log_.Add(RecordKind::kMarker, marker, "loader");
  auto args = Decode()["loader"].args;
  EXPECT_EQ(args["domain"], "loader");
  EXPECT_EQ(args["category"], "9");
  EXPECT_EQ(args["color"], "4279312947");
  EXPECT_EQ(args["payload"], "-5");
}

TEST_F(MarkerDecoderTest, PayloadsOfEveryKind) {
  const char* const names[] = {"double", "none", "large", "small", "schema"};
  for (uint32_t i = 0; i < 5; ++i) {
    Add(i + 1, 100 + i, kMarkerInstant, 43, names[i]);
  }
  AddPayload(1, MarkerPayload::kDouble, std::bit_cast<uint64_t>(1.5));
  AddPayload(2, MarkerPayload::kDouble, 0);
  AddPayload(3, MarkerPayload::kUint64, ~uint64_t{0});
  AddPayload(4, MarkerPayload::kUint64, 0);
  AddPayload(5, MarkerPayload::kExtended, 0x1234);
  auto events = Decode();
  EXPECT_EQ(events["double"].args["payload"], "1.500000");
  EXPECT_FALSE(events["none"].args.contains("payload"));
  EXPECT_EQ(events["large"].args["payload"], "18446744073709551615");
  EXPECT_EQ(events["small"].args["payload"], "0");
  EXPECT_EQ(events["schema"].args["payload"], "(not shown)");
}

TEST_F(MarkerDecoderTest, WhatAMarkerDoesNotSayIsNoArgument) {
  Add(1, 100, kMarkerInstant, 7, "bare");
  Add(2, 200, kMarkerInstant, 7, "with data");
  AddPayload(2, MarkerPayload::kInt64, static_cast<uint64_t>(-3));
  auto events = Decode();
  using Args = std::map<std::string, std::string>;
  EXPECT_EQ(events["bare"].args, Args());
  EXPECT_EQ(events["with data"].args, (Args{{"payload", "-3"}}));
}

TEST_F(MarkerDecoderTest, ARangeThatNobodyEndedIsOpen) {
  Add(1, 100, kMarkerStart, 43, "open");
  EXPECT_EQ(Decode()["open"].end_ns, 0);
  EXPECT_FALSE(shard_.ledger.AnythingLost());
}

TEST_F(MarkerDecoderTest, WhatDoesNotFitTogetherIsCounted) {
  Add(1, 100, kMarkerEnd, 43);
  Add(2, 0, kMarkerStart, 43, "timeless");
  Add(3, 100, 1 << 6, 43, "of a synchronisation object");
  EXPECT_TRUE(Decode().empty());
  EXPECT_EQ(shard_.ledger.Get(Loss::kEndsWithoutBegin), 1u);
  EXPECT_EQ(shard_.ledger.Get(Loss::kDeviceTimesMissing), 1u);
}

TEST_F(MarkerDecoderTest, NamesOfThreadsAndStreamsAreNamesOfTracks) {
  NameRecord name = {};
  name.object = NamedObject::kThread;
  name.thread = 43;
  log_.Add(RecordKind::kName, name, "loader");
  name = {};
  name.object = NamedObject::kStream;
  name.device = 1;
  name.stream = 13;
  log_.Add(RecordKind::kName, name, "copies");
  Decode();
  std::map<std::string, int64_t> tracks;
  for (const model::Track& track : shard_.tracks) {
    tracks[std::string(shard_.strings.Get(track.name))] = track.id;
  }
  EXPECT_EQ(tracks["loader"], 43);
  EXPECT_EQ(tracks["copies"], 13);
}

TEST_F(MarkerDecoderTest, AnUnnamedMarkSaysSo) {
  Add(1, 100, kMarkerInstant, 43);
  EXPECT_TRUE(Decode().contains("(no name)"));
}

}  // namespace
}  // namespace kymo::cupti
