// Long, because each kind of code needs a stack that is made for it.
#include "profiler/unwind/capture_stack.h"

#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "profiler/unwind/file_number.h"
#include "profiler/unwind/loaded_code.h"
#include "profiler/unwind/test_chain.h"

namespace kymo::unwind {
namespace {

using Pcs = std::vector<uint64_t>;

constexpr size_t kMost = 400;

// The calling thread's stack as libgcc finds it, with the same tables.
[[gnu::noinline]] Pcs StackOfLibgcc() {
  Pcs pcs;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* argument) {
        int is_interrupted = 0;
        const uint64_t pc = _Unwind_GetIPInfo(context, &is_interrupted);
        static_cast<Pcs*>(argument)->push_back(pc + (is_interrupted ? 1 : 0));
        return _URC_NO_REASON;
      },
      &pcs);
  return pcs;
}

struct BothStacks {
  Pcs ours;
  Pcs libgcc;
  StackEnd end = StackEnd::kUnknown;
};

// Compares from the third frame on: the first two are in different functions.
[[gnu::noinline]] void CaptureBoth(void* argument) {
  auto& both = *static_cast<BothStacks*>(argument);
  both.ours.resize(kMost);
  both.ours.resize(CaptureStack(both.ours.data(), kMost, 1, &both.end));
  both.libgcc = StackOfLibgcc();
  both.libgcc.erase(both.libgcc.begin(), both.libgcc.begin() + 2);
  // libgcc ends with the address 0 where a thread begins, or at _start.
  while (!both.libgcc.empty() && both.libgcc.back() <= 1) {
    both.libgcc.pop_back();
  }
}

std::string StepsOf(const std::vector<uint8_t>& steps) {
  std::string text;
  for (const uint8_t step : steps) {
    text += " " + std::to_string(step % StepCount());
  }
  return text;
}

void ExpectSameStack(const std::vector<uint8_t>& steps) {
  BothStacks both;
  Chain chain{.steps = steps.data(),
              .left = steps.size(),
              .leaf = CaptureBoth,
              .argument = &both};
  chain.Next();
  ASSERT_EQ(both.ours, both.libgcc) << "steps" << StepsOf(steps);
  EXPECT_EQ(both.end, StackEnd::kOutermost);
}

[[gnu::noinline]] size_t CaptureHere(uint64_t* pcs) {
  const size_t count = CaptureStack(pcs, 64, 0);
  asm volatile("" : : : "memory");
  return count;
}

TEST(CaptureStackTest, BeginsInTheCallerAndGoesOnToTheOutermostFrame) {
  uint64_t pcs[64];
  const size_t count = CaptureHere(pcs);
  ASSERT_GT(count, 4u);
  const auto function = reinterpret_cast<uint64_t>(&CaptureHere);
  EXPECT_GT(pcs[0], function);
  EXPECT_LT(pcs[0], function + 400);
  BothStacks both;
  CaptureBoth(&both);
  EXPECT_EQ(both.end, StackEnd::kOutermost);
  EXPECT_EQ(pcs[count - 1], both.libgcc.back());
}

TEST(CaptureStackTest, EveryKindOfFrameGivesTheStackOfLibgcc) {
  for (size_t step = 0; step < StepCount(); ++step) {
    ExpectSameStack({static_cast<uint8_t>(step)});
  }
}

TEST(CaptureStackTest, RandomChainsGiveTheStackOfLibgcc) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> steps(1 + random() % 10);
    for (uint8_t& step : steps) {
      step = static_cast<uint8_t>(random() % StepCount());
    }
    ExpectSameStack(steps);
    if (HasFatalFailure()) return;
  }
}

TEST(CaptureStackTest, ThreadsShareTheRules) {
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([seed] {
      std::mt19937 random(seed);
      for (int round = 0; round < 200; ++round) {
        // Only the first six kinds: signals are left out, because threads share
        // handlers.
        std::vector<uint8_t> steps(1 + random() % 10);
        for (uint8_t& step : steps) step = static_cast<uint8_t>(random() % 18);
        ExpectSameStack(steps);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CaptureStackTest, SkipsFramesAndStopsAtTheLimit) {
  uint64_t all[64], some[3];
  StackEnd end;
  const auto capture = [&](uint64_t* pcs, size_t max, size_t skip) {
    return CaptureStack(pcs, max, skip, &end);
  };
  size_t counts[2];
  for (size_t i = 0; i < 2; ++i) {
    counts[i] = i == 0 ? capture(all, 64, 0) : capture(some, 3, 2);
  }
  EXPECT_GT(counts[0], 5u);
  EXPECT_EQ(counts[1], 3u);
  EXPECT_EQ(end, StackEnd::kLimit);
  EXPECT_EQ(some[1], all[3]);
  EXPECT_EQ(some[2], all[4]);
  EXPECT_EQ(CaptureStack(nullptr, 0, 0, &end), 0u);
  EXPECT_EQ(end, StackEnd::kLimit);
  EXPECT_EQ(CaptureStack(all, 64, 10000, &end), 0u);
  EXPECT_EQ(end, StackEnd::kOutermost);
}

// Calls itself `deep` times; then captures above `frame`.
__attribute__((noinline)) size_t CaptureFromBelow(int deep, const void* frame,
                                                  uint64_t* pcs) {
  if (deep == 0) return CaptureStackAbove(frame, pcs, 64);
  const size_t count = CaptureFromBelow(deep - 1, frame, pcs);
  asm volatile("");
  return count;
}

__attribute__((noinline)) size_t CaptureAboveThis(uint64_t* pcs) {
  return CaptureFromBelow(5, __builtin_frame_address(0), pcs);
}

TEST(CaptureStackTest, FramesBelowTheGivenOneAreNotThere) {
  uint64_t above[64];
  uint64_t here[64];
  const size_t above_count = CaptureAboveThis(above);
  const size_t here_count = CaptureStack(here, 64, 0);
  ASSERT_EQ(above_count, here_count);
  // The first entries differ: they are two places in this function.
  for (size_t i = 1; i < here_count; ++i) EXPECT_EQ(above[i], here[i]);
}

TEST(CaptureStackTest, KeepsErrno) {
  uint64_t pcs[64];
  std::thread([&] {
    errno = 12345;
    CaptureStack(pcs, 64, 0);
    EXPECT_EQ(errno, 12345);
  }).join();
}

// A library is loaded where another one was. The rules of the first must not be
// used.
TEST(CaptureStackTest, FollowsALibraryThatReplacedAnother) {
  using Call = void (*)(void (*)(void*), void*);
  Call last = nullptr;
  int replaced = 0;
  for (int round = 0; round < 6; ++round) {
    const char* const path = round % 2 == 0
                                 ? "profiler/unwind/libtest_library_small.so"
                                 : "profiler/unwind/libtest_library_large.so";
    void* const library = dlopen(path, RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto call =
        reinterpret_cast<Call>(dlsym(library, "test_library_call"));
    replaced += call == last ? 1 : 0;
    last = call;
    BothStacks both;
    call(CaptureBoth, &both);
    EXPECT_EQ(both.ours, both.libgcc);
    EXPECT_EQ(both.end, StackEnd::kOutermost);
    dlclose(library);
  }
  if (replaced == 0) GTEST_SKIP() << "no library took another one's place";
}

constexpr uint64_t kAddress = (uint64_t{1} << 48) - 1;

[[gnu::noinline]] void CaptureMarked(void* argument) {
  const FileMarks marks = {[](void*, const LoadedCode& code) noexcept {
                             return uint64_t{FileNumber(code.identity)} << 48;
                           },
                           nullptr};
  auto& pcs = *static_cast<Pcs*>(argument);
  pcs.resize(kMost);
  pcs.resize(CaptureStackAbove(__builtin_frame_address(0), pcs.data(), kMost,
                               nullptr, &marks));
}

// Two libraries have the same addresses, but each has a mark of its own, which
// it keeps when it is loaded again.
TEST(CaptureStackTest, MarksTellLibrariesAtOnePlaceApart) {
  using Call = void (*)(void (*)(void*), void*);
  Pcs last[2];
  for (int round = 0; round < 6; ++round) {
    const bool is_small = round % 2 == 0;
    void* const library =
        dlopen(is_small ? "profiler/unwind/libtest_library_small.so"
                        : "profiler/unwind/libtest_library_large.so",
               RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto call =
        reinterpret_cast<Call>(dlsym(library, "test_library_call"));
    Pcs pcs;
    call(CaptureMarked, &pcs);
    dlclose(library);
    ASSERT_GT(pcs.size(), 3u);
    // [0] is in the library, [1] in this function.
    EXPECT_GT(pcs[0] & kAddress, reinterpret_cast<uint64_t>(call));
    EXPECT_NE(pcs[0] >> 48, 0u);
    EXPECT_NE(pcs[0] >> 48, pcs[1] >> 48);
    if (round >= 2) {
      EXPECT_EQ(pcs[0], last[is_small][0]);
    }
    if (round >= 1) {
      EXPECT_NE(pcs[0] >> 48, last[!is_small][0] >> 48);
    }
    last[is_small] = pcs;
  }
}

// --- what a signal interrupted ---

StackEnd interrupted_end;
Pcs interrupted_ours, interrupted_libgcc;

void OnInterrupt(int, siginfo_t*, void* context) {
  const auto& saved = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__aarch64__)
  const Interrupted code = {.pc = saved.pc,
                            .sp = saved.sp,
                            .bp = saved.regs[29],
                            .lr = saved.regs[30]};
#else
  const auto at = [&](int number) {
    return static_cast<uint64_t>(saved.gregs[number]);
  };
  const Interrupted code = {
      .pc = at(REG_RIP), .sp = at(REG_RSP), .bp = at(REG_RBP)};
#endif
  interrupted_ours.resize(kMost);
  interrupted_ours.resize(CaptureInterrupted(code, interrupted_ours.data(),
                                             kMost, &interrupted_end));
  interrupted_libgcc = StackOfLibgcc();
  // It begins in the handler and the kernel's frame.
  while (!interrupted_libgcc.empty() &&
         interrupted_libgcc.front() != code.pc + 1) {
    interrupted_libgcc.erase(interrupted_libgcc.begin());
  }
}

TEST(CaptureStackTest, InterruptedCodeGivesTheStackOfLibgcc) {
  struct sigaction action = {}, old = {};
  action.sa_sigaction = OnInterrupt;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, &old);
  for (uint8_t step = 0; step < 18; ++step) {
    Chain chain{.steps = &step,
                .left = 1,
                .leaf = [](void*) { raise(SIGUSR1); },
                .argument = nullptr};
    chain.Next();
    ASSERT_GT(interrupted_ours.size(), 4u) << int{step};
    EXPECT_EQ(interrupted_end, StackEnd::kOutermost);
    while (!interrupted_libgcc.empty() && interrupted_libgcc.back() <= 1) {
      interrupted_libgcc.pop_back();
    }
    EXPECT_EQ(interrupted_ours, interrupted_libgcc) << int{step};
  }
  sigaction(SIGUSR1, &old, nullptr);
}

// Machine code without a table, which is called with (argument, function), and
// where its call ends.
#if defined(__aarch64__)
// sub sp, sp, #32; stp x29, x30, [sp]; mov x29, sp; blr x1; ldp x29, x30, [sp];
// add sp, sp, #32; ret
constexpr uint32_t kCode[] = {0xd10083ff, 0xa9007bfd, 0x910003fd, 0xd63f0020,
                              0xa9407bfd, 0x910083ff, 0xd65f03c0};
constexpr uint64_t kAfterCall = 16;
#else
// push %rbp; mov %rsp,%rbp; mov %rsi,%rax; call *%rax; pop %rbp; ret
constexpr uint8_t kCode[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89,
                             0xf0, 0xff, 0xd0, 0x5d, 0xc3};
constexpr uint64_t kAfterCall = 9;
#endif

TEST(CaptureStackTest, FollowsFramePointersThroughGeneratedCode) {
  void* const code = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(code, MAP_FAILED);
  std::memcpy(code, kCode, sizeof(kCode));
  __builtin___clear_cache(static_cast<char*>(code),
                          static_cast<char*>(code) + sizeof(kCode));
  const auto call = reinterpret_cast<void (*)(void*, void (*)(void*))>(code);
  BothStacks direct, generated;
  for (int i = 0; i < 2; ++i) {
    i == 0 ? CaptureBoth(&direct) : call(&generated, CaptureBoth);
  }
  // The generated code adds one frame; after it, both stacks are in this
  // function.
  ASSERT_EQ(generated.ours.size(), direct.ours.size() + 1);
  EXPECT_EQ(generated.ours[0], reinterpret_cast<uint64_t>(code) + kAfterCall);
  EXPECT_EQ(Pcs(generated.ours.begin() + 2, generated.ours.end()),
            Pcs(direct.ours.begin() + 1, direct.ours.end()));
  EXPECT_EQ(generated.end, StackEnd::kOutermost);
  munmap(code, 4096);
}

// Runs `function` on `stack`; it may not throw.
void RunOn(void* stack, size_t bytes, void (*function)()) {
  ucontext_t here, there;
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = bytes;
  there.uc_link = &here;
  makecontext(&there, function, 0);
  swapcontext(&here, &there);
}

BothStacks on_other_stack;

TEST(CaptureStackTest, CapturesOnStacksThatComeAndGo) {
  constexpr size_t kBytes = 64 * 1024;
  for (int round = 0; round < 20; ++round) {
    // No memory above this can be read.
    auto* const memory = static_cast<char*>(mmap(
        nullptr, kBytes + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory, MAP_FAILED);
    ASSERT_EQ(mprotect(memory + 4096, kBytes, PROT_READ | PROT_WRITE), 0);
    RunOn(memory + 4096, kBytes, [] {
      Chain chain{.leaf = CaptureBoth, .argument = &on_other_stack};
      chain.Next();
    });
    // libgcc also gives the place where a context begins, which is no call.
    // Whether the lambda is inlined decides whether it has one frame or two.
    Pcs& libgcc = on_other_stack.libgcc;
    ASSERT_GE(libgcc.size(), 3u);
    ASSERT_LE(libgcc.size(), 4u);
    libgcc.pop_back();
    EXPECT_EQ(on_other_stack.ours, libgcc);
    munmap(memory, kBytes + 8192);
  }
}

// Overwrites the place where the frame's caller is kept, and restores it.
[[gnu::noinline]] __attribute__((no_sanitize_address)) size_t CaptureSmashed(
    uint64_t bp, uint64_t pc) {
  uint64_t pcs[64];
  auto* const link =
      static_cast<volatile uint64_t*>(__builtin_frame_address(0));
  const uint64_t kept_bp = link[0], kept_pc = link[1];
  if (bp != 1) link[0] = bp;
  if (pc != 1) link[1] = pc;
  const size_t count = CaptureStack(pcs, 64, 0);
  link[0] = kept_bp;
  link[1] = kept_pc;
  return count;
}

TEST(CaptureStackTest, SurvivesBrokenStacks) {
  std::mt19937_64 random(3);
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  const uint64_t nonsense[] = {0,
                               8,
                               0xfff,
                               4096,
                               ~uint64_t{0},
                               ~uint64_t{7},
                               uint64_t{1} << 47,
                               here,
                               here + 1,
                               here + 8,
                               here - 64,
                               here + 100000,
                               here + (uint64_t{1} << 32),
                               reinterpret_cast<uint64_t>(&CaptureSmashed) + 20,
                               reinterpret_cast<uint64_t>(&std::memcpy),
                               uint64_t{0xdead} << 48};
  for (const uint64_t value : nonsense) {
    EXPECT_GE(CaptureSmashed(value, 1), 1u);
    EXPECT_GE(CaptureSmashed(1, value), 1u);
    EXPECT_GE(CaptureSmashed(value, value), 1u);
  }
  for (int round = 0; round < 10000; ++round) {
    // Near the stack, near the code, anywhere.
    const uint64_t near_stack = here + random() % 65536 - 32768;
    const uint64_t near_code =
        reinterpret_cast<uint64_t>(&CaptureSmashed) + random() % 65536 - 32768;
    EXPECT_GE(CaptureSmashed(near_stack, near_code), 1u);
    EXPECT_GE(CaptureSmashed(random(), near_code), 1u);
    EXPECT_GE(CaptureSmashed(near_stack, random() >> 16), 1u);
  }
}

}  // namespace
}  // namespace kymo::unwind
