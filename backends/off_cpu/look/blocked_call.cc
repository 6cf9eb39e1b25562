#include "backends/off_cpu/look/blocked_call.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <system_error>

namespace kymo::off_cpu {
namespace {

using model::WaitKind;

// Not in the oldest kernel headers that we build with.
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif
constexpr uint64_t kLockPi2 = 13;  // of futex: FUTEX_LOCK_PI2

struct Call {
  int64_t number;
  std::string_view name;
  WaitKind kind;
  // The first argument, if it is anything.
  ObjectIs object_is = ObjectIs::kNothing;
};
#define CALL(name) SYS_##name, #name
#define ON_DESCRIPTOR ObjectIs::kDescriptor

constexpr Call kCalls[] = {
    {CALL(futex), WaitKind::kOther, ObjectIs::kFutex},
    {CALL(futex_wait), WaitKind::kLock, ObjectIs::kFutex},
    {CALL(futex_waitv), WaitKind::kLock},
    {CALL(semop), WaitKind::kLock},
    {CALL(semtimedop), WaitKind::kLock},
    {CALL(flock), WaitKind::kLock, ON_DESCRIPTOR},
    {CALL(fcntl), WaitKind::kOther, ON_DESCRIPTOR},
    {CALL(nanosleep), WaitKind::kSleep},
    {CALL(clock_nanosleep), WaitKind::kSleep},
    {CALL(read), WaitKind::kRead, ON_DESCRIPTOR},
    {CALL(readv), WaitKind::kRead, ON_DESCRIPTOR},
    {CALL(pread64), WaitKind::kRead, ON_DESCRIPTOR},
    {CALL(preadv), WaitKind::kRead, ON_DESCRIPTOR},
    {CALL(preadv2), WaitKind::kRead, ON_DESCRIPTOR},
    {CALL(getdents64), WaitKind::kRead, ON_DESCRIPTOR},
    {CALL(copy_file_range), WaitKind::kRead, ON_DESCRIPTOR},
    {CALL(splice), WaitKind::kRead, ON_DESCRIPTOR},
    {CALL(tee), WaitKind::kRead, ON_DESCRIPTOR},
    {CALL(vmsplice), WaitKind::kWrite, ON_DESCRIPTOR},
    {CALL(openat), WaitKind::kRead},
    {CALL(newfstatat), WaitKind::kRead},
    {CALL(statx), WaitKind::kRead},
    {CALL(execve), WaitKind::kRead},
    {CALL(write), WaitKind::kWrite, ON_DESCRIPTOR},
    {CALL(writev), WaitKind::kWrite, ON_DESCRIPTOR},
    {CALL(pwrite64), WaitKind::kWrite, ON_DESCRIPTOR},
    {CALL(pwritev), WaitKind::kWrite, ON_DESCRIPTOR},
    {CALL(pwritev2), WaitKind::kWrite, ON_DESCRIPTOR},
    {CALL(sendfile), WaitKind::kWrite, ON_DESCRIPTOR},
    {CALL(fsync), WaitKind::kWrite, ON_DESCRIPTOR},
    {CALL(fdatasync), WaitKind::kWrite, ON_DESCRIPTOR},
    {CALL(sync_file_range), WaitKind::kWrite, ON_DESCRIPTOR},
    {CALL(syncfs), WaitKind::kWrite, ON_DESCRIPTOR},
    {CALL(ftruncate), WaitKind::kWrite, ON_DESCRIPTOR},
    {CALL(fallocate), WaitKind::kWrite, ON_DESCRIPTOR},
    {CALL(sync), WaitKind::kWrite},
    {CALL(msync), WaitKind::kWrite},
    {CALL(renameat2), WaitKind::kWrite},
    {CALL(unlinkat), WaitKind::kWrite},
    {CALL(mkdirat), WaitKind::kWrite},
    {CALL(recvfrom), WaitKind::kNetwork, ON_DESCRIPTOR},
    {CALL(recvmsg), WaitKind::kNetwork, ON_DESCRIPTOR},
    {CALL(recvmmsg), WaitKind::kNetwork, ON_DESCRIPTOR},
    {CALL(sendto), WaitKind::kNetwork, ON_DESCRIPTOR},
    {CALL(sendmsg), WaitKind::kNetwork, ON_DESCRIPTOR},
    {CALL(sendmmsg), WaitKind::kNetwork, ON_DESCRIPTOR},
    {CALL(accept), WaitKind::kNetwork, ON_DESCRIPTOR},
    {CALL(accept4), WaitKind::kNetwork, ON_DESCRIPTOR},
    {CALL(connect), WaitKind::kNetwork, ON_DESCRIPTOR},
    // Messages of other processes, as through a pipe.
    {CALL(mq_timedreceive), WaitKind::kNetwork, ON_DESCRIPTOR},
    {CALL(mq_timedsend), WaitKind::kNetwork, ON_DESCRIPTOR},
    {CALL(msgrcv), WaitKind::kNetwork},
    {CALL(msgsnd), WaitKind::kNetwork},
    // Any of several signals.
    {CALL(rt_sigsuspend), WaitKind::kPoll},
    {CALL(rt_sigtimedwait), WaitKind::kPoll},
    {CALL(ppoll), WaitKind::kPoll},
    {CALL(pselect6), WaitKind::kPoll},
    {CALL(epoll_pwait), WaitKind::kPoll, ON_DESCRIPTOR},
    {CALL(epoll_pwait2), WaitKind::kPoll, ON_DESCRIPTOR},
    {CALL(io_uring_enter), WaitKind::kPoll, ON_DESCRIPTOR},
    {CALL(io_getevents), WaitKind::kPoll},
    {CALL(wait4), WaitKind::kChild},
    {CALL(waitid), WaitKind::kChild},
    // vfork and posix_spawn wait for the child's exec.
    {CALL(clone), WaitKind::kChild},
    {CALL(clone3), WaitKind::kChild},
// AArch64 has the newer forms of these only.
#ifdef SYS_open
    {CALL(open), WaitKind::kRead},
    {CALL(stat), WaitKind::kRead},
    {CALL(lstat), WaitKind::kRead},
    {CALL(rename), WaitKind::kWrite},
    {CALL(unlink), WaitKind::kWrite},
    {CALL(mkdir), WaitKind::kWrite},
    {CALL(pause), WaitKind::kPoll},
    {CALL(poll), WaitKind::kPoll},
    {CALL(select), WaitKind::kPoll},
    {CALL(epoll_wait), WaitKind::kPoll, ON_DESCRIPTOR},
    {CALL(vfork), WaitKind::kChild},
#endif
};

#undef CALL
#undef ON_DESCRIPTOR

std::string_view TakeWord(std::string_view& text) {
  const size_t size = text.find_first_of(" \n");
  const std::string_view word = text.substr(0, size);
  text.remove_prefix(size == std::string_view::npos ? text.size() : size + 1);
  return word;
}

bool ReadHex(std::string_view word, uint64_t& value) {
  if (!word.starts_with("0x")) return false;
  word.remove_prefix(2);
  const char* const end = word.data() + word.size();
  const auto result = std::from_chars(word.data(), end, value, 16);
  return result.ec == std::errc() && result.ptr == end;
}

// A wait on a bare value is what locks do. The C library's conditions,
// barriers and joins wait on a bit set.
WaitKind FutexKind(uint64_t operation) {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_LOCK_PI:
    case kLockPi2:
      return WaitKind::kLock;
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI:
      return WaitKind::kCondition;
    default:
      return WaitKind::kOther;
  }
}

// Calls whose wait depends on more than their number.
void LookAtArguments(const BlockedCall& call, CallWait& wait) {
  const auto& arguments = call.arguments;
  const auto child = [&](uint64_t pid) {
    wait.object_is = ObjectIs::kChild;
    wait.object = pid;
  };
  // Without descriptors, it is a sleep.
  const auto poll = [&](uint64_t count) {
    if (count == 0) {
      wait.kind = WaitKind::kSleep;
    } else {
      wait.object_is = ObjectIs::kPolled;
    }
  };
  switch (call.number) {
    case SYS_futex:
      wait.kind = FutexKind(arguments[1]);
      return;
    case SYS_fcntl:
      if (arguments[1] == F_SETLKW || arguments[1] == F_OFD_SETLKW) {
        wait.kind = WaitKind::kLock;
      }
      return;
#ifdef SYS_poll
    case SYS_poll:
#endif
    case SYS_ppoll:
      poll(arguments[1]);
      return;
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6:
      poll(arguments[0]);
      return;
    case SYS_wait4:
      if (const auto pid = static_cast<int32_t>(arguments[0]); pid > 0) {
        child(static_cast<uint64_t>(pid));
      }
      return;
    case SYS_waitid:
      if (arguments[0] == P_PID) child(arguments[1]);
      return;
    default:
      return;
  }
}

}  // namespace

std::optional<BlockedCall> ParseCall(std::string_view text) {
  BlockedCall call;
  const std::string_view number = TakeWord(text);
  const char* const end = number.data() + number.size();
  const auto result = std::from_chars(number.data(), end, call.number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  if (call.number >= 0) {
    for (uint64_t& argument : call.arguments) {
      if (!ReadHex(TakeWord(text), argument)) return std::nullopt;
    }
  }
  if (!ReadHex(TakeWord(text), call.stack_pointer)) return std::nullopt;
  if (!ReadHex(TakeWord(text), call.instruction)) return std::nullopt;
  return call;
}

CallWait WaitOf(const BlockedCall& call) {
  if (call.number < 0) return {WaitKind::kPageFault};
  const auto* const known =
      std::ranges::find(kCalls, call.number, &Call::number);
  if (known == std::end(kCalls)) return {};
  CallWait wait = {known->kind, known->object_is};
  if (wait.object_is != ObjectIs::kNothing) wait.object = call.arguments[0];
  LookAtArguments(call, wait);
  return wait;
}

int64_t NumberOfCall(std::string_view name) {
  const auto* const known = std::ranges::find(kCalls, name, &Call::name);
  return known == std::end(kCalls) ? kOtherCall : known->number;
}

WaitKind KindOfDescriptor(WaitKind kind, std::string_view link, uint32_t mode) {
  const bool is_timer = link == "anon_inode:[timerfd]";
  if (kind == WaitKind::kPoll && is_timer) return WaitKind::kSleep;
  if (kind != WaitKind::kRead && kind != WaitKind::kWrite) return kind;
  if (link.starts_with("socket:")) return WaitKind::kNetwork;
  if (link.starts_with("pipe:")) return WaitKind::kPipe;
  if (is_timer) return WaitKind::kSleep;
  // Without a name, it was closed before anybody knew what it was.
  if (link == "anon_inode:") return WaitKind::kOther;
  if (link.starts_with("anon_inode:")) return WaitKind::kPoll;
  if (S_ISFIFO(mode)) return WaitKind::kPipe;
  if (S_ISCHR(mode)) return WaitKind::kOther;
  return kind;
}

}  // namespace kymo::off_cpu
