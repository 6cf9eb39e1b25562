// test_reader.h - reads a trace.pftrace for tests, and checks its rules.
//
//   const DecodedTrace trace = ReadTrace(files["trace.pftrace"]);
//   trace.Find("worker").slices[0].name
//
// Reading fails the test if the file breaks one of these rules:
//
//   - the first packet clears the sequence's state; there is one sequence
//   - tracks and interned entries are defined once, before they are used
//   - within a track, times never decrease and every end has its begin
//   - a flow has one start and one end, in this order
//   - texts are UTF-8
//   - every field and enum value is one that trace.proto has
#ifndef KYMO_EXPORTERS_PERFETTO_TEST_READER_H_
#define KYMO_EXPORTERS_PERFETTO_TEST_READER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kymo::perfetto {

struct DecodedSlice {
  std::string name;
  std::string category;
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  int depth = 0;  // 0: outermost
  bool is_instant = false;
  // Values as text: "1", "0.25", "false", "text".
  std::map<std::string, std::string> args;
  std::vector<uint64_t> flow_ids;              // that start here
  std::vector<uint64_t> terminating_flow_ids;  // at its begin or its end
  std::string callstack;  // functions, outermost first: "main;f"
  std::string source;     // "mm.cc:7 f"
};

struct DecodedPoint {
  uint64_t time_ns = 0;
  double value = 0;

  friend bool operator==(const DecodedPoint&, const DecodedPoint&) = default;
};

struct DecodedTrack {
  uint64_t uuid = 0;
  uint64_t parent_uuid = 0;
  std::string name;  // for a thread or process, its own name
  std::string description;
  int64_t pid = 0;  // threads and processes only
  int64_t tid = 0;  // threads only
  bool is_counter = false;
  uint32_t unit = 0;
  std::vector<DecodedSlice> slices;  // with instants, in the file's order
  std::vector<DecodedPoint> points;
};

struct DecodedSample {
  uint64_t time_ns = 0;
  int64_t pid = 0;
  int64_t tid = 0;
  std::string callstack;
};

struct DecodedState {
  uint64_t time_ns = 0;
  int64_t tid = 0;
  std::string thread;
  int cpu = 0;
  std::string state;  // "RUNNING"
};

struct DecodedTrace {
  uint64_t realtime_ns = 0;  // at time 0
  std::vector<DecodedTrack> tracks;
  std::vector<DecodedSample> samples;
  std::vector<DecodedState> states;

  // The first track of that name. The test fails if there is none.
  const DecodedTrack& Find(const std::string& name) const;
  // The names of a track's slices and instants, in the file's order.
  std::vector<std::string> Names(const std::string& track) const;
};

DecodedTrace ReadTrace(const std::string& bytes);

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_TEST_READER_H_
