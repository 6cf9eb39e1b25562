#include "exporters/tensorboard/xspace/op_names.h"

#include <algorithm>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::tensorboard {
namespace {

using ::testing::ElementsAre;

TEST(OpNamesTest, ReplaysTheExample) {
  EXPECT_EQ(FrameworkOpName("aten::addmm"), "aten/addmm:addmm");
  EXPECT_EQ(FrameworkOpName("ns::f<int>(x)"), "ns/f_int__x_:f_int__x_");
}

TEST(OpNamesTest, TypesAreInOneOfTwoForms) {
  EXPECT_EQ(FrameworkOpName("matmul"), "matmul:matmul");
  EXPECT_EQ(FrameworkOpName("myOp"), "myOp:MyOp");
  EXPECT_EQ(FrameworkOpName("scope/layer.1"), "scope/layer.1:layer_1");
  EXPECT_EQ(FrameworkOpName("scope::3d"), "scope/3d:_3d");
}

TEST(OpNamesTest, AnyNameIsOneThatXprofTakes) {
  const std::regex form(
      "[A-Za-z0-9.][A-Za-z0-9_./>-]*:"
      "([A-Z_][A-Za-z0-9_]*|[a-z_][a-z0-9_]*)");
  std::vector<std::string> names = {"",
                                    "/",
                                    "::",
                                    "a::",
                                    "::a",
                                    "a//b",
                                    "\xFF",
                                    "\"quoted\"",
                                    "😀",
                                    "operator<<",
                                    std::string("\0x", 2),
                                    std::string(65'536, 'x')};
  for (int byte = 0; byte < 256; ++byte) {
    names.push_back(std::string(1, static_cast<char>(byte)));
    names.push_back("a" + names.back() + "B");
  }
  for (const std::string& name : names) {
    const std::string op = FrameworkOpName(name);
    EXPECT_TRUE(std::regex_match(op, form)) << name << " -> " << op;
    EXPECT_LT(op.size(), 1'100);
    EXPECT_EQ(op.find("//"), std::string::npos) << op;
  }
}

TEST(OpNamesTest, OperationsOfOneNameAreToldApart) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  const std::vector<std::string> names = {"a b", "a+b", "a_b_2", "a-b", "a*b"};
  for (size_t i = 0; i < names.size(); ++i) {
    t.AddRange(main, names[i], static_cast<TimeNs>(10 * i),
               static_cast<TimeNs>(10 * i + 5));
  }
  t.AddAnnotation(main, "a/b", 100, 105);
  const model::Trace trace = std::move(t).Build();
  const OperationNames operations(trace, StepNames(trace.strings()));
  std::vector<std::string> got;
  for (model::EventIndex i = 0; i < names.size(); ++i) {
    got.push_back(operations.Get(trace.name()[i]));
  }
  EXPECT_THAT(got, ElementsAre("a_b:a_b", "a_b_2:a_b", "a_b_2_2:a_b_2",
                               "a-b:a_b", "a_b_3:a_b"));
}

TEST(OpNamesTest, NamesHave500BytesAtMost) {
  for (const size_t bytes : {499, 500, 501}) {
    const std::string kept(std::min<size_t>(bytes, 500), 'x');
    EXPECT_EQ(FrameworkOpName(std::string(bytes, 'x')), kept + ":" + kept);
  }
  EXPECT_EQ(FrameworkOpName("::a"), "a:a");
  EXPECT_EQ(FrameworkOpName("a::::b/"), "a/b:b");
  EXPECT_EQ(FrameworkOpName("-x"), "op-x:op_x");
  EXPECT_EQ(FrameworkOpName(".x"), ".x:_x");
  EXPECT_EQ(FrameworkOpName("a:b"), "a_b:a_b");
}

}  // namespace
}  // namespace kymo::tensorboard
