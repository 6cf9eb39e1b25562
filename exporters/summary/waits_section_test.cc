#include "exporters/summary/waits_section.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "exporters/summary/averages_section.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"
#include "profiler/text/json_writer.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

TEST(WaitsSectionTest, RangesThatWaitedLongestAreKept) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  const TimeNs last = 10 * static_cast<TimeNs>(kMaxAverages);
  for (TimeNs start = 0; start < last; start += 10) {
    t.AddRange(main, "n" + std::to_string(start), start, start + 9);
  }
  t.AddRange(main, "z waits", last, last + 9);
  t.SetThreadTimes({{.track = main, .wall_ns = last + 10}});
  t.AddWait({.track = main,
             .kind = model::WaitKind::kLock,
             .begin_ns = last + 1,
             .duration_ns = 5});
  std::string text;
  json::JsonWriter json(text);
  json.BeginObject();
  WriteWaits(std::move(t).Build(), json);
  json.EndObject();
  EXPECT_NE(text.find("\"z waits\""), text.npos);
  // Of those that did not wait, the last name is left out.
  EXPECT_EQ(text.find("\"n99990\""), text.npos);
  EXPECT_NE(text.find("\"n99980\""), text.npos);
  EXPECT_NE(text.find("\"range_count\": " + std::to_string(kMaxAverages + 1)),
            text.npos);
}

}  // namespace
}  // namespace kymo
