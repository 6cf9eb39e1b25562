// test_random_trace.h - traces that no program would make, for tests that check
// an exporter's files with an independent reader of the format.
//
//   const model::Trace trace = RandomTrace(seed).Make();
//
// A trace is valid (ValidateTrace), and a seed gives the same trace everywhere.
// It holds:
//
//   - threads, two of them with one id, and streams of two devices
//   - ranges that nest at random, some empty, open, asynchronous or modules
//   - instants, steps, samples, runtime calls and the kernels they launched
//   - details of operations, some of them bytes that nobody encoded
//   - counters, some values of which are no number
//   - memory of the heap and of devices
//
// Names have quotes, control characters, bad UTF-8 and emoji. One has 64 KiB.
#ifndef KYMO_EXPORTERS_TIMELINE_TEST_RANDOM_TRACE_H_
#define KYMO_EXPORTERS_TIMELINE_TEST_RANDOM_TRACE_H_

#include <cstdint>
#include <random>
#include <string>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"
#include "tests/support/test_trace.h"

namespace kymo {

class RandomTrace {
 public:
  static constexpr TimeNs kEndNs = 300'000;

  explicit RandomTrace(uint64_t seed) : random_(seed) {}

  // Call this once.
  model::Trace Make();

  // A name of a function template with so many arguments that it takes 64 KiB.
  static std::string LongName();

 private:
  uint64_t Below(uint64_t limit) { return random_() % limit; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  std::string OddName();
  double OddNumber();
  std::string Inputs();

  void AddThreads();
  void AddStreams();
  void AddSteps(model::TrackIndex track);
  void AddTree(model::TrackIndex track, TimeNs start, TimeNs end, int depth);
  void Describe();
  void AddSamples(model::TrackIndex track);
  void AddCounters(model::TrackIndex track);
  void AddMemory(model::TrackIndex track);

  std::mt19937_64 random_;
  TestTrace t_;
};

}  // namespace kymo

#endif  // KYMO_EXPORTERS_TIMELINE_TEST_RANDOM_TRACE_H_
