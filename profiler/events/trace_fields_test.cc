#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "profiler/events/trace_events.h"
#include "profiler/model/records.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using model::ActivityType;
using ::testing::ElementsAre;

EventList Events(const model::Trace& trace, TraceEventsOptions options = {}) {
  absl::StatusOr<ConvertedEvents> converted = EventsOfTrace(trace, options);
  EXPECT_TRUE(converted.ok()) << converted.status();
  return converted.ok() ? std::move(converted->events) : EventList();
}

TEST(TraceFieldsTest, FramesHaveTheirKnownParts) {
  TestTrace t;
  const auto f = t.Intern("f");
  const auto file = t.Intern("a.cc");
  const auto module = t.Intern("/lib/a.so");
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(FrameText(trace, {.function = f}), "f");
  EXPECT_EQ(FrameText(trace, {.function = f, .module = module}),
            "/lib/a.so: f");
  EXPECT_EQ(FrameText(trace, {.function = f, .file = file}), "a.cc(0): f");
  EXPECT_EQ(
      FrameText(trace,
                {.function = f, .file = file, .module = module, .line = 12}),
      "a.cc(12): f");
}

TEST(TraceFieldsTest, ArgumentsAreTextsByTheirKeys) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "with", 1'000, 2'000);
  const auto key = [&](std::string_view text) { return t.Intern(text); };
  t.Describe(0, {model::Arg::Int(key("int"), -8),
                 model::Arg::Double(key("double"), 0.5),
                 model::Arg::String(key("text"), t.Intern("a \"b\"")),
                 model::Arg::Json(key("json"), t.Intern("[1]"))});
  t.AddRange(main, "without", 3'000, 4'000);
  t.Describe(0);
  t.AddRange(main, "plain", 5'000, 6'000);
  const EventList events = Events(std::move(t).Build());
  ASSERT_EQ(events.size(), 3);
  ASSERT_NE(events[0].details, nullptr);
  std::vector<std::string> texts;
  for (const auto& [name, text] : events[0].details->kwinputs) {
    texts.push_back(absl::StrCat(name, "=", text));
  }
  EXPECT_THAT(texts,
              ElementsAre("double=0.5", "int=-8", "json=[1]", "text=a \"b\""));
  for (const size_t i : {1u, 2u}) {
    EXPECT_EQ(events[i].details, nullptr);
    EXPECT_EQ(events[i].overload_name, "");
    EXPECT_EQ(events[i].sequence_nr, -1);
    EXPECT_EQ(events[i].count, 1);
  }
}

TEST(TraceFieldsTest, LanesAreOfTheThreadBeforeThem) {
  TestTrace t;
  const auto add = [&](int64_t tid, uint64_t logical_id) {
    const auto track = t.AddThread(1, tid, "t");
    t.data().tracks[track].logical_id = logical_id;
    t.AddRange(track, absl::StrCat("e", track), 1'000 + track, 9'000);
  };
  add(7, 30);
  add(7, 0);
  add(8, 0);
  add(9, 50);
  std::vector<int64_t> threads;
  for (const FunctionEvent& e : Events(std::move(t).Build())) {
    threads.push_back(e.thread);
  }
  EXPECT_THAT(threads, ElementsAre(30, 30, 3, 50));
}

TEST(TraceFieldsTest, TypesAndFlagsOfEvents) {
  TestTrace t;
  const auto main = t.AddThread(5, 1, "main");
  t.AddRange(main, "op", 1'000, 2'000);
  t.AddRange(main, "async", 2'000, 3'000, ActivityType::kCpuOp,
             model::kEventAsync);
  t.AddAnnotation(main, "note", 3'000, 4'000);
  t.AddRange(main, "python", 5'000, 6'000, ActivityType::kPythonFunction);
  const auto stream = t.AddStream(2, 7);
  t.AddRange(stream, "kernel", 7'000, 8'000, ActivityType::kConcurrentKernel);
  t.AddRange(stream, "gpu note", 8'000, 9'000,
             ActivityType::kGpuUserAnnotation);
  std::vector<std::string> texts;
  for (const FunctionEvent& e :
       Events(std::move(t).Build(), {.use_device = "xpu"})) {
    texts.push_back(absl::StrCat(
        e.name, " ", e.device_type == DeviceType::kCpu ? "cpu" : "device", " ",
        e.device_type == DeviceType::kXpu, " ", e.device_index, " ",
        e.device_resource_id.value_or(-1), e.is_async ? " async" : "",
        e.is_user_annotation ? " note" : "",
        e.is_python_function ? " python" : "", e.is_marker ? " marker" : ""));
  }
  EXPECT_THAT(texts,
              ElementsAre("op cpu 0 5 1", "async cpu 0 5 1 async",
                          "note cpu 0 5 1 note", "python cpu 0 5 1 python",
                          "kernel device 1 2 7", "gpu note device 1 2 7 note"));
}

TEST(TraceFieldsTest, CountedEventsAreChosenByTheirPositions) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 4; ++i) {
    t.AddRange(main, absl::StrCat("e", i), 1'000 * i, 1'000 * i + 500);
  }
  const EventList events = Events(std::move(t).Build());
  const auto names = [&](std::vector<uint8_t> counted) {
    std::vector<std::string> texts;
    for (const FunctionEvent& e : CountedEvents(events, counted)) {
      texts.push_back(e.name);
    }
    return texts;
  };
  EXPECT_THAT(names({1, 0, 0, 1}), ElementsAre("e0", "e3"));
  EXPECT_THAT(names({0, 2, 1, 0}), ElementsAre("e1", "e2"));
  EXPECT_THAT(names({1, 1, 1}), ElementsAre("e0", "e1", "e2"));
  EXPECT_THAT(names({}), ElementsAre());
}

}  // namespace
}  // namespace kymo
