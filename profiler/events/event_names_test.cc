#include "profiler/events/event_names.h"

#include <gtest/gtest.h>

namespace kymo {
namespace {

TEST(EventNamesTest, HeaderExample) {
  EXPECT_TRUE(IsFilteredName("[memory]"));
  EXPECT_EQ(RewriteName("_Z3foov", StepNames::kWildcard), "foo()");
  EXPECT_EQ(RewriteName("ProfilerStep#7", StepNames::kWildcard),
            "ProfilerStep*");
  EXPECT_TRUE(IsFilteredStackEntry("torch/autograd/__init__.py(98): backward"));
}

TEST(EventNamesTest, FilteredNamesMatchWhole) {
  for (const char* name : {"[OutOfMemory]", "profiler::_record_function_enter",
                           "profiler::_record_function_enter_new",
                           "profiler::_record_function_exit", "aten::is_leaf",
                           "aten::output_nr", "aten::_version"}) {
    EXPECT_TRUE(IsFilteredName(name)) << name;
  }
  EXPECT_FALSE(IsFilteredName("aten::is_leaf_"));
  EXPECT_FALSE(IsFilteredName("aten::mm"));
}

TEST(EventNamesTest, StackEntriesNeedBothTexts) {
  EXPECT_FALSE(IsFilteredStackEntry("my/autograd/__init__.py(9): foo"));
  EXPECT_TRUE(IsFilteredStackEntry("torch/tensor.py(221): backward"));
  EXPECT_TRUE(
      IsFilteredStackEntry("_internal/common_utils.py(5): prof_meth_call"));
  EXPECT_FALSE(IsFilteredStackEntry("model.py(3): backward"));
}

TEST(EventNamesTest, OnlyMangledNamesAreDemangled) {
  for (const char* name : {"t", "ii", "aten::mm", "_Z", "_Zbroken", ""}) {
    EXPECT_EQ(RewriteName(name, StepNames::kWildcard), name);
  }
  EXPECT_EQ(RewriteName("ProfilerStep#7", StepNames::kKeep), "ProfilerStep#7");
  EXPECT_EQ(RewriteName("MyProfilerStep#7", StepNames::kWildcard),
            "MyProfilerStep#7");
}

}  // namespace
}  // namespace kymo
