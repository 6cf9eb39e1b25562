// Tests the step from a signal handler's frame to what the signal interrupted,
// with registers that the test makes.
#include <gtest/gtest.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <vector>

#include "profiler/unwind/capture_stack.h"

namespace kymo::unwind {
namespace {

#if defined(__x86_64__)

// The code that the kernel makes a handler return to.
uint64_t restorer = 0;

void OnSignal(int) {
  restorer = reinterpret_cast<uint64_t>(__builtin_return_address(0));
}

void Interrupt() {}

class SignalFrameTest : public testing::Test {
 protected:
  static constexpr uint64_t kPage = 4096;
  // Behind the last register that is read.
  static constexpr uint64_t kBytes =
      offsetof(ucontext_t, uc_mcontext.gregs) + (REG_RIP + 1) * 8;

  SignalFrameTest() {
    const auto before = signal(SIGUSR1, OnSignal);
    raise(SIGUSR1);
    signal(SIGUSR1, before);
    // One page that can be read, and one behind it that cannot.
    page_ = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(static_cast<char*>(page_) + kPage, kPage, PROT_NONE);
  }
  ~SignalFrameTest() override { munmap(page_, 2 * kPage); }

  uint64_t End() const { return reinterpret_cast<uint64_t>(page_) + kPage; }

  // The stack from a signal's frame at `sp` on.
  std::vector<uint64_t> StackAt(uint64_t sp) {
    uint64_t pcs[8];
    const size_t count =
        CaptureInterrupted({.pc = restorer, .sp = sp}, pcs, 8, &end_);
    return {pcs, pcs + count};
  }

  void* page_ = nullptr;
  StackEnd end_ = StackEnd::kLimit;
};

TEST_F(SignalFrameTest, GoesOnWithTheRegistersOfTheInterruptedCode) {
  const uint64_t sp = End() - kBytes;
  auto* const context = reinterpret_cast<ucontext_t*>(sp);
  greg_t* const registers = context->uc_mcontext.gregs;
  // Before the first instruction of a function, whose caller is no code.
  registers[REG_RIP] = reinterpret_cast<greg_t>(&Interrupt);
  registers[REG_RSP] = static_cast<greg_t>(End() - 64);
  registers[REG_RBP] = 0;
  EXPECT_EQ(StackAt(sp),
            (std::vector<uint64_t>{
                restorer + 1, reinterpret_cast<uint64_t>(&Interrupt) + 1}));
  EXPECT_EQ(end_, StackEnd::kUnknown);
}

TEST_F(SignalFrameTest, EndsWhereTheRegistersCannotBeRead) {
  const std::vector<uint64_t> only = {restorer + 1};
  for (const uint64_t missing : {8, 16, 24, 64}) {
    EXPECT_EQ(StackAt(End() - kBytes + missing), only) << missing;
    EXPECT_EQ(end_, StackEnd::kUnknown);
  }
  // Nor where they are not aligned.
  EXPECT_EQ(StackAt(End() - kBytes - 4), only);
}

#endif

}  // namespace
}  // namespace kymo::unwind
