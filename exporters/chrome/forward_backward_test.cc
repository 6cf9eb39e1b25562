// Flows from forward to backward, compared with PyTorch's.
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "exporters/chrome/test_chrome.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

TEST(ForwardBackwardTest, FlowEventsAreThoseOfPyTorch) {
  const auto expected = ReadTestJson("pytorch_flows.json");
  TestTrace t;
  t.AddThread(1, 1, "worker");
  t.data().tracks[0].logical_id = 1;
  for (const JsonMap& op : Events(expected, "X")) {
    const auto& args = op.at("args").struct_value().fields();
    const TimeNs start_ns = std::llround(1'000 * Number(op, "ts"));
    const TimeNs end_ns = start_ns + std::llround(1'000 * Number(op, "dur"));
    t.AddRange(0, "op", start_ns, end_ns);
    t.Describe(0);
    t.data().details.back().sequence_nr =
        static_cast<int64_t>(args.at("Sequence number").number_value());
    t.SetRare({.forward_thread = static_cast<uint64_t>(
                   args.at("Fwd thread id").number_value())});
  }
  const auto json = ParseJson(ChromeText(std::move(t).Build()));
  for (const char* phase : {"s", "f"}) {
    const std::vector<JsonMap> ours = Events(json, phase);
    const std::vector<JsonMap> theirs = Events(expected, phase);
    ASSERT_EQ(ours.size(), theirs.size());
    EXPECT_EQ(ours.size(), 7u);
    for (size_t i = 0; i < ours.size(); ++i) {
      EXPECT_EQ(Texts(ours[i]), Texts(theirs[i]));
    }
  }
}

}  // namespace
}  // namespace kymo
