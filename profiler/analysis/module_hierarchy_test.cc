#include "profiler/analysis/module_hierarchy.h"

#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using Names = std::vector<std::string_view>;

//   0 step    [0 ........................ 100]
//   1 Net       [10 ............... 90]
//   2 forward     [20 ........ 80]
//   3 Conv          [30 ... 70]
//   4 conv2d          [40 50]
//   5 loss                            [92 95]
model::Trace MakeTrace(uint8_t module_flag) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  const auto add_module = [&](std::string_view name, TimeNs start, TimeNs end) {
    t.AddRange(main, name, start, end, model::ActivityType::kPythonFunction,
               module_flag);
  };
  t.AddRange(main, "step", 0, 100);
  add_module("Net", 10, 90);
  t.AddRange(main, "forward", 20, 80);
  add_module("Conv", 30, 70);
  t.AddRange(main, "conv2d", 40, 50);
  t.AddRange(main, "loss", 92, 95);
  return std::move(t).Build();
}

TEST(ModuleHierarchyTest, NamesTheModulesAroundAnEventOutermostFirst) {
  const model::Trace trace = MakeTrace(model::kEventModule);
  const ModuleHierarchy modules(trace);
  ASSERT_TRUE(modules.Has(4));
  EXPECT_EQ(modules.Names(4), Names({"Net", "Conv"}));
  EXPECT_EQ(modules.Text(4), "Net.Conv.");
  ASSERT_TRUE(modules.Has(2));
  EXPECT_EQ(modules.Names(2), Names({"Net"}));
}

TEST(ModuleHierarchyTest, AModuleIsNotInsideItself) {
  const model::Trace trace = MakeTrace(model::kEventModule);
  const ModuleHierarchy modules(trace);
  EXPECT_FALSE(modules.Has(1));
  ASSERT_TRUE(modules.Has(3));
  EXPECT_EQ(modules.Text(3), "Net.");
}

TEST(ModuleHierarchyTest, OfManyModulesTheInnermostAreNamed) {
  constexpr TimeNs kModules = ModuleHierarchy::kMostModules + 1;
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (TimeNs i = 0; i < kModules; ++i) {
    t.AddRange(main, i < 2 ? "outer" : "inner", i, 1'000 - i,
               model::ActivityType::kPythonFunction, model::kEventModule);
  }
  t.AddRange(main, "conv2d", 500, 501);
  const model::Trace trace = std::move(t).Build();
  const ModuleHierarchy modules(trace);
  // The last module is inside of 64, and the operation of 65.
  EXPECT_EQ(modules.Names(kModules - 1).front(), "outer");
  const Names names = modules.Names(kModules);
  ASSERT_EQ(names.size(), ModuleHierarchy::kMostModules);
  EXPECT_EQ(names[0], ModuleHierarchy::kMoreModules);
  EXPECT_EQ(names[1], "inner");
}

TEST(ModuleHierarchyTest, EventsOutsideOfModulesHaveNone) {
  const model::Trace trace = MakeTrace(model::kEventModule);
  const ModuleHierarchy modules(trace);
  EXPECT_FALSE(modules.Has(0));
  EXPECT_FALSE(modules.Has(5));
}

TEST(ModuleHierarchyTest, ATraceWithoutModulesHasNone) {
  const model::Trace trace = MakeTrace(0);
  const ModuleHierarchy modules(trace);
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    EXPECT_FALSE(modules.Has(i)) << i;
  }
}

}  // namespace
}  // namespace kymo::analysis
