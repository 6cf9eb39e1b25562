// test_reader.h - a trace.pftrace as tests see it, and the rules of readers.
//
//   const DecodedTrace trace = ReadTrace(files["trace.pftrace"]);
//   trace.Find("worker").slices[0].name
//
// Reading checks what every file must keep, and fails the test where it does
// not:
//
//   - the first packet clears the sequence's state; all are of one sequence
//   - tracks and interned entries are defined once, before they are used
//   - of a track, times never decrease, and every end has its begin
//   - a flow has one start and one end, in this order
//   - texts are UTF-8
//   - there is no field that the schema of the tests does not know
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
  std::vector<uint64_t> flow_ids;  // that start here
  std::vector<uint64_t> terminating_flow_ids;
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
  std::string name;  // of a thread or process: theirs
  std::string description;
  int64_t pid = 0;  // of threads and processes
  int64_t tid = 0;  // of threads
  bool is_counter = false;
  uint32_t unit = 0;
  std::vector<DecodedSlice> slices;  // and instants, in the file's order
  std::vector<DecodedPoint> points;
};

struct DecodedSample {
  uint64_t time_ns = 0;
  int64_t pid = 0;
  int64_t tid = 0;
  std::string callstack;
};

struct DecodedTrace {
  uint64_t realtime_ns = 0;  // at time 0
  std::vector<DecodedTrack> tracks;
  std::vector<DecodedSample> samples;

  // The first track of that name; a failure if there is none.
  const DecodedTrack& Find(const std::string& name) const;
  // Names of a track's slices and instants, in the file's order.
  std::vector<std::string> Names(const std::string& track) const;
};

DecodedTrace ReadTrace(const std::string& bytes);

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_TEST_READER_H_
