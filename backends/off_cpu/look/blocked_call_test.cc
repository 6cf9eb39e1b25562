// The texts are as proc(5) shows them; the numbers are those of x86-64 in the
// kernel's arch/x86/entry/syscalls/syscall_64.tbl.
#include "backends/off_cpu/look/blocked_call.h"

#include <gtest/gtest.h>

namespace kymo::off_cpu {
namespace {

using model::WaitKind;

TEST(ParseCallTest, ReadsWhatTheKernelWrites) {
  const auto call = ParseCall(
      "230 0x0 0x1 0x7ffe8d3e70a0 0x7ffe8d3e70e0 0x4 0x5 0x7ffe8d3e7088 "
      "0x7fb2b84e8503\n");
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(
      *call,
      (BlockedCall{.number = 230,
                   .arguments = {0, 1, 0x7ffe8d3e70a0, 0x7ffe8d3e70e0, 4, 5},
                   .stack_pointer = 0x7ffe8d3e7088,
                   .instruction = 0x7fb2b84e8503}));
}

TEST(ParseCallTest, AThreadMayBeInNoCall) {
  const auto call = ParseCall("-1 0x7ffe8d3e7088 0x401136\n");
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->number, -1);
  EXPECT_EQ(call->stack_pointer, 0x7ffe8d3e7088u);
  EXPECT_EQ(call->instruction, 0x401136u);
}

TEST(ParseCallTest, RefusesAnythingElse) {
  for (const char* const text :
       {"running\n", "", "230\n", "230 0x0 0x0 0x0 0x0 0x0 0x0 0x7ffe\n",
        "-1 7ffe 0x40\n", "-1 0x 0x40\n", "x 0x1 0x2\n", "-1 0x1g 0x2\n",
        "-1 0x11111111111111111 0x2\n"}) {
    EXPECT_FALSE(ParseCall(text).has_value()) << text;
  }
}

CallWait Of(int64_t number, uint64_t first = 0, uint64_t second = 0) {
  return WaitOf({.number = number, .arguments = {first, second}});
}

TEST(WaitOfTest, FutexesAreLocksOrConditions) {
  // FUTEX_WAIT_PRIVATE: 128; the C library's conditions use 0x189.
  EXPECT_EQ(Of(202, 0x1000, 128).kind, WaitKind::kLock);
  EXPECT_EQ(Of(202, 0x1000, 128).object_is, ObjectIs::kFutex);
  EXPECT_EQ(Of(202, 0x1000, 128).object, 0x1000u);
  EXPECT_EQ(Of(202, 0x1000, 0x189).kind, WaitKind::kCondition);
  EXPECT_EQ(Of(202, 0x1000, 6).kind, WaitKind::kLock);   // FUTEX_LOCK_PI
  EXPECT_EQ(Of(202, 0x1000, 13).kind, WaitKind::kLock);  // FUTEX_LOCK_PI2
  EXPECT_EQ(Of(202, 0x1000, 11).kind, WaitKind::kCondition);
  EXPECT_EQ(Of(202, 0x1000, 1).kind, WaitKind::kOther);  // FUTEX_WAKE
}

TEST(WaitOfTest, DescriptorsAndChildrenAreObjects) {
  EXPECT_EQ(Of(0, 5).kind, WaitKind::kRead);
  EXPECT_EQ(Of(0, 5).object_is, ObjectIs::kDescriptor);
  EXPECT_EQ(Of(0, 5).object, 5u);
  EXPECT_EQ(Of(74, 6).kind, WaitKind::kWrite);     // fsync
  EXPECT_EQ(Of(288, 3).kind, WaitKind::kNetwork);  // accept4
  EXPECT_EQ(Of(281, 4).kind, WaitKind::kPoll);     // epoll_pwait
  EXPECT_EQ(Of(61, 4711).object, 4711u);           // wait4
  EXPECT_EQ(Of(61, 4711).object_is, ObjectIs::kChild);
  EXPECT_EQ(Of(61, ~uint64_t{0}).object_is, ObjectIs::kNothing);
  EXPECT_EQ(Of(61, ~uint64_t{0}).kind, WaitKind::kChild);
  EXPECT_EQ(Of(247, 1, 4711).object, 4711u);  // waitid, P_PID
  EXPECT_EQ(Of(247, 0, 4711).object_is, ObjectIs::kNothing);
  EXPECT_EQ(Of(72, 9, 7).kind, WaitKind::kLock);  // fcntl, F_SETLKW
  EXPECT_EQ(Of(72, 9, 3).kind, WaitKind::kOther);
}

TEST(WaitOfTest, APollOfNothingIsASleep) {
  EXPECT_EQ(Of(7, 0x1000, 2).kind, WaitKind::kPoll);
  EXPECT_EQ(Of(7, 0x1000, 2).object_is, ObjectIs::kPolled);
  EXPECT_EQ(Of(7, 0, 0).object_is, ObjectIs::kNothing);
  EXPECT_EQ(Of(7, 0, 0).kind, WaitKind::kSleep);
  EXPECT_EQ(Of(23, 5).kind, WaitKind::kPoll);  // select
  EXPECT_EQ(Of(23, 0).kind, WaitKind::kSleep);
}

// msgrcv(2), mq_overview(7), splice(2), signal(7)
TEST(WaitOfTest, MessagesAndSignalsAreWaitedFor) {
  EXPECT_EQ(Of(70, 5).kind, WaitKind::kNetwork);   // msgrcv
  EXPECT_EQ(Of(243, 5).kind, WaitKind::kNetwork);  // mq_timedreceive
  EXPECT_EQ(Of(243, 5).object, 5u);
  EXPECT_EQ(Of(275, 5).object_is, ObjectIs::kDescriptor);  // splice
  EXPECT_EQ(Of(275, 5).kind, WaitKind::kRead);
  EXPECT_EQ(Of(34).kind, WaitKind::kPoll);           // pause
  EXPECT_EQ(Of(128, 0x1000).kind, WaitKind::kPoll);  // rt_sigtimedwait
}

TEST(WaitOfTest, CallsHaveNames) {
  EXPECT_EQ(NumberOfCall("futex"), 202);
  EXPECT_EQ(NumberOfCall("clock_nanosleep"), 230);
  EXPECT_EQ(WaitOf({.number = NumberOfCall("getpid")}).kind, WaitKind::kOther);
}

TEST(WaitOfTest, WithoutACallItIsAPageFault) {
  EXPECT_EQ(Of(-1).kind, WaitKind::kPageFault);
  EXPECT_EQ(Of(100'000).kind, WaitKind::kOther);
}

TEST(KindOfDescriptorTest, SocketsAreNetworkAndPipesArePipes) {
  EXPECT_EQ(KindOfDescriptor(WaitKind::kRead, "socket:[1]"),
            WaitKind::kNetwork);
  EXPECT_EQ(KindOfDescriptor(WaitKind::kWrite, "pipe:[1]"), WaitKind::kPipe);
  EXPECT_EQ(KindOfDescriptor(WaitKind::kRead, "pipe:[1]"), WaitKind::kPipe);
  EXPECT_EQ(KindOfDescriptor(WaitKind::kRead, "/tmp/pipe:[1]"),
            WaitKind::kRead);
  EXPECT_EQ(KindOfDescriptor(WaitKind::kRead, ""), WaitKind::kRead);
  EXPECT_EQ(KindOfDescriptor(WaitKind::kPoll, "anon_inode:[eventpoll]"),
            WaitKind::kPoll);
  EXPECT_EQ(KindOfDescriptor(WaitKind::kLock, "socket:[1]"), WaitKind::kLock);
}

TEST(KindOfDescriptorTest, TimersAreSleepsAndEventsArePolls) {
  EXPECT_EQ(KindOfDescriptor(WaitKind::kRead, "anon_inode:[timerfd]"),
            WaitKind::kSleep);
  EXPECT_EQ(KindOfDescriptor(WaitKind::kPoll, "anon_inode:[timerfd]"),
            WaitKind::kSleep);
  for (const char* const link : {"anon_inode:[eventfd]", "anon_inode:inotify",
                                 "anon_inode:[signalfd]"}) {
    EXPECT_EQ(KindOfDescriptor(WaitKind::kRead, link), WaitKind::kPoll);
  }
  // It may have been a timer.
  EXPECT_EQ(KindOfDescriptor(WaitKind::kRead, "anon_inode:"), WaitKind::kOther);
}

TEST(KindOfDescriptorTest, NamedPipesAndTerminalsAreNoFiles) {
  // inode(7): the octal numbers of the types
  EXPECT_EQ(KindOfDescriptor(WaitKind::kRead, "/tmp/fifo", 0010000),
            WaitKind::kPipe);
  EXPECT_EQ(KindOfDescriptor(WaitKind::kRead, "/dev/pts/0", 0020000),
            WaitKind::kOther);
  EXPECT_EQ(KindOfDescriptor(WaitKind::kWrite, "/dev/sda", 0060000),
            WaitKind::kWrite);
  EXPECT_EQ(KindOfDescriptor(WaitKind::kRead, "/tmp/file", 0100000),
            WaitKind::kRead);
}

}  // namespace
}  // namespace kymo::off_cpu
