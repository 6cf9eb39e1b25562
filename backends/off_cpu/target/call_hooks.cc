// call_hooks.cc - the functions that wait for times, files, peers and children.
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "backends/off_cpu/target/hook.h"
#include "backends/sampling/target/target_timer.h"
#include "profiler/record/host/restricted_calls.h"

namespace {

// As in the C library's own headers, which are not included: their
// declarations have `...`.
constexpr int kCreate = 0100;             // O_CREAT
constexpr int kTemporary = 020000000;     // __O_TMPFILE
constexpr int kSetLockWait = 7;           // F_SETLKW
constexpr int kSetFileLockWait = 38;      // F_OFD_SETLKW
constexpr int kSetSeccomp = 22;           // PR_SET_SECCOMP
constexpr long kRegisteredRing = 1 << 4;  // IORING_ENTER_REGISTERED_RING

using kymo::off_cpu::WaitObject;

KYMO_INLINE WaitObject Child(int64_t pid) {
  return {pid > 0 ? static_cast<uint64_t>(pid) : 0};
}

// SECCOMP_SET_MODE_STRICT and SECCOMP_SET_MODE_FILTER; others ask.
KYMO_INLINE bool SetsSeccompMode(long operation) {
  return operation == 0 || operation == 1;
}

// What poll(2) has waited for. If it could not read `files`, neither can we.
KYMO_INLINE WaitObject Polled(const pollfd* files, nfds_t count,
                              int result) noexcept {
  if (count == 0 || (result == -1 && errno == EFAULT)) return {};
  if (count > 1) return {count, kymo::off_cpu::CallObject::kDescriptorCount};
  return files->fd < 0 ? WaitObject() : kymo::off_cpu::Descriptor(files->fd);
}

// A mode, if the function has that argument. Without it, the real function does
// not look at it either.
KYMO_INLINE mode_t ModeOf(int flags, va_list* rest) {
  const bool has_mode =
      (flags & kCreate) != 0 || (flags & kTemporary) == kTemporary;
  return has_mode ? va_arg(*rest, mode_t) : 0;
}

}  // namespace

KYMO_WAIT_HOOK(int, nanosleep, (const timespec* time, timespec* rest),
               (time, rest), kSleep, kNoObject)
KYMO_WAIT_HOOK(int, clock_nanosleep,
               (clockid_t clock, int flags, const timespec* time,
                timespec* rest),
               (clock, flags, time, rest), kSleep, kNoObject)
KYMO_WAIT_HOOK(int, usleep, (useconds_t time), (time), kSleep, kNoObject)
KYMO_WAIT_HOOK(unsigned, sleep, (unsigned seconds), (seconds), kSleep,
               kNoObject)

KYMO_WAIT_HOOK(ssize_t, read, (int fd, void* bytes, size_t size),
               (fd, bytes, size), kRead, Descriptor(fd))
KYMO_WAIT_HOOK(ssize_t, pread, (int fd, void* bytes, size_t size, off_t at),
               (fd, bytes, size, at), kRead, Descriptor(fd))
KYMO_WAIT_HOOK(ssize_t, pread64, (int fd, void* bytes, size_t size, off64_t at),
               (fd, bytes, size, at), kRead, Descriptor(fd))
KYMO_WAIT_HOOK(ssize_t, readv, (int fd, const iovec* parts, int count),
               (fd, parts, count), kRead, Descriptor(fd))
KYMO_WAIT_HOOK(ssize_t, preadv,
               (int fd, const iovec* parts, int count, off_t at),
               (fd, parts, count, at), kRead, Descriptor(fd))
KYMO_WAIT_HOOK(ssize_t, preadv64,
               (int fd, const iovec* parts, int count, off64_t at),
               (fd, parts, count, at), kRead, Descriptor(fd))
KYMO_WAIT_HOOK(ssize_t, __read_chk,
               (int fd, void* bytes, size_t size, size_t room),
               (fd, bytes, size, room), kRead, Descriptor(fd))
KYMO_WAIT_HOOK(ssize_t, __pread_chk,
               (int fd, void* bytes, size_t size, off_t at, size_t room),
               (fd, bytes, size, at, room), kRead, Descriptor(fd))
KYMO_WAIT_HOOK(ssize_t, __pread64_chk,
               (int fd, void* bytes, size_t size, off64_t at, size_t room),
               (fd, bytes, size, at, room), kRead, Descriptor(fd))

KYMO_BUSY_HOOK(ssize_t, write, (int fd, const void* bytes, size_t size),
               (fd, bytes, size), kWrite, Descriptor(fd))
KYMO_BUSY_HOOK(ssize_t, pwrite,
               (int fd, const void* bytes, size_t size, off_t at),
               (fd, bytes, size, at), kWrite, Descriptor(fd))
KYMO_BUSY_HOOK(ssize_t, pwrite64,
               (int fd, const void* bytes, size_t size, off64_t at),
               (fd, bytes, size, at), kWrite, Descriptor(fd))
KYMO_BUSY_HOOK(ssize_t, writev, (int fd, const iovec* parts, int count),
               (fd, parts, count), kWrite, Descriptor(fd))
KYMO_BUSY_HOOK(ssize_t, pwritev,
               (int fd, const iovec* parts, int count, off_t at),
               (fd, parts, count, at), kWrite, Descriptor(fd))
KYMO_BUSY_HOOK(ssize_t, pwritev64,
               (int fd, const iovec* parts, int count, off64_t at),
               (fd, parts, count, at), kWrite, Descriptor(fd))
KYMO_BUSY_HOOK(ssize_t, sendfile, (int to, int from, off_t* at, size_t size),
               (to, from, at, size), kWrite, Descriptor(to), noexcept)
KYMO_BUSY_HOOK(ssize_t, sendfile64,
               (int to, int from, off64_t* at, size_t size),
               (to, from, at, size), kWrite, Descriptor(to), noexcept)
KYMO_BUSY_HOOK(int, fsync, (int fd), (fd), kWrite, Descriptor(fd))
KYMO_BUSY_HOOK(int, fdatasync, (int fd), (fd), kWrite, Descriptor(fd))
KYMO_BUSY_HOOK(int, syncfs, (int fd), (fd), kWrite, Descriptor(fd), noexcept)

KYMO_WAIT_HOOK(ssize_t, recv, (int fd, void* bytes, size_t size, int flags),
               (fd, bytes, size, flags), kNetwork, Descriptor(fd))
KYMO_WAIT_HOOK(ssize_t, recvfrom,
               (int fd, void* bytes, size_t size, int flags, sockaddr* from,
                socklen_t* from_size),
               (fd, bytes, size, flags, from, from_size), kNetwork,
               Descriptor(fd))
KYMO_WAIT_HOOK(ssize_t, recvmsg, (int fd, msghdr* message, int flags),
               (fd, message, flags), kNetwork, Descriptor(fd))
KYMO_WAIT_HOOK(ssize_t, __recv_chk,
               (int fd, void* bytes, size_t size, size_t room, int flags),
               (fd, bytes, size, room, flags), kNetwork, Descriptor(fd))
KYMO_WAIT_HOOK(ssize_t, __recvfrom_chk,
               (int fd, void* bytes, size_t size, size_t room, int flags,
                sockaddr* from, socklen_t* from_size),
               (fd, bytes, size, room, flags, from, from_size), kNetwork,
               Descriptor(fd))
KYMO_BUSY_HOOK(ssize_t, send,
               (int fd, const void* bytes, size_t size, int flags),
               (fd, bytes, size, flags), kNetwork, Descriptor(fd))
KYMO_BUSY_HOOK(ssize_t, sendto,
               (int fd, const void* bytes, size_t size, int flags,
                const sockaddr* to, socklen_t to_size),
               (fd, bytes, size, flags, to, to_size), kNetwork, Descriptor(fd))
KYMO_BUSY_HOOK(ssize_t, sendmsg, (int fd, const msghdr* message, int flags),
               (fd, message, flags), kNetwork, Descriptor(fd))
KYMO_WAIT_HOOK(int, recvmmsg,
               (int fd, mmsghdr* messages, unsigned count, int flags,
                timespec* time),
               (fd, messages, count, flags, time), kNetwork, Descriptor(fd))
KYMO_BUSY_HOOK(int, sendmmsg,
               (int fd, mmsghdr* messages, unsigned count, int flags),
               (fd, messages, count, flags), kNetwork, Descriptor(fd))
KYMO_WAIT_HOOK(ssize_t, msgrcv,
               (int queue, void* message, size_t size, long type, int flags),
               (queue, message, size, type, flags), kNetwork, kNoObject)
KYMO_WAIT_HOOK(int, msgsnd,
               (int queue, const void* message, size_t size, int flags),
               (queue, message, size, flags), kNetwork, kNoObject)
KYMO_WAIT_HOOK(int, accept, (int fd, sockaddr* from, socklen_t* from_size),
               (fd, from, from_size), kNetwork, Descriptor(fd))
KYMO_WAIT_HOOK(int, accept4,
               (int fd, sockaddr* from, socklen_t* from_size, int flags),
               (fd, from, from_size, flags), kNetwork, Descriptor(fd))
KYMO_BUSY_HOOK(int, connect, (int fd, const sockaddr* to, socklen_t to_size),
               (fd, to, to_size), kNetwork, Descriptor(fd))

// Without descriptors, these are sleeps. select(2) overwrites its descriptors.
#define KYMO_POLL_HOOK(name, count, object, parameters, arguments)             \
  KYMO_EXPORT int name parameters {                                            \
    using namespace ::kymo::off_cpu; /* NOLINT */                              \
    if (!IsWatching()) return REAL(name) arguments;                            \
    const uint64_t begin = CallTicks();                                        \
    const int result = REAL(name) arguments;                                   \
    NoteIfLong(begin, count == 0 ? CallKind::kSleep : CallKind::kPoll, object, \
               reinterpret_cast<const void*>(real.name), watch.least_ticks, 0, \
               result);                                                        \
    return result;                                                             \
  }

KYMO_POLL_HOOK(poll, count, Polled(files, count, result),
               (pollfd * files, nfds_t count, int ms), (files, count, ms))
KYMO_POLL_HOOK(ppoll, count, Polled(files, count, result),
               (pollfd * files, nfds_t count, const timespec* time,
                const sigset_t* signals),
               (files, count, time, signals))
KYMO_POLL_HOOK(__poll_chk, count, Polled(files, count, result),
               (pollfd * files, nfds_t count, int ms, size_t room),
               (files, count, ms, room))
KYMO_POLL_HOOK(__ppoll_chk, count, Polled(files, count, result),
               (pollfd * files, nfds_t count, const timespec* time,
                const sigset_t* signals, size_t room),
               (files, count, time, signals, room))
KYMO_POLL_HOOK(select, count, kNoObject,
               (int count, fd_set* in, fd_set* out, fd_set* except,
                timeval* time),
               (count, in, out, except, time))
KYMO_POLL_HOOK(pselect, count, kNoObject,
               (int count, fd_set* in, fd_set* out, fd_set* except,
                const timespec* time, const sigset_t* signals),
               (count, in, out, except, time, signals))
KYMO_WAIT_HOOK(int, epoll_wait,
               (int fd, epoll_event* events, int count, int ms),
               (fd, events, count, ms), kPoll, Descriptor(fd))
KYMO_WAIT_HOOK(int, epoll_pwait,
               (int fd, epoll_event* events, int count, int ms,
                const sigset_t* signals),
               (fd, events, count, ms, signals), kPoll, Descriptor(fd))
KYMO_WAIT_HOOK(int, sigwait, (const sigset_t* signals, int* signal),
               (signals, signal), kPoll, kNoObject)
KYMO_WAIT_HOOK(int, sigwaitinfo, (const sigset_t* signals, siginfo_t* info),
               (signals, info), kPoll, kNoObject)
KYMO_WAIT_HOOK(int, sigtimedwait,
               (const sigset_t* signals, siginfo_t* info, const timespec* time),
               (signals, info, time), kPoll, kNoObject)
KYMO_WAIT_HOOK(int, sigsuspend, (const sigset_t* signals), (signals), kPoll,
               kNoObject)
KYMO_WAIT_HOOK(int, pause, (), (), kPoll, kNoObject)

KYMO_WAIT_HOOK(pid_t, wait, (int* status), (status), kChild, kNoObject)
KYMO_WAIT_HOOK(pid_t, waitpid, (pid_t pid, int* status, int options),
               (pid, status, options), kChild, Child(pid))
KYMO_WAIT_HOOK(pid_t, wait3, (int* status, int options, rusage* usage),
               (status, options, usage), kChild, kNoObject, noexcept)
KYMO_WAIT_HOOK(pid_t, wait4,
               (pid_t pid, int* status, int options, rusage* usage),
               (pid, status, options, usage), kChild, Child(pid), noexcept)
KYMO_WAIT_HOOK(int, waitid,
               (idtype_t type, id_t id, siginfo_t* info, int options),
               (type, id, info, options), kChild,
               Child(type == P_PID ? static_cast<int64_t>(id) : 0))

// What compilers call instead of `open` if _FORTIFY_SOURCE is set.
KYMO_BUSY_HOOK(int, __open_2, (const char* path, int flags), (path, flags),
               kRead, kNoObject)
KYMO_BUSY_HOOK(int, __open64_2, (const char* path, int flags), (path, flags),
               kRead, kNoObject)
KYMO_BUSY_HOOK(int, __openat_2, (int folder, const char* path, int flags),
               (folder, path, flags), kRead, kNoObject)
KYMO_BUSY_HOOK(int, __openat64_2, (int folder, const char* path, int flags),
               (folder, path, flags), kRead, kNoObject)

// --- functions whose declarations have `...` ---

#define KYMO_OPEN_HOOK(name)                                     \
  KYMO_EXPORT int name(const char* path, int flags, ...) {       \
    using namespace ::kymo::off_cpu; /* NOLINT */                \
    va_list rest;                                                \
    va_start(rest, flags);                                       \
    const mode_t mode = ModeOf(flags, &rest);                    \
    va_end(rest);                                                \
    if (!IsWatching()) return REAL(name)(path, flags, mode);     \
    KYMO_TIMED_CALL(name, (path, flags, mode), kRead, kNoObject, \
                    least_busy_ticks, 0)                         \
  }
#define KYMO_OPENAT_HOOK(name)                                           \
  KYMO_EXPORT int name(int folder, const char* path, int flags, ...) {   \
    using namespace ::kymo::off_cpu; /* NOLINT */                        \
    va_list rest;                                                        \
    va_start(rest, flags);                                               \
    const mode_t mode = ModeOf(flags, &rest);                            \
    va_end(rest);                                                        \
    if (!IsWatching()) return REAL(name)(folder, path, flags, mode);     \
    KYMO_TIMED_CALL(name, (folder, path, flags, mode), kRead, kNoObject, \
                    least_busy_ticks, 0)                                 \
  }

KYMO_OPEN_HOOK(open)
KYMO_OPEN_HOOK(open64)
KYMO_OPENAT_HOOK(openat)
KYMO_OPENAT_HOOK(openat64)

// A number or a pointer: both are passed alike.
#define KYMO_FCNTL_HOOK(name)                                                  \
  KYMO_EXPORT int name(int fd, int command, ...) {                             \
    using namespace ::kymo::off_cpu; /* NOLINT */                              \
    va_list rest;                                                              \
    va_start(rest, command);                                                   \
    void* const argument = va_arg(rest, void*);                                \
    va_end(rest);                                                              \
    const bool waits = command == kSetLockWait || command == kSetFileLockWait; \
    if (!waits || !IsWatching()) return REAL(name)(fd, command, argument);     \
    KYMO_TIMED_CALL(name, (fd, command, argument), kLock, Descriptor(fd),      \
                    least_ticks, 0)                                            \
  }

KYMO_FCNTL_HOOK(fcntl)
KYMO_FCNTL_HOOK(fcntl64)

namespace {

// The timers would make system calls in any code of the program. Its ranges and
// allocations are recorded on, with as few calls as may be.
void StopForRestriction() noexcept {
  kymo::off_cpu::StopWatching();
  kymo::TargetTimerStop(kymo::sampling::TimerStop::kRestricted);
  kymo::record::calls_are_restricted.store(true, std::memory_order_relaxed);
}

}  // namespace

// A program may set the filter of its system calls by each of these.
KYMO_EXPORT int prctl(int option, unsigned long a, unsigned long b,
                      unsigned long c, unsigned long d) noexcept {
  using namespace kymo::off_cpu;  // NOLINT
  if (option == kSetSeccomp) StopForRestriction();
  return REAL(prctl)(option, a, b, c, d);
}

// `syscall`, whose declaration has `...`. This ends with a jump to the real
// one, so a call that returns twice finds its caller's stack as it was.
KYMO_EXPORT long Syscall(long number, long a, long b, long c, long d, long e,
                         long f) noexcept __asm__("syscall");

namespace {

constexpr long kFutexCommand = FUTEX_CMD_MASK;

KYMO_INLINE bool WaitsOrWakes(long operation) {
  const long command = operation & kFutexCommand;
  return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET ||
         command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET;
}

// Of a program that makes its own locks.
__attribute__((noinline)) long Futex(long word, long operation, long value,
                                     long time, long other,
                                     long bits) noexcept {
  using namespace kymo::off_cpu;  // NOLINT
  const long command = operation & kFutexCommand;
  const bool is_wait = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
  const auto function = reinterpret_cast<const void*>(REAL(syscall));
  const uint64_t begin = CallTicks();
  const long result =
      real.syscall(SYS_futex, word, operation, value, time, other, bits);
  const uint64_t end = CallTicks();
  const bool matters =
      is_wait ? end - begin >= watch.least_ticks : result > 0 && MayNoteWake();
  if (!matters) return result;
  // A wait for bits is one for a condition, as the C library has them.
  const CallKind kind = !is_wait                ? CallKind::kWake
                        : command == FUTEX_WAIT ? CallKind::kLock
                                                : CallKind::kCondition;
  NoteCall(begin, is_wait ? end : begin,
           {.kind = kind,
            .object = static_cast<uint64_t>(word),
            .function = function,
            .has_timed_out = IsTimeout(result)});
  return result;
}

// What a program waits for through its io_uring is one of many, as with poll.
// Handing in work takes time as well.
__attribute__((noinline)) long EnterRing(long fd, long work, long least,
                                         long flags, long argument,
                                         long size) noexcept {
  using namespace kymo::off_cpu;  // NOLINT
  const auto function = reinterpret_cast<const void*>(REAL(syscall));
  const uint64_t begin = CallTicks();
  const long result =
      real.syscall(SYS_io_uring_enter, fd, work, least, flags, argument, size);
  const bool is_number = (flags & kRegisteredRing) == 0;
  NoteIfLong(begin, CallKind::kPoll,
             is_number ? Descriptor(static_cast<int>(fd)) : kNoObject, function,
             work == 0 ? watch.least_ticks : watch.least_busy_ticks, 0, result);
  return result;
}

}  // namespace

long Syscall(long number, long a, long b, long c, long d, long e,
             long f) noexcept {
  using namespace kymo::off_cpu;  // NOLINT
  const bool sets_mode = number == SYS_seccomp && SetsSeccompMode(a);
  if (sets_mode || (number == SYS_prctl && a == kSetSeccomp)) {
    StopForRestriction();
  }
  if (number == SYS_futex && IsWatching() && WaitsOrWakes(b)) {
    return Futex(a, b, c, d, e, f);
  }
  if (number == SYS_io_uring_enter && IsWatching()) {
    return EnterRing(a, b, c, d, e, f);
  }
  return REAL(syscall)(number, a, b, c, d, e, f);
}
