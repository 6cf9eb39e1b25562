#include "profiler/symbolize/stack_symbolizer.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <unwind.h>

#include <string>
#include <vector>

#include "profiler/model/trace_shard.h"
#include "profiler/symbolize/process_mappings.h"

namespace kymo::symbolize {

using Pcs = std::vector<uint64_t>;

// Not in the anonymous namespace, so that their names are the same everywhere.
[[gnu::noinline]] Pcs TestInner() {
  Pcs pcs;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* argument) {
        // libgcc may also give a caller of the outermost frame, at 0.
        const uint64_t pc = _Unwind_GetIP(context);
        if (pc != 0) static_cast<Pcs*>(argument)->push_back(pc);
        return _URC_NO_REASON;
      },
      &pcs);
  return pcs;
}
[[gnu::always_inline]] inline Pcs TestInlined() {
  Pcs pcs = TestInner();
  asm volatile("" : : : "memory");
  return pcs;
}
[[gnu::noinline]] Pcs TestOuter() {
  Pcs pcs = TestInlined();
  asm volatile("" : : : "memory");
  return pcs;
}
// The call must be the function's last instruction.
[[noreturn, gnu::noinline, gnu::noipa]] void TestThrow(Pcs* pcs) {
  *pcs = TestInner();
  throw 1;
}
[[gnu::noinline, gnu::noipa]] void TestEndsInCall(Pcs* pcs) { TestThrow(pcs); }

namespace {

class StackSymbolizerTest : public ::testing::Test {
 protected:
  StackSymbolizerTest() { AddOwnMappings(modules_, space_); }

  model::StackId IdOf(model::StackId number) {
    return symbolizer_.Name(shard_)[Index(number)];
  }
  model::StackId Add(const Pcs& pcs) {
    return IdOf(symbolizer_.Add(pcs, space_));
  }
  // Function names of a stack, innermost first; inlined ones in brackets.
  std::vector<std::string> Names(model::StackId stack) const {
    std::vector<std::string> names;
    for (; stack != model::kEmptyStack; stack = shard_.stacks.parent(stack)) {
      const model::Frame& frame =
          shard_.stacks.frame(shard_.stacks.leaf(stack));
      const std::string name(shard_.strings.Get(frame.function));
      names.push_back(frame.is_inlined ? "[" + name + "]" : name);
    }
    return names;
  }

  ModuleTable modules_;
  AddressSpace space_;
  model::TraceShard shard_;
  StackSymbolizer symbolizer_{&modules_};
};

TEST_F(StackSymbolizerTest, NamesTheCallersOfThisProcess) {
  const auto names = Names(Add(TestOuter()));
  ASSERT_GE(names.size(), 4u);
  EXPECT_EQ(names[0], "kymo::symbolize::TestInner()");
  // Minimal debug information (-g1) has no qualified names of inlined
  // functions.
  EXPECT_TRUE(names[1].starts_with('['));
  EXPECT_NE(names[1].find("TestInlined"), std::string::npos);
  EXPECT_EQ(names[2], "kymo::symbolize::TestOuter()");
  EXPECT_EQ(names.back(), "_start");
}

TEST_F(StackSymbolizerTest, FramesHaveModuleFileAndLine) {
  const model::StackId stack = Add(TestOuter());
  const model::Frame& frame = shard_.stacks.frame(shard_.stacks.leaf(stack));
  EXPECT_NE(
      shard_.strings.Get(frame.module).find(program_invocation_short_name),
      std::string::npos);
  EXPECT_NE(shard_.strings.Get(frame.file).find("stack_symbolizer_test.cc"),
            std::string::npos);
  EXPECT_GT(frame.line, 0u);
  EXPECT_TRUE(frame.is_resolved);
}

TEST_F(StackSymbolizerTest, ACallAtTheEndOfAFunctionIsItsOwn) {
  Pcs pcs;
  try {
    TestEndsInCall(&pcs);
  } catch (int) {
  }
  const auto names = Names(Add(pcs));
  ASSERT_GE(names.size(), 3u);
  EXPECT_TRUE(names[1].starts_with("kymo::symbolize::TestThrow("));
  EXPECT_TRUE(names[2].starts_with("kymo::symbolize::TestEndsInCall("));
}

TEST_F(StackSymbolizerTest, EqualStacksAreOne) {
  Pcs pcs = TestOuter();
  const model::StackId first = symbolizer_.Add(pcs, space_);
  EXPECT_EQ(symbolizer_.Add(pcs, space_), first);
  EXPECT_EQ(symbolizer_.Add({}, space_), model::kEmptyStack);
  EXPECT_EQ(symbolizer_.Add(pcs, space_), first);
  // The callers are the tail of the same stack.
  const model::StackId callers =
      symbolizer_.Add(std::span(pcs).subspan(1), space_);
  const std::vector<model::StackId> ids = symbolizer_.Name(shard_);
  // One for each frame, and that of the empty stack.
  EXPECT_EQ(ids.size(), pcs.size() + 1);
  EXPECT_EQ(shard_.stacks.parent(ids[Index(first)]), ids[Index(callers)]);
}

TEST_F(StackSymbolizerTest, SpacesAreToldApart) {
  AddressSpace empty;
  const Pcs pcs = TestOuter();
  const model::StackId named = Add(pcs);
  // A C library without debug information has functions without a name.
  const auto without_name = shard_.ledger.Get(model::Loss::kFramesUnresolved);
  const model::StackId unnamed = IdOf(symbolizer_.Add(pcs, empty));
  EXPECT_NE(named, unnamed);
  EXPECT_EQ(Add(pcs), named);
  EXPECT_EQ(Names(unnamed)[0], "[unknown]");
  // All addresses outside of files are one frame.
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kFramesUnresolved) - without_name,
            1u);
}

// The process is gone; its list of mappings was recorded.
TEST_F(StackSymbolizerTest, NamesTheStacksOfARecordedProcess) {
  AddressSpace recorded;
  constexpr int64_t kGone = 0x7fffffff;
  AddMappings(kGone, ReadProcMaps(getpid()), INT64_MAX, modules_, recorded);
  const auto names = Names(IdOf(symbolizer_.Add(TestOuter(), recorded)));
  EXPECT_EQ(names[0], "kymo::symbolize::TestInner()");
}

}  // namespace
}  // namespace kymo::symbolize
