#include "importers/chrome/events/call_stack_text.h"

#include <gtest/gtest.h>

namespace kymo::chrome_import {
namespace {

using model::FrameId;
using model::StackId;

TEST(CallStackTextTest, TakesFramesApartInnermostFirst) {
  model::StringTable strings;
  model::StackTable stacks;
  CallStackTexts texts(strings, stacks);
  const StackId stack =
      texts.Find("C:\\mm.cc(7): run(\"x\");main.cc(90): main;");
  ASSERT_EQ(stacks.depth(stack), 2u);
  const model::Frame& leaf = stacks.frame(stacks.leaf(stack));
  EXPECT_EQ(strings.Get(leaf.file), "C:\\mm.cc");
  EXPECT_EQ(leaf.line, 7u);
  EXPECT_EQ(strings.Get(leaf.function), "run(\"x\")");
  const model::Frame& root = stacks.frame(stacks.leaf(stacks.parent(stack)));
  EXPECT_EQ(strings.Get(root.function), "main");
}

TEST(CallStackTextTest, OtherTextIsAFunction) {
  model::StringTable strings;
  model::StackTable stacks;
  CallStackTexts texts(strings, stacks);
  for (const char* const entry :
       {"nn.Module: Conv_0", "<built-in method add_ of Tensor object at 0x7f>",
        "f.py(007): zeros", "f.py(): none", "(7): no file",
        "f.py(99999999999): beyond", ""}) {
    const StackId stack = texts.Find(std::string(entry) + ";");
    ASSERT_EQ(stacks.depth(stack), 1u) << entry;
    const model::Frame& frame = stacks.frame(stacks.leaf(stack));
    EXPECT_EQ(strings.Get(frame.function), entry);
    EXPECT_EQ(frame.file, model::kEmptyName);
  }
}

TEST(CallStackTextTest, EqualTextsAreOneStack) {
  model::StringTable strings;
  model::StackTable stacks;
  CallStackTexts texts(strings, stacks);
  const StackId stack = texts.Find("a;b;");
  EXPECT_EQ(texts.Find("a;b;"), stack);
  EXPECT_EQ(stacks.stack_count(), 3u);
}

TEST(CallStackTextTest, TextOfAnotherFormIsNoStack) {
  model::StringTable strings;
  model::StackTable stacks;
  CallStackTexts texts(strings, stacks);
  EXPECT_EQ(texts.Find(""), model::kEmptyStack);
  EXPECT_EQ(texts.Find("a;b"), model::kEmptyStack);
}

}  // namespace
}  // namespace kymo::chrome_import
