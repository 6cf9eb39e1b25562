// Function names are those of Linux 6.x on x86-64 (/proc/kallsyms).
#include "backends/off_cpu/look/kernel_calls.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/off_cpu/look/blocked_call.h"

namespace kymo::off_cpu {
namespace {

class KernelCallsTest : public ::testing::Test {
 protected:
  KernelCalls calls_{std::make_shared<const symbolize::KernelSymbols>(
      "ffffffff81000000 t __schedule\n"
      "ffffffff81000100 T schedule\n"
      "ffffffff81000200 T __x64_sys_read\n"
      "ffffffff81000300 t asm_exc_page_fault\n"
      "ffffffff81000400 t do_signal_stop\n"
      "ffffffff81000500 T __x64_sys_getpid\n"
      "ffffffff81000600 T do_syscall_64\n"
      "ffffffff81000700 t anon_pipe_read\n")};
};

TEST_F(KernelCallsTest, TheInnermostFunctionThatTellsCounts) {
  const KernelCall read = calls_.Find(
      std::vector<uint64_t>{0xffffffff81000010, 0xffffffff81000110,
                            0xffffffff81000210, 0xffffffff81000610});
  EXPECT_EQ(read.number, 0);
  EXPECT_FALSE(read.is_stopped);
  // It reads into memory that is not there.
  EXPECT_EQ(calls_
                .Find(std::vector<uint64_t>{
                    0xffffffff81000010, 0xffffffff81000310, 0xffffffff81000210})
                .number,
            -1);
  EXPECT_TRUE(
      calls_
          .Find(std::vector<uint64_t>{0xffffffff81000010, 0xffffffff81000410,
                                      0xffffffff81000210})
          .is_stopped);
  EXPECT_EQ(calls_.Find(std::vector<uint64_t>{0xffffffff81000510}).number,
            kOtherCall);
}

TEST_F(KernelCallsTest, APipeIsKnownBesideTheCall) {
  const KernelCall read = calls_.Find(
      std::vector<uint64_t>{0xffffffff81000010, 0xffffffff81000710,
                            0xffffffff81000210, 0xffffffff81000610});
  EXPECT_EQ(read.number, 0);
  EXPECT_TRUE(read.is_pipe);
  EXPECT_FALSE(calls_.Find(std::vector<uint64_t>{0xffffffff81000210}).is_pipe);
  EXPECT_TRUE(CallOfFunction("pipe_write")->is_pipe);
}

TEST_F(KernelCallsTest, AReturnAddressAfterTheLastCallIsOfItsFunction) {
  EXPECT_EQ(calls_.Find(std::vector<uint64_t>{0xffffffff81000300}).number, 0);
}

TEST_F(KernelCallsTest, ACallThatIsNotOnTheStackIsKnownByItsBody) {
  EXPECT_EQ(CallOfFunction("ksys_write")->number, 1);
  EXPECT_EQ(CallOfFunction("kernel_wait4")->number, 61);
  EXPECT_EQ(CallOfFunction("do_msgsnd").value_or(KernelCall()).number, 69);
  EXPECT_EQ(CallOfFunction("do_msgrcv").value_or(KernelCall()).number, 70);
  EXPECT_FALSE(CallOfFunction("kernel_read").has_value());
}

// A large one is a function of its own, which __x64_sys_... ends with.
TEST_F(KernelCallsTest, ABodyMayHaveTheNameOfItsCall) {
  const auto number_of = [](std::string_view function) {
    return CallOfFunction(function).value_or(KernelCall()).number;
  };
  EXPECT_EQ(number_of("__do_sys_flock"), 73);
  EXPECT_EQ(number_of("__do_sys_io_uring_enter"), 426);
  EXPECT_EQ(number_of("__se_sys_flock"), 73);
  EXPECT_EQ(number_of("__do_sys_flock.isra.0"), 73);
  EXPECT_EQ(number_of("__x64_sys_flock"), 73);
}

TEST_F(KernelCallsTest, WhatGoesOnAfterAStopIsKnown) {
  EXPECT_EQ(CallOfFunction("hrtimer_nanosleep_restart")->number, 230);
  EXPECT_EQ(CallOfFunction("do_restart_poll")->number, 7);
  EXPECT_EQ(CallOfFunction("futex_wait_restart")->number, 202);
  EXPECT_EQ(RestartedCall("do_syscall_64"), 230);
  EXPECT_EQ(RestartedCall("poll_schedule_timeout.constprop.0"), 7);
  EXPECT_EQ(RestartedCall("futex_do_wait"), 202);
}

// Documentation/mm/process_addrs.rst of the kernel: mmap_lock is an rwsem.
TEST_F(KernelCallsTest, ALockOfTheKernelCountsBeforeTheCall) {
  EXPECT_TRUE(CallOfFunction("rwsem_down_read_slowpath")->is_kernel_lock);
  EXPECT_TRUE(CallOfFunction("rwsem_down_write_slowpath")->is_kernel_lock);
  EXPECT_FALSE(CallOfFunction("asm_exc_page_fault")->is_kernel_lock);
}

// The kernel's own functions come from a copy; what lies behind them does not.
TEST(KernelCallsOfThisMachineTest, KnowsFunctionsBeforeAndAfterOneOfAModule) {
  uint64_t address = 0;
  std::ifstream list("/proc/kallsyms");
  for (std::string line; address == 0 && std::getline(list, line);) {
    if (line.ends_with(" T __x64_sys_read")) address = std::stoull(line, 0, 16);
  }
  if (address == 0) GTEST_SKIP() << "the kernel hides its addresses";
  KernelCalls calls;
  EXPECT_EQ(calls.Find(std::vector<uint64_t>{address + 5}).number, 0);
  EXPECT_EQ(calls.Find(std::vector<uint64_t>{~uint64_t{0}, address + 6}).number,
            0);
}

TEST_F(KernelCallsTest, OtherFunctionsTellNothing) {
  EXPECT_FALSE(calls_
                   .Find(std::vector<uint64_t>{0xffffffff81000010,
                                               0xffffffff81000610, 0x10})
                   .number.has_value());
  EXPECT_FALSE(calls_.Find({}).number.has_value());
}

}  // namespace
}  // namespace kymo::off_cpu
