// test_conformance_steps.h - helpers of the sources of
// test_backend_conformance.h.
#ifndef KYMO_PROFILER_PLUGIN_TEST_CONFORMANCE_STEPS_H_
#define KYMO_PROFILER_PLUGIN_TEST_CONFORMANCE_STEPS_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <iostream>

#include "absl/status/status.h"
#include "profiler/model/shard_times.h"
#include "profiler/model/trace_shard.h"

namespace kymo {

// The states of a session, in the order of its life.
inline constexpr int kMade = 0, kReady = 1, kLive = 2, kStopped = 3, kEmpty = 4;

inline uint64_t RecordCount(const model::TraceShard& shard) {
  // The times of a shard are all outside of an empty window.
  return model::RecordsOutside(shard, 1, 0);
}

// An error says in words what is wrong.
inline void ExpectWords(const absl::Status& status) {
  EXPECT_GE(status.message().size(), 10u) << status;
  EXPECT_EQ(status.message().find('\n'), absl::string_view::npos) << status;
}

// Calls `f` at most `times` times and until the time is over. On a machine with
// much other work it calls it three times nevertheless, and fails if these take
// twenty times as long. Prints how often it called it.
template <typename F>
void Repeat(int times, std::chrono::milliseconds time, const char* what,
            const F& f) {
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [begin] {
    return std::chrono::steady_clock::now() - begin;
  };
  int done = 0;
  while (done < times && !::testing::Test::HasFailure() &&
         (done < 3 || elapsed() < time)) {
    f();
    ++done;
  }
  ::testing::Test::RecordProperty(what, done);
  std::cout << done << " " << what << " of at most " << times << "\n";
  EXPECT_LT(elapsed(), 20 * time) << what << " take too long";
}

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_TEST_CONFORMANCE_STEPS_H_
