// The row of docs/add-an-analysis.md fits the list of analyses.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "profiler/report/analyses.h"
#include "profiler/report/value_table.h"
#include "tests/support/test_trace.h"

namespace kymo::report {

extern const Analysis kRowsOfGuide[];  // made of the page

namespace {

TEST(AddAnAnalysisTest, TheRowIsNewAndItsTableHasTheThread) {
  TestTrace t;
  t.SetWindow(0, 1'000);
  t.AddRange(t.AddThread(1, 1, "main"), "outer", 100, 600);
  const Analysis& row = kRowsOfGuide[0];
  EXPECT_EQ(FindAnalysis(row.name), nullptr);
  const std::string text =
      FormatValueTable(row.table(std::move(t).Build()), {});
  EXPECT_NE(text.find("main"), std::string::npos) << text;
  EXPECT_NE(text.find("50.00%"), std::string::npos) << text;
}

}  // namespace
}  // namespace kymo::report
