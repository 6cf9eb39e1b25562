#include "profiler/report/finding_table.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "profiler/text/text_cells.h"
#include "tests/support/test_trace.h"

namespace kymo::report {
namespace {

// A function with all of the CPU time, from 1 s on, and lost samples.
model::Trace HotTrace(const char* function) {
  TestTrace t;
  t.SetWindow(kNsPerSecond, 2 * kNsPerSecond);
  const auto main = t.AddThread(7, 8, "main");
  for (int i = 0; i < 200; ++i) {
    t.AddSample(main, kNsPerSecond + i * kNsPerMs, kNsPerMs,
                {"main", "Read", function});
  }
  t.data().ledger.Add(model::Loss::kSamplesLost, 22);
  return std::move(t).Build();
}

TEST(FindingTableTest, SentencesWithEvidenceAndNextStep) {
  EXPECT_EQ(FindingsText(HotTrace("Parse"), {.width = 90}),
            "1. Parse took 100 % of the CPU time (200 ms); 100 % of that when "
            "Read called it\n"
            "   See: stack main > Read > Parse\n"
            "   Next: Look at its callers in the flame graph, callees first: "
            "make it cheaper, or call\n"
            "   it less often\n"
            "2. The CPU times of functions are in doubt because of 22 (9.9 %) "
            "samples dropped by the\n"
            "   kernel before they were read\n"
            "   See: row samples_lost of ledger\n"
            "   Next: Sample less often with --sampling_hz\n");
}

TEST(FindingTableTest, TheLimitCountsFindings) {
  const std::string text = FindingsText(HotTrace("Parse"), {.row_limit = 1});
  EXPECT_TRUE(text.starts_with("1. Parse"));
  EXPECT_EQ(text.find("2. "), std::string::npos);
  EXPECT_EQ(FindingsText(HotTrace("Parse"), {.row_limit = 0}), "");
  EXPECT_EQ(FindingsText(TestTrace().Build(), {}), "");
}

TEST(FindingTableTest, NamesCannotDriveTheTerminal) {
  const std::string text = FindingsText(HotTrace("a\x1b[2J\nb"), {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("a\\x1b[2J\\nb took"), std::string::npos) << text;
}

TEST(FindingTableTest, RowsHaveTheNumbers) {
  const ValueTable table = FindingTable(HotTrace("Parse"));
  ASSERT_EQ(table.rows.size(), 2u);
  const auto cell = [&](size_t row, const std::string& name) {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].name == name) return table.rows[row][i];
    }
    ADD_FAILURE() << name;
    return Value();
  };
  EXPECT_EQ(cell(0, "finding"), Value(std::string("hot_function")));
  EXPECT_EQ(cell(0, "time_ns"), Value(200 * kNsPerMs));
  EXPECT_EQ(cell(0, "bytes"), Value());
  EXPECT_EQ(cell(0, "share"), Value(0.2));
  EXPECT_EQ(cell(0, "evidence"), Value(std::string("stack")));
  EXPECT_EQ(cell(0, "stack"), Value(std::string("main > Read > Parse")));
  EXPECT_EQ(cell(0, "begin_ns"), Value());
  EXPECT_EQ(cell(1, "finding"), Value(std::string("lost_data")));
  EXPECT_EQ(cell(1, "time_ns"), Value());
}

TEST(FindingTableTest, EvidenceIsSaidInWords) {
  TestTrace t;
  t.SetWindow(1'000'000, 2'000'000);
  const auto main = t.AddThread(7, 8, "main");
  const model::StackId deep =
      t.Stack({"a", "b", "c", "d", "e", "f", "g", "h", "i"});
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(EvidenceText(trace, {.kind = analysis::EvidenceKind::kInterval,
                                 .name = "Get",
                                 .track = main,
                                 .begin_ns = 1'250'000,
                                 .duration_ns = 310'000}),
            "Get, 310 us from 0.250 ms on, thread main (8)");
  EXPECT_EQ(EvidenceText(trace, {.kind = analysis::EvidenceKind::kCounter,
                                 .name = "faults"}),
            "counter faults");
  EXPECT_EQ(EvidenceText(
                trace, {.kind = analysis::EvidenceKind::kStack, .stack = deep}),
            "stack ... > b > c > d > e > f > g > h > i");
}

}  // namespace
}  // namespace kymo::report
