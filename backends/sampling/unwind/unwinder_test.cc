// Long, because it has functions whose stacks are unwound.
#include "backends/sampling/unwind/unwinder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/sampling/unwind/test_frames.h"
#include "backends/sampling/unwind/test_own_stack.h"
#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/module_symbolizer.h"
#include "profiler/symbolize/process_mappings.h"

// The end of a function, behind its pops. Its table still says that rbx is
// saved, which now means below the stack pointer: compilers do not always
// correct that.
asm(R"(
.pushsection .text
.type test_popping, @function
test_popping:
  .cfi_startproc
  push %rbx
  .cfi_def_cfa_offset 16
  .cfi_offset rbx, -16
  pop %rbx
  .cfi_def_cfa_offset 8
.globl test_popped
test_popped:
  ret
  .cfi_endproc
.size test_popping, . - test_popping
.popsection
)");
extern "C" const char test_popped;

// A function whose first instruction raises SIGILL, directly behind another
// one.
asm(R"(
.pushsection .text
.type test_before_illegal, @function
test_before_illegal:
  .cfi_startproc
  ret
  .cfi_endproc
.size test_before_illegal, . - test_before_illegal
.globl test_illegal
.type test_illegal, @function
test_illegal:
  .cfi_startproc
  ud2
  ret
  .cfi_endproc
.size test_illegal, . - test_illegal
.popsection
)");
extern "C" void test_illegal();

// Two functions without unwind tables, as in MKL. The frame pointer is no frame
// pointer there.
asm(R"(
.pushsection .text
.type test_bare_leaf, @function
test_bare_leaf:
  ud2
  ret
.size test_bare_leaf, . - test_bare_leaf
.globl test_bare
.type test_bare, @function
test_bare:
  endbr64
  push %rbp
  sub $0x20, %rsp
  mov %rbx, 8(%rsp)
  mov $1, %ebp
  mov $2, %ebx
  call test_bare_leaf
  mov 8(%rsp), %rbx
  add $0x20, %rsp
  pop %rbp
  ret
.size test_bare, . - test_bare
.popsection
)");
extern "C" void test_bare();

// What the first functions of coroutines return to: code without a table,
// behind a jump.
asm(R"(
.pushsection .text
.type test_begins_coroutine, @function
test_begins_coroutine:
  jmp *%rbx
.globl test_coroutine_end
test_coroutine_end:
  ud2
  call *%rbx
.globl test_behind_call
test_behind_call:
  ud2
.size test_begins_coroutine, . - test_begins_coroutine
.popsection
)");
extern "C" const char test_coroutine_end;
extern "C" const char test_behind_call;

// Takes its return address from the stack, as vfork does: a child may write
// there. The frame pointer leads nowhere.
asm(R"(
.pushsection .text
.globl test_takes_return_address
.type test_takes_return_address, @function
test_takes_return_address:
  .cfi_startproc
  pop %rdi
  .cfi_def_cfa_offset 0
  .cfi_register rip, rdi
  mov %rbp, %r8
  .cfi_register rbp, r8
  mov $1, %ebp
  ud2
  mov %r8, %rbp
  push %rdi
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
.size test_takes_return_address, . - test_takes_return_address
.popsection
)");
extern "C" void test_takes_return_address();

// The table ends before the system call, as those of clone and clone3 do. There
// is another one for what the new thread does.
asm(R"(
.pushsection .text
.type test_clone, @function
test_clone:
  .cfi_startproc
  mov %rcx, %r8
  .cfi_endproc
  syscall
.globl test_new_thread
test_new_thread:
  ud2
.globl test_in_new_thread
test_in_new_thread:
  .cfi_startproc
  .cfi_undefined rip
  ud2
  .cfi_endproc
.size test_clone, . - test_clone
.popsection
)");
extern "C" const char test_new_thread;
extern "C" const char test_in_new_thread;

namespace kymo::sampling {
namespace {

constexpr size_t kPlenty = 512 << 10;

void Capture(void* result) {
  *static_cast<OwnStack*>(result) = CaptureOwnStack(kPlenty);
}

class UnwinderTest : public ::testing::Test {
 protected:
  UnwinderTest() { symbolize::AddOwnMappings(modules_, space_); }

  // Function names, leaf first.
  std::vector<std::string> Unwind(const OwnStack& own, bool was_cut = false) {
    Unwinder unwinder(&modules_);
    unwinder.Unwind(space_, own.registers, own.copy(), was_cut, &stack_);
    std::vector<std::string> names;
    for (const symbolize::CodePlace& place : stack_.frames) {
      symbolize::ModuleSymbolizer symbolizer(modules_.module(place.module));
      for (const symbolize::NamedFrame& frame :
           symbolizer.Name(place.address)) {
        if (!frame.is_inlined) names.push_back(frame.function);
      }
    }
    return names;
  }

  symbolize::ModuleTable modules_;
  symbolize::AddressSpace space_;
  UnwoundStack stack_;
};

// Whether `wanted` follow each other directly somewhere in `names`.
testing::AssertionResult HasRun(const std::vector<std::string>& names,
                                const std::vector<std::string>& wanted) {
  if (std::search(names.begin(), names.end(), wanted.begin(), wanted.end()) !=
      names.end()) {
    return testing::AssertionSuccess();
  }
  auto failure = testing::AssertionFailure();
  for (const std::string& name : names) failure << "\n  " << name;
  return failure;
}

TEST_F(UnwinderTest, GoesThroughFunctionsWithFramePointers) {
  OwnStack own;
  with_pointer_outer(Capture, &own);
  EXPECT_TRUE(HasRun(Unwind(own), {"with_pointer_inner", "with_pointer_middle",
                                   "with_pointer_outer"}));
  EXPECT_EQ(stack_.end, StackEnd::kComplete);
}

// Of a thread that is looked at in /proc, no other registers are known.
TEST_F(UnwinderTest, FindsACallOfAFunctionWhoseFramePointerIsNotKnown) {
  for (const auto outer : {with_pointer_outer, without_pointer_outer}) {
    OwnStack own;
    outer(Capture, &own);
    for (int r = 0; r < kRegisterCount; ++r) {
      if (r != kRsp && r != kRip) own.registers[static_cast<size_t>(r)] = 0;
    }
    const std::string prefix =
        outer == with_pointer_outer ? "with_pointer" : "without_pointer";
    EXPECT_TRUE(HasRun(Unwind(own), {prefix + "_inner", prefix + "_middle",
                                     prefix + "_outer"}));
    EXPECT_EQ(stack_.end, StackEnd::kComplete);
  }
}

TEST_F(UnwinderTest, GoesThroughFunctionsWithoutFramePointers) {
  OwnStack own;
  without_pointer_outer(Capture, &own);
  const auto names = Unwind(own);
  EXPECT_TRUE(HasRun(names, {"without_pointer_inner", "without_pointer_middle",
                             "without_pointer_outer"}));
  EXPECT_EQ(stack_.end, StackEnd::kComplete);
  EXPECT_EQ(names.back(), "_start");
}

TEST_F(UnwinderTest, GoesThroughRealignedAndDynamicFrames) {
  OwnStack own;
  without_pointer_realigned(Capture, &own);
  EXPECT_TRUE(HasRun(Unwind(own),
                     {"without_pointer_inner", "without_pointer_realigned"}));
  EXPECT_EQ(stack_.end, StackEnd::kComplete);
  without_pointer_dynamic(Capture, &own);
  EXPECT_TRUE(HasRun(Unwind(own),
                     {"without_pointer_inner", "without_pointer_dynamic"}));
  EXPECT_EQ(stack_.end, StackEnd::kComplete);
}

TEST_F(UnwinderTest, GoesThroughASignalHandler) {
  static OwnStack own;
  struct sigaction action = {};
  struct sigaction old = {};
  action.sa_handler = [](int) { without_pointer_outer(Capture, &own); };
  sigaction(SIGUSR1, &action, &old);
  with_pointer_outer([](void*) { raise(SIGUSR1); }, nullptr);
  sigaction(SIGUSR1, &old, nullptr);
  const auto names = Unwind(own);
  EXPECT_TRUE(HasRun(names, {"without_pointer_outer"}));
  EXPECT_TRUE(HasRun(names, {"with_pointer_inner", "with_pointer_middle",
                             "with_pointer_outer"}));
  EXPECT_EQ(stack_.end, StackEnd::kComplete);
}

// Of a thread that calls the function, with the stack of when it came to ud2.
OwnStack CaptureAtIllegal(void (*function)()) {
  static OwnStack own;
  struct sigaction action = {};
  struct sigaction old = {};
  action.sa_sigaction = [](int, siginfo_t*, void* context) {
    Capture(&own);
    constexpr int kInstructionBytes = 2;
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] +=
        kInstructionBytes;
  };
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, &old);
  with_pointer_outer(
      [](void* called) { reinterpret_cast<void (*)()>(called)(); },
      reinterpret_cast<void*>(function));
  sigaction(SIGILL, &old, nullptr);
  return own;
}

// Its address is no return address: one byte before it is another function.
TEST_F(UnwinderTest, ASignalOnAFunctionsFirstInstructionKeepsTheFunction) {
  const auto names = Unwind(CaptureAtIllegal(test_illegal));
  EXPECT_TRUE(HasRun(names, {"test_illegal"}));
  EXPECT_FALSE(HasRun(names, {"test_before_illegal"}));
  EXPECT_TRUE(HasRun(names, {"with_pointer_inner", "with_pointer_middle",
                             "with_pointer_outer"}));
  EXPECT_EQ(stack_.end, StackEnd::kComplete);
}

TEST_F(UnwinderTest, GoesThroughFunctionsWithoutTables) {
  const auto names = Unwind(CaptureAtIllegal(test_bare));
  EXPECT_TRUE(HasRun(names, {"test_bare_leaf", "test_bare"}));
  // test_bare has saved the frame pointer of its caller.
  EXPECT_TRUE(HasRun(names, {"with_pointer_inner", "with_pointer_middle",
                             "with_pointer_outer"}));
  EXPECT_EQ(stack_.end, StackEnd::kComplete);
}

TEST_F(UnwinderTest, AReturnAddressMayBeInARegister) {
  const auto names = Unwind(CaptureAtIllegal(test_takes_return_address));
  EXPECT_TRUE(HasRun(names, {"test_takes_return_address"}));
  EXPECT_TRUE(HasRun(names, {"with_pointer_inner", "with_pointer_middle",
                             "with_pointer_outer"}));
  EXPECT_EQ(stack_.end, StackEnd::kComplete);
}

TEST_F(UnwinderTest, EndsAtTheBeginningOfAThread) {
  OwnStack own;
  std::thread([&] { without_pointer_outer(Capture, &own); }).join();
  symbolize::AddOwnMappings(modules_, space_);
  EXPECT_TRUE(HasRun(Unwind(own), {"without_pointer_outer"}));
  EXPECT_EQ(stack_.end, StackEnd::kComplete);
}

TEST_F(UnwinderTest, SaysThatTheCopyWasTooShort) {
  OwnStack own;
  test_recursion(300, Capture, &own);
  EXPECT_GT(Unwind(own).size(), 300u);
  EXPECT_EQ(stack_.end, StackEnd::kComplete);
  own.memory.resize(8 << 10);
  EXPECT_GT(Unwind(own, /*was_cut=*/true).size(), 10u);
  EXPECT_EQ(stack_.end, StackEnd::kTruncated);
}

TEST_F(UnwinderTest, FollowsFramePointersWhereThereAreNoRules) {
  // A return into this test from memory without tables, like a JIT's.
  OwnStack own;
  without_pointer_outer(Capture, &own);
  Unwind(own);
  ASSERT_GT(stack_.frames.size(), 3u);
  const uint64_t jit = 0x10000;
  space_.Map(
      {.start = jit, .end = jit + 0x1000, .module = modules_.Named("[anon]")});
  const uint64_t base = own.registers[kRsp];
  const uint64_t link[] = {0, own.registers[kRip]};
  std::memcpy(own.memory.data() + 64, link, sizeof(link));
  own.registers[kRbp] = base + 64;
  own.registers[kRip] = jit + 0x10;
  Unwind(own);
  ASSERT_GE(stack_.frames.size(), 2u);
  EXPECT_EQ(modules_.module(stack_.frames[0].module).path(), "[anon]");
  EXPECT_NE(stack_.frames[1].module, symbolize::ModuleTable::kUnknown);
}

TEST_F(UnwinderTest, KeepsRegistersThatWerePopped) {
  OwnStack own;
  without_pointer_outer(Capture, &own);
  Unwind(own);
  const std::vector<symbolize::CodePlace> callers = stack_.frames;
  ASSERT_EQ(stack_.end, StackEnd::kComplete);
  // The stack as if the capture had been called from there.
  std::vector<std::byte> memory(8);
  std::memcpy(memory.data(), &own.registers[kRip], 8);
  memory.insert(memory.end(), own.memory.begin(), own.memory.end());
  own.memory = memory;
  own.registers[kRsp] -= 8;
  own.registers[kRip] = reinterpret_cast<uint64_t>(&test_popped);
  Unwind(own);
  EXPECT_EQ(stack_.end, StackEnd::kComplete);
  EXPECT_EQ(stack_.frames.size(), callers.size() + 1);
}

// Frames of a JIT: a chain of frame pointers, each with a return address.
class JitFramesTest : public UnwinderTest {
 protected:
  static constexpr uint64_t kJit = 0x10000;
  static constexpr uint64_t kBase = 0x7000'0000;

  JitFramesTest() {
    space_.Map({.start = kJit,
                .end = kJit + 0x1000,
                .module = modules_.Named("[anon]")});
    own_.registers.fill(0);
    own_.registers[kRsp] = kBase;
    own_.registers[kRbp] = kBase;
    own_.registers[kRip] = kJit;
  }
  // The last one leads to `last`.
  void Chain(size_t count, uint64_t last) {
    own_.memory.resize(16 * count);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t link[] = {i + 1 == count ? last : kBase + 16 * (i + 1),
                               kJit + 1 + i % 100};
      std::memcpy(own_.memory.data() + 16 * i, link, sizeof(link));
    }
  }
  size_t Frames(bool was_cut = false) {
    Unwind(own_, was_cut);
    return stack_.frames.size();
  }

  OwnStack own_;
};

TEST_F(JitFramesTest, AreFollowedUpTheStack) {
  Chain(3, kBase - 8);  // nowhere
  EXPECT_EQ(Frames(), 4u);
  EXPECT_EQ(stack_.end, StackEnd::kIncomplete);
  // The leaf is where it was, callers are where the call is.
  EXPECT_EQ(stack_.frames[0].address, kJit);
  EXPECT_EQ(stack_.frames[1].address, kJit);
  EXPECT_EQ(stack_.frames[2].address, kJit + 1);
  EXPECT_EQ(stack_.frames[3].address, kJit + 2);
}

TEST_F(JitFramesTest, AreCompleteIfTheChainEndsWithZero) {
  Chain(3, 0);
  EXPECT_EQ(Frames(), 4u);
  EXPECT_EQ(stack_.end, StackEnd::kComplete);
  // A frame pointer that is 0 at once is no chain.
  own_.registers[kRbp] = 0;
  EXPECT_EQ(Frames(), 1u);
  EXPECT_EQ(stack_.end, StackEnd::kIncomplete);
}

TEST_F(JitFramesTest, EndWhereTheCopyEnds) {
  Chain(3, kBase + 48);  // the first byte behind it
  EXPECT_EQ(Frames(/*was_cut=*/true), 4u);
  EXPECT_EQ(stack_.end, StackEnd::kTruncated);
  EXPECT_EQ(Frames(/*was_cut=*/false), 4u);
  EXPECT_EQ(stack_.end, StackEnd::kIncomplete);
  own_.memory.resize(40);  // of the last frame, only the link was copied
  EXPECT_EQ(Frames(true), 3u);
}

TEST_F(JitFramesTest, ImplausiblePointersAreNotFollowed) {
  Chain(2, 0);
  const auto frames_from = [&](uint64_t pointer) {
    own_.registers[kRbp] = pointer;
    return Frames(true);
  };
  EXPECT_EQ(frames_from(kBase + 16), 2u);
  EXPECT_EQ(frames_from(kBase + 4), 1u);  // not aligned
  EXPECT_EQ(stack_.end, StackEnd::kIncomplete);
  own_.registers[kRsp] = kBase + 16;  // below the stack pointer
  EXPECT_EQ(frames_from(kBase), 1u);
  own_.registers[kRsp] = kBase;
  EXPECT_EQ(frames_from(kBase), 3u);
  // A return address outside of all code.
  const uint64_t nowhere = 0x5000;
  std::memcpy(own_.memory.data() + 8, &nowhere, sizeof(nowhere));
  EXPECT_EQ(frames_from(kBase), 1u);
}

TEST_F(JitFramesTest, AStackHasAThousandFramesAtMost) {
  Chain(1'024, 0);
  EXPECT_EQ(Frames(), 1'024u);
  EXPECT_EQ(stack_.end, StackEnd::kTruncated);
  Chain(1'023, 0);
  EXPECT_EQ(Frames(), 1'024u);
  EXPECT_EQ(stack_.end, StackEnd::kComplete);
}

TEST_F(UnwinderTest, ANewThreadHasNoCaller) {
  OwnStack own;
  own.registers.fill(0);
  own.registers[kRip] = reinterpret_cast<uint64_t>(&test_new_thread);
  own.registers[kRsp] = 0x7000'0000;
  own.registers[kRbp] = 0x7fff'0000;  // still that of the thread that made it
  // The descriptor of a thread, which lies there, begins with its own address.
  own.memory.resize(64);
  std::memcpy(own.memory.data(), &own.registers[kRsp], 8);
  Unwinder unwinder(&modules_);  // keeps the rules that it finds
  const auto unwind = [&] {
    unwinder.Unwind(space_, own.registers, own.copy(), false, &stack_);
    EXPECT_EQ(stack_.frames.size(), 1u);
    return stack_.end;
  };
  EXPECT_EQ(unwind(), StackEnd::kComplete);
  // It may be the thread that called clone.
  own.memory.clear();
  EXPECT_EQ(unwind(), StackEnd::kIncomplete);
  own.registers[kRip] = reinterpret_cast<uint64_t>(&test_in_new_thread);
  EXPECT_EQ(unwind(), StackEnd::kComplete);
}

TEST_F(UnwinderTest, ACoroutineEndsAtItsFirstFunction) {
  OwnStack own;
  own.registers.fill(0);
  own.registers[kRip] = reinterpret_cast<uint64_t>(&test_popped);
  own.registers[kRsp] = 0x7000'0000;
  own.memory.resize(64);
  const auto unwind_from = [&](const char& return_address) {
    const char* const address = &return_address;
    std::memcpy(own.memory.data(), &address, 8);
    Unwind(own);
    EXPECT_EQ(stack_.frames.size(), stack_.at.size());
    return std::pair(stack_.frames.size(), stack_.end);
  };
  EXPECT_EQ(unwind_from(test_coroutine_end),
            std::pair(size_t{1}, StackEnd::kComplete));
  EXPECT_EQ(unwind_from(test_behind_call),
            std::pair(size_t{2}, StackEnd::kIncomplete));
}

// The same of one that the C library makes.
TEST_F(UnwinderTest, MakecontextEndsAStack) {
  static OwnStack own;
  static ucontext_t before, inside;
  static char stack[64 << 10];
  getcontext(&inside);
  inside.uc_stack = {.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof(stack)};
  inside.uc_link = &before;
  makecontext(
      &inside, [] { without_pointer_outer(Capture, &own); }, 0);
  swapcontext(&before, &inside);
  EXPECT_TRUE(HasRun(Unwind(own), {"without_pointer_outer"}));
  EXPECT_EQ(stack_.end, StackEnd::kComplete);
}

TEST_F(UnwinderTest, StopsOnNonsense) {
  OwnStack own;
  own.memory.resize(4096);
  for (const uint64_t value : {uint64_t{0}, uint64_t{8}, ~uint64_t{0},
                               ~uint64_t{7}, uint64_t{1} << 63}) {
    own.registers.fill(value);
    for (size_t at = 0; at < own.memory.size(); at += 8) {
      std::memcpy(own.memory.data() + at, &value, 8);
    }
    Unwind(own);
    EXPECT_EQ(stack_.end, StackEnd::kIncomplete);
    EXPECT_EQ(stack_.frames.size(), 1u);
  }
}

}  // namespace
}  // namespace kymo::sampling
