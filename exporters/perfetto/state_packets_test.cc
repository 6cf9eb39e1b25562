#include "exporters/perfetto/state_packets.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/perfetto/perfetto_exporter.h"
#include "exporters/perfetto/test_reader.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo::perfetto {
namespace {

using model::WaitKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

DecodedTrace Decode(TestTrace t) {
  return ReadTrace(Export(*NewPerfettoExporter(), std::move(t).Build(),
                          {})["trace.pftrace"]);
}

// "tid@time state on cpu"
std::vector<std::string> Texts(const DecodedTrace& trace) {
  std::vector<std::string> texts;
  for (const DecodedState& state : trace.states) {
    texts.push_back(std::to_string(state.tid) + "@" +
                    std::to_string(state.time_ns) + " " + state.state + " " +
                    std::to_string(state.cpu));
  }
  return texts;
}

// Thread 8 lives from 100 to 900. Thread 9 has a life of 850 ns, of which only
// the wait is known.
TEST(StatePacketsTest, AThreadThatWaitedHasAStateAtEachTime) {
  TestTrace t;
  t.SetWindow(0, 1'000);
  const auto a = t.AddThread(7, 8, "a");
  t.AddRange(a, "work", 100, 900);
  const auto b = t.AddThread(7, 9, "b");
  t.AddThread(7, 10, "never waited");
  t.SetThreadTimes(
      {{.track = a, .wall_ns = 800}, {.track = b, .wall_ns = 850}});
  t.AddWait({.track = a,
             .kind = WaitKind::kRead,
             .begin_ns = 200,
             .duration_ns = 100,
             .runnable_ns = 40});
  t.AddWait({.track = a,
             .kind = WaitKind::kCpuBusy,
             .begin_ns = 400,
             .duration_ns = 50,
             .runnable_ns = 50});
  t.AddWait({.track = b,
             .kind = WaitKind::kSleep,
             .is_open = true,
             .begin_ns = 250,
             .duration_ns = 750});
  const DecodedTrace trace = Decode(std::move(t));
  EXPECT_THAT(Texts(trace),
              ElementsAre("8@100 RUNNING 0", "8@200 UNINTERRUPTIBLE_SLEEP 0",
                          "8@260 RUNNABLE 0", "8@300 RUNNING 0",
                          "8@400 RUNNABLE 0", "8@450 RUNNING 0", "8@900 DEAD 0",
                          "9@150 RUNNING 1", "9@250 INTERRUPTIBLE_SLEEP 1"));
  EXPECT_EQ(trace.states[0].thread, "a");
}

TEST(StatePacketsTest, ViewersHaveRoomFor128Cpus) {
  TestTrace t;
  t.SetWindow(0, 1'000);
  std::vector<model::ThreadTimes> times;
  for (int i = 0; i < 130; ++i) {
    times.push_back({.track = t.AddThread(7, 100 + i, "t"), .wall_ns = 200});
  }
  t.SetThreadTimes(times);
  for (const model::ThreadTimes& thread : times) {
    t.AddWait({.track = thread.track,
               .kind = WaitKind::kLock,
               .begin_ns = 900,
               .duration_ns = 100});
  }
  const DecodedTrace trace = Decode(std::move(t));
  EXPECT_EQ(trace.states.size(), 260u);
  const auto count = [&](const char* state) {
    return std::ranges::count(trace.states, state, &DecodedState::state);
  };
  EXPECT_EQ(count("RUNNING"), 128);
  EXPECT_EQ(count("RUNNABLE"), 2);
  EXPECT_EQ(count("INTERRUPTIBLE_SLEEP"), 130);
  for (const DecodedState& state : trace.states) EXPECT_LT(state.cpu, 128);
}

TEST(StatePacketsTest, ATraceWithoutWaitsHasNoStates) {
  TestTrace t;
  const auto main = t.AddThread(7, 8, "main");
  t.AddRange(main, "work", 0, 10);
  t.SetThreadTimes({{.track = main, .wall_ns = 10}});
  EXPECT_THAT(Texts(Decode(std::move(t))), IsEmpty());
}

}  // namespace
}  // namespace kymo::perfetto
