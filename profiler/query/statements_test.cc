#include "profiler/query/statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kymo::query {
namespace {

using ::testing::ElementsAre;

TEST(SplitStatementsTest, AtSemicolons) {
  const StatementList list = SplitStatements("select 1; select 2;\n sel");
  EXPECT_THAT(list.statements, ElementsAre("select 1", "select 2"));
  EXPECT_EQ(list.rest, "sel");
}

TEST(SplitStatementsTest, NotWithinQuotesAndComments) {
  EXPECT_THAT(
      SplitStatements("select ';', 'it''s;', \";\", `;`, [;];").statements,
      ElementsAre("select ';', 'it''s;', \";\", `;`, [;]"));
  EXPECT_THAT(SplitStatements("select 1 -- ;\n + 2 /* ; */ ;").statements,
              ElementsAre("select 1 -- ;\n + 2 /* ; */ "));
}

TEST(SplitStatementsTest, BlankOnesAreLeftOut) {
  const StatementList list = SplitStatements(" ;; -- x\n; /* y */ ; -- z");
  EXPECT_THAT(list.statements, ElementsAre());
  EXPECT_EQ(list.rest, "");
  EXPECT_EQ(SplitStatements("").rest, "");
}

TEST(SplitStatementsTest, WhatIsOpenGoesOn) {
  EXPECT_EQ(SplitStatements("select 'a;").rest, "select 'a;");
  EXPECT_EQ(SplitStatements("select /* ;").rest, "select /* ;");
  EXPECT_EQ(SplitStatements("/*").rest, "");
  EXPECT_EQ(SplitStatements("select [;").rest, "select [;");
}

}  // namespace
}  // namespace kymo::query
