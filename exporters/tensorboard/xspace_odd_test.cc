// Odd names, numbers and times, and random traces.
#include "exporters/tensorboard/xspace/xspace.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/tensorboard/test_xspace.h"
#include "exporters/tensorboard/test_xspace_rules.h"
#include "exporters/timeline/test_random_trace.h"
#include "tests/support/test_event_file.h"
#include "tests/support/test_trace.h"

namespace kymo::tensorboard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(XSpaceTest, NumbersThatJsonLacksAreTexts) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  t.AddRange(main, "f", 0, 10);
  t.Describe(0, {model::Arg::Double(t.Intern("a"), std::nan("")),
                 model::Arg::Double(t.Intern("b"), -kInfinity)});
  t.AddCounter(main, "rate", 1, 0.5);
  t.AddCounter(main, "rate", 2, kInfinity);
  t.AddCounter(main, "rate", 3, std::nan(""));
  const XSpaceView view = View(std::move(t));
  EXPECT_THAT(view.Texts(kHost, "main"),
              ElementsAre("f:f(f) 0+10 a=NaN b=-Infinity"));
  constexpr char kCounters[] = "/device:CUSTOM:counters";
  EXPECT_THAT(view.Texts(kCounters, "_counters_"),
              ElementsAre("rate 1+0 value=0.5d"));
  EXPECT_THAT(view.Texts(kCounters, "rate, not finite"),
              ElementsAre("Infinity 2+0", "NaN 3+0"));
}

TEST(XSpaceTest, RangesOfReservedNamesMeanNothing) {
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  t.AddAnnotation(main, "MemoryAllocation", 0, 10);
  t.AddAnnotation(main, "train batch", 10, 20);
  EXPECT_THAT(View(std::move(t)).Texts(kHost, "main"),
              ElementsAre("range MemoryAllocation(MemoryAllocation) 0+10",
                          "range train batch(train batch) 10+10"));
}

TEST(XSpaceTest, LinesAreToldApart) {
  TestTrace t;
  for (const int64_t tid : {1, 2}) {
    t.AddRange(t.AddThread(7, tid, "worker"), "f", 0, 1);
  }
  t.AddRange(t.AddThread(7, 2, "worker"), "second lane", 0, 1);
  t.AddRange(t.AddThread(8, int64_t{1} << 40, "other"), "g", 0, 1);
  const XSpaceView view = View(std::move(t));
  std::vector<std::string> names;
  for (const schema::XLine& line : view.Plane(kHost).lines()) {
    names.push_back(line.name());
  }
  EXPECT_THAT(names, ElementsAre("worker/1 (process 7)", "worker/2 (process 7)",
                                 "worker/2 (process 7)", "other (process 8)"));
}

TEST(XSpaceTest, AnEmptyTraceHasAHost) {
  const XSpaceView view = View(TestTrace());
  EXPECT_THAT(PlaneNames(view), ElementsAre(kHost, "Task Environment"));
  EXPECT_EQ(view.Plane(kHost).lines_size(), 0);
}

TEST(XSpaceTest, AnEventAtTheEndOfAYear) {
  constexpr TimeNs kYear = 365 * 86'400 * kNsPerSecond;
  TestTrace t;
  t.SetWindow(0, kYear);
  const auto main = t.AddThread(7, 42, "main");
  t.AddRange(main, "late", kYear - 100, kYear - 50);
  EXPECT_THAT(View(std::move(t)).Texts(kHost, "main"),
              ElementsAre("late:late(late) 0+50"));

  TestTrace both;
  both.SetWindow(0, kYear);
  const auto track = both.AddThread(7, 42, "main");
  both.AddRange(track, "early", 5, 10);
  both.AddRange(track, "late", kYear - 100, kYear - 50);
  EXPECT_THAT(View(std::move(both)).Texts(kHost, "main"),
              ElementsAre("early:early(early) 0+5",
                          HasSubstr("late:late(late) 9000000000000000+0")));
}

TEST(XSpaceTest, WhatBeganBeforeTheWindowIsNotNegative) {
  TestTrace t;
  t.SetWindow(1'000, 2'000);
  const auto main = t.AddThread(7, 42, "main");
  t.AddRange(main, "f", 900, 1'100);
  EXPECT_THAT(View(std::move(t)).Texts(kHost, "main"),
              ElementsAre("f:f(f) 0+200"));
}

TEST(XSpaceTest, NamesOfAllKindsSurvive) {
  const std::vector<std::string> names = {"", "\"quoted\" \\ \n\t", "😀",
                                          std::string(65'536, 'x'),
                                          std::string("nul\0nul", 7)};
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  for (size_t i = 0; i < names.size(); ++i) {
    t.AddAnnotation(main, names[i], static_cast<TimeNs>(10 * i),
                    static_cast<TimeNs>(10 * i + 5));
  }
  t.AddAnnotation(main, "bad \xFF\xC3", 100, 105);
  const XSpaceView view = View(std::move(t));
  const schema::XPlane& plane = view.Plane(kHost);
  const schema::XLine& line = view.Line(kHost, "main");
  ASSERT_EQ(line.events_size(), names.size() + 1);
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(plane.event_metadata()
                  .at(line.events(static_cast<int>(i)).metadata_id())
                  .name(),
              names[i]);
  }
  EXPECT_THAT(view.Texts(kHost, "main"),
              Contains("bad \xEF\xBF\xBD\xEF\xBF\xBD 100+5"));
}

// Events but for those of memory and counters and the slices of samples.
size_t CountTraceEvents(const schema::XSpace& space) {
  size_t count = 0;
  for (const schema::XPlane& plane : space.planes()) {
    if (plane.name() == "/device:CUSTOM:counters") continue;
    for (const schema::XLine& line : plane.lines()) {
      if (line.name().find(" samples") != std::string::npos) continue;
      for (const schema::XEvent& event : line.events()) {
        const std::string& name =
            plane.event_metadata().at(event.metadata_id()).name();
        count += name != "MemoryAllocation" && name != "MemoryDeallocation" &&
                 name != "OutOfMemory";
      }
    }
  }
  return count;
}

TEST(XSpaceTest, RandomTracesKeepTheRules) {
  for (uint64_t seed = 1; seed <= 20 && !::testing::Test::HasFailure();
       ++seed) {
    SCOPED_TRACE(seed);
    const model::Trace trace = RandomTrace(seed).Make();
    for (const auto& [name, bytes] : Export(*NewTensorboardExporter(), trace)) {
      if (!name.ends_with(".xplane.pb")) {
        EXPECT_GT(ReadEventFile(bytes).size(), 2u);
        continue;
      }
      const XSpaceView view(bytes);
      CheckSpace(view.space());
      EXPECT_EQ(CountTraceEvents(view.space()), trace.event_count());
      for (const schema::XPlane& plane : view.space().planes()) {
        for (const schema::XLine& line : plane.lines()) {
          const bool is_flat =
              line.name().find("(async)") != std::string::npos ||
              line.name() == "_counters_";
          if (!is_flat) CheckNesting(line);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kymo::tensorboard
