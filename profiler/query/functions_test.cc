#include "profiler/query/functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "profiler/query/test_query.h"
#include "profiler/tables/test_tables.h"

namespace kymo::query {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FunctionsTest : public ::testing::Test {
 protected:
  std::string Value(const std::string& expression) const {
    const auto rows = RowsOf(trace_, "select " + expression);
    return rows.size() == 1 ? rows[0] : "rows";
  }

  const model::Trace trace_ = tables::SmallTrace();
};

TEST_F(FunctionsTest, AncestorIsTheInnermostOfItsName) {
  EXPECT_EQ(Value("ancestor(2, 'aten::mm')"), "1");
  EXPECT_EQ(Value("ancestor(2, 'ProfilerStep#3')"), "0");
  EXPECT_EQ(Value("ancestor(1, 'aten::mm')"), "-");
  EXPECT_EQ(Value("ancestor(2, 'nobody')"), "-");
  EXPECT_EQ(Value("ancestor(5, 'ProfilerStep#3')"), "-");
}

TEST_F(FunctionsTest, SelfTime) {
  EXPECT_THAT(RowsOf(trace_,
                     "select id from events where self_ns(id) != "
                     "self_ns"),
              ElementsAre());
  EXPECT_EQ(Value("self_ns(1)"), "350");
}

TEST_F(FunctionsTest, StackText) {
  EXPECT_THAT(RowsOf(trace_, "select stack_text(stack_id) from samples"),
              ElementsAre("main;train;mm", "work", "main;train;mm"));
  EXPECT_EQ(Value("stack_text(0)"), "");
}

TEST_F(FunctionsTest, Overlap) {
  EXPECT_EQ(Value("overlap(1, 6)"), "200");
  EXPECT_EQ(Value("overlap(6, 1)"), "200");
  EXPECT_EQ(Value("overlap(1, 3)"), "0");
  EXPECT_EQ(Value("overlap(0, 10, 5, 20)"), "5");
  EXPECT_EQ(Value("overlap(0, 10, 10, 20)"), "0");
  EXPECT_EQ(Value("overlap(0, 10, null, 20)"), "-");
  EXPECT_THAT(Value("overlap(9223372036854775807, 1, 0, 1)"),
              HasSubstr("start + dur is too large"));
  EXPECT_THAT(Value("overlap(-9223372036854775807, 9223372036854775807, "
                    "-9223372036854775807, 9223372036854775807)"),
              "9223372036854775807");
}

// Whatever a query gives them, they stay within the trace.
TEST_F(FunctionsTest, NoEventOrStackGivesNull) {
  for (const std::string number :
       {"null", "-1", "8", "99999999999", "'x'", "1.5", "x'00'"}) {
    EXPECT_EQ(Value("ancestor(" + number + ", 'aten::mm')"), "-") << number;
    EXPECT_EQ(Value("self_ns(" + number + ")"), "-") << number;
    EXPECT_EQ(Value("overlap(0, " + number + ")"), "-") << number;
  }
  EXPECT_EQ(Value("stack_text(99999)"), "-");
  EXPECT_EQ(Value("stack_text(-1)"), "-");
  EXPECT_EQ(Value("ancestor(2, null)"), "-");
}

TEST_F(FunctionsTest, PercentilesAreInterpolated) {
  const auto of = [&](const std::string& values, const std::string& p) {
    return Value("percentile(column1, " + p + ") from (values " + values + ")");
  };
  EXPECT_EQ(of("(4), (1), (3), (2)", "0"), "1");
  EXPECT_EQ(of("(4), (1), (3), (2)", "50"), "2.5");
  EXPECT_EQ(of("(4), (1), (3), (2)", "100"), "4");
  EXPECT_EQ(of("(4), (1), (3), (2)", "90"), "3.7");
  EXPECT_EQ(of("(7)", "33"), "7");
  EXPECT_EQ(of("(null), (1), (null)", "50"), "1");
  EXPECT_EQ(of("(null)", "50"), "-");
  EXPECT_EQ(Value("percentile(dur_ns, 50) from events where id < 0"), "-");
}

// As if each value stood there as often as it counts.
TEST_F(FunctionsTest, PercentilesCountAValueSeveralTimes) {
  const auto of = [&](const std::string& values, const std::string& p) {
    return Value("percentile(column1, " + p + ", column2) from (values " +
                 values + ")");
  };
  for (const std::string p : {"0", "25", "50", "60", "75", "90", "100"}) {
    EXPECT_EQ(of("(7, 1), (2, 3), (4, 2)", p),
              of("(2, 1), (2, 1), (2, 1), (4, 1), (4, 1), (7, 1)", p))
        << p;
  }
  EXPECT_EQ(of("(7, 1), (2, 3), (4, 2)", "50"), "3");
  EXPECT_EQ(of("(1, 4294967295), (5, 4294967295)", "50"), "3");
  EXPECT_EQ(of("(1, 0), (5, 1)", "0"), "5");
  EXPECT_EQ(of("(1, 0)", "50"), "-");
  for (const std::string n : {"-1", "4294967296"}) {
    EXPECT_THAT(Value("percentile(1, 50, " + n + ")"),
                HasSubstr("n must be from 0 to 4294967295"));
  }
}

// All together count 2^53 + 4 times, and a double has no odd numbers there.
TEST_F(FunctionsTest, PercentilesCountMoreTimesThanADoubleHasUnits) {
  EXPECT_EQ(
      Value("percentile(x, 100, n) from (with recursive v(i) as (select "
            "1 union all select i + 1 from v where i < 2048) "
            "select 1 as x, 4294967295 as n from v, v w where w.i <= 1024 "
            "union all select 2, 2097156)"),
      "2");
}

TEST_F(FunctionsTest, PercentilesOfManyValues) {
  EXPECT_EQ(Value("percentile(x, 99) from (with recursive n(x) as (select 0 "
                  "union all select x + 1 from n where x < 1000) "
                  "select (x * 7919) % 1001 as x from n)"),
            "990");
  EXPECT_EQ(Value("percentile(x, 99.05) from (with recursive n(x) as (select 0 "
                  "union all select x + 1 from n where x < 1000) "
                  "select (x * 7919) % 1001 as x from n)"),
            "990.5");
}

TEST_F(FunctionsTest, PercentilesSayWhatIsWrong) {
  EXPECT_THAT(Value("percentile(1, 101)"), HasSubstr("from 0 to 100"));
  EXPECT_THAT(Value("percentile(1, 'x')"), HasSubstr("from 0 to 100"));
  EXPECT_THAT(Value("percentile(1, null)"), HasSubstr("from 0 to 100"));
  EXPECT_THAT(Value("percentile('x', 50)"),
              HasSubstr("percentile(x, p): x must be a number"));
  EXPECT_THAT(Value("percentile('x', 50, 1)"),
              HasSubstr("percentile(x, p, n): x must be a number"));
  EXPECT_THAT(Value("percentile(dur_ns, id) from events"),
              HasSubstr("the same for all rows"));
}

TEST(FunctionListTest, EachIsCallable) {
  const model::Trace trace = tables::SmallTrace();
  for (const FunctionInfo& function : Functions()) {
    const std::string call(function.call);
    const std::string name = call.substr(0, call.find('('));
    const auto commas = std::count(call.begin(), call.end(), ',');
    std::string arguments = "0";
    for (int i = 0; i < commas; ++i) arguments += ", 0";
    EXPECT_THAT(RowsOf(trace, "select " + name + "(" + arguments + ")")[0],
                ::testing::Not(HasSubstr("error")))
        << call;
  }
}

}  // namespace
}  // namespace kymo::query
