// test_decoded.h - decodes logs that tests make by hand.
//
//   class DecodeTest : public DecodedLogTest {};
//   TEST_F(DecodeTest, ...) {
//     log_.Kernel("sgemm", 7, 3000, 9000);
//     Decode();
//     Find(shard_, "sgemm")->args["grid"]
//   }
#ifndef KYMO_BACKENDS_CUPTI_DECODE_TEST_DECODED_H_
#define KYMO_BACKENDS_CUPTI_DECODE_TEST_DECODED_H_

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/cupti/decode/decode.h"
#include "backends/cupti/log/test_log.h"

namespace kymo::cupti {

struct DecodedEvent {
  std::string name;
  model::ActivityType type;
  TimeNs start_ns, end_ns;
  model::Track track;
  uint64_t correlation;
  std::map<std::string, std::string> args;
  uint8_t flags;
};

inline std::string TextOf(const model::TraceShard& shard,
                          const model::Arg& arg) {
  switch (arg.type) {
    case model::ArgType::kInt:
      return std::to_string(arg.int_value());
    case model::ArgType::kDouble:
      return std::to_string(arg.double_value());
    default:
      return std::string(shard.strings.Get(arg.string_value()));
  }
}

// Everything in the order of the shard.
inline std::vector<DecodedEvent> EventsOf(const model::TraceShard& shard) {
  std::vector<DecodedEvent> all;
  for (const model::TrackEvents& events : shard.events) {
    for (size_t i = 0; i < events.size(); ++i) {
      DecodedEvent& event = all.emplace_back();
      event.name = shard.strings.Get(events.name[i]);
      event.type = events.type[i];
      event.start_ns = events.start_ns[i];
      event.end_ns = events.end_ns[i];
      event.track = shard.tracks[events.track];
      event.flags = events.flags[i];
      event.correlation = 0;
      if (events.detail[i] == model::kNoDetail) continue;
      const model::Detail& detail = shard.details[events.detail[i]];
      event.correlation = detail.correlation_id;
      for (uint32_t a = detail.args_begin; a < detail.args_end; ++a) {
        const model::Arg& arg = shard.args[a];
        event.args[std::string(shard.strings.Get(arg.key))] =
            TextOf(shard, arg);
      }
    }
  }
  return all;
}

// The only event of that name.
inline std::optional<DecodedEvent> Find(const model::TraceShard& shard,
                                        const std::string& name) {
  std::optional<DecodedEvent> found;
  for (const DecodedEvent& event : EventsOf(shard)) {
    if (event.name != name) continue;
    EXPECT_FALSE(found.has_value()) << "two events " << name;
    found = event;
  }
  EXPECT_TRUE(found.has_value()) << "no event " << name;
  return found;
}

class DecodedLogTest : public ::testing::Test {
 protected:
  DecodedLog Decode(const DecodeOptions& options = {}) {
    return DecodeLog(facts_, log_.bytes(), options, shard_);
  }

  LogFacts facts_ = {.pid = 42};
  TestLog log_;
  model::TraceShard shard_;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_TEST_DECODED_H_
