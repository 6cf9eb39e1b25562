#include "profiler/report/allocation_stack.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/analysis/memory/allocation_frames.h"
#include "profiler/model/trace.h"
#include "tests/support/test_trace.h"

namespace kymo::report {
namespace {

class AllocationStackTest : public testing::Test {
 protected:
  model::StackId Push(model::StackId parent, model::Frame frame,
                      std::string_view function) {
    frame.function = builder_.Intern(function);
    return builder_.data().stacks.Push(parent,
                                       builder_.data().stacks.AddFrame(frame));
  }

  TestTrace builder_;
};

TEST_F(AllocationStackTest, BeginAtTheCaller) {
  const auto main =
      Push(model::kEmptyStack, {.file = builder_.Intern("app.cc"), .line = 40},
           "main");
  const auto fill =
      Push(main, {.file = builder_.Intern("cache.cc"), .line = 12},
           "Cache::Fill(int)");
  const auto push = Push(fill, {}, "std::vector<int>::push_back(int const&)");
  const auto inner =
      Push(push, {}, "std::allocator<int>::allocate(unsigned long)");
  const auto stack = Push(inner, {.module = builder_.Intern("/lib/libc.so.6")},
                          "operator new(unsigned long)");
  const model::Trace trace = std::move(builder_).Build();
  analysis::AllocationFrames frames(trace);
  EXPECT_EQ(AllocationStack(trace, frames, stack, 5),
            (std::vector<std::string>{"Cache::Fill(int)  cache.cc:12",
                                      "main  app.cc:40"}));
  EXPECT_EQ(AllocationStack(trace, frames, stack, 1).size(), 1u);
}

TEST_F(AllocationStackTest, AreShownWhereThereIsNoCaller) {
  const auto stack =
      Push(model::kEmptyStack, {.module = builder_.Intern("/lib/libc.so.6")},
           "malloc");
  const model::Trace trace = std::move(builder_).Build();
  analysis::AllocationFrames frames(trace);
  EXPECT_EQ(AllocationStack(trace, frames, stack, 5),
            (std::vector<std::string>{"malloc  /lib/libc.so.6"}));
  EXPECT_TRUE(AllocationStack(trace, frames, model::kEmptyStack, 5).empty());
}

TEST_F(AllocationStackTest, FramesShowWhatIsKnownOfThem) {
  const auto module = builder_.Intern("/lib/libapp.so");
  auto stack = Push(model::kEmptyStack, {}, "nothing");
  stack = Push(stack, {.line = 3}, "line");
  stack = Push(stack, {.module = module, .line = 4}, "module");
  stack =
      Push(stack, {.file = builder_.Intern("a.cc"), .module = module}, "file");
  stack = Push(stack,
               {.file = builder_.Intern("b.cc"), .module = module, .line = 1},
               "both");
  stack = Push(stack, {.module = module}, "");
  const model::Trace trace = std::move(builder_).Build();
  analysis::AllocationFrames frames(trace);
  const std::vector<std::string> all = {
      "[unknown]  /lib/libapp.so", "both  b.cc:1", "file  a.cc",
      "module  /lib/libapp.so",    "line",         "nothing"};
  EXPECT_EQ(AllocationStack(trace, frames, stack, 7), all);
  EXPECT_EQ(AllocationStack(trace, frames, stack, 6), all);
  EXPECT_EQ(AllocationStack(trace, frames, stack, 5),
            std::vector<std::string>(all.begin(), all.end() - 1));
  EXPECT_TRUE(AllocationStack(trace, frames, stack, 0).empty());
}

}  // namespace
}  // namespace kymo::report
