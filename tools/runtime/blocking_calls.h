// blocking_calls.h - the functions of the C library that may block, and the
// file in which libkymo_calls.so counts their calls.
//
//   const BlockingCallCounts* counts = ...;   // the mapped file
//   for (size_t i = 0; i < kBlockingCallCount; ++i) {
//     Print(kBlockingCallNames[i], counts->calls[i]);
//   }
//
// The library is preloaded (LD_PRELOAD) with the file's path in kCallsVariable.
// The file must have the size of BlockingCallCounts. It counts a call whether
// or not it waits: a lock that was free counts, too. It does not see
//   - calls within the C library, such as the read() of fread(),
//   - waits by syscall(SYS_futex), such as std::atomic::wait's and Abseil's,
//   - programs that are linked statically,
//   - programs that are started without the environment.
#ifndef KYMO_TOOLS_RUNTIME_BLOCKING_CALLS_H_
#define KYMO_TOOLS_RUNTIME_BLOCKING_CALLS_H_

#include <stddef.h>

#include <atomic>
#include <cstdint>

// One ROW for each function. Functions of the C library that take more than six
// arguments, or floating-point ones, do not belong here.
// clang-format off
#define KYMO_BLOCKING_CALLS(ROW) \
  ROW(pthread_mutex_lock) ROW(pthread_mutex_timedlock) \
  ROW(pthread_mutex_clocklock) ROW(pthread_rwlock_rdlock) \
  ROW(pthread_rwlock_wrlock) ROW(pthread_rwlock_timedrdlock) \
  ROW(pthread_rwlock_timedwrlock) ROW(pthread_cond_wait) \
  ROW(pthread_cond_timedwait) ROW(pthread_cond_clockwait) \
  ROW(pthread_barrier_wait) ROW(pthread_join) ROW(pthread_timedjoin_np) \
  ROW(pthread_spin_lock) ROW(sem_wait) ROW(sem_timedwait) \
  ROW(sem_clockwait) ROW(mtx_lock) ROW(cnd_wait) ROW(thrd_join) ROW(sleep) \
  ROW(usleep) ROW(nanosleep) ROW(clock_nanosleep) ROW(thrd_sleep) \
  ROW(sched_yield) ROW(pause) ROW(sigwait) ROW(sigwaitinfo) \
  ROW(sigtimedwait) ROW(wait) ROW(waitpid) ROW(waitid) ROW(wait3) \
  ROW(wait4) ROW(poll) ROW(ppoll) ROW(select) ROW(pselect) ROW(epoll_wait) \
  ROW(epoll_pwait) ROW(read) ROW(readv) ROW(pread) ROW(pread64) \
  ROW(preadv) ROW(write) ROW(writev) ROW(pwrite) ROW(pwrite64) \
  ROW(pwritev) ROW(sendfile) ROW(sendfile64) ROW(splice) \
  ROW(copy_file_range) ROW(open) ROW(open64) ROW(openat) ROW(openat64) \
  ROW(creat) ROW(creat64) ROW(fopen) ROW(fopen64) ROW(fread) ROW(fwrite) \
  ROW(fgets) ROW(getline) ROW(fflush) ROW(fclose) ROW(close) ROW(flock) \
  ROW(lockf) ROW(fsync) ROW(fdatasync) ROW(sync) ROW(syncfs) ROW(msync) \
  ROW(connect) ROW(accept) ROW(accept4) ROW(recv) ROW(recvfrom) \
  ROW(recvmsg) ROW(recvmmsg) ROW(send) ROW(sendto) ROW(sendmsg) \
  ROW(sendmmsg) ROW(getaddrinfo) ROW(mq_send) ROW(mq_receive) ROW(msgsnd) \
  ROW(msgrcv) ROW(semop) ROW(system) ROW(pclose)

// What compilers call instead with _FORTIFY_SOURCE or optimisation, and which
// of the functions above it is. At most seven arguments.
#define KYMO_BLOCKING_ALIASES(ROW) \
  ROW(__read_chk, read) ROW(__pread_chk, pread) ROW(__pread64_chk, pread64) \
  ROW(__fread_chk, fread) ROW(__fgets_chk, fgets) ROW(__getdelim, getline) \
  ROW(__open_2, open) ROW(__open64_2, open64) ROW(__openat_2, openat) \
  ROW(__openat64_2, openat64) ROW(__poll_chk, poll) ROW(__ppoll_chk, ppoll) \
  ROW(__recv_chk, recv) ROW(__recvfrom_chk, recvfrom)
// clang-format on

namespace kymo {

#define KYMO_ROW(name) #name,
inline constexpr const char* kBlockingCallNames[] = {
    KYMO_BLOCKING_CALLS(KYMO_ROW)};
#undef KYMO_ROW
inline constexpr size_t kBlockingCallCount =
    sizeof(kBlockingCallNames) / sizeof(kBlockingCallNames[0]);

inline constexpr char kCallsVariable[] = "KYMO_CALLS";

struct BlockingCallCounts {
  // Processes that count. 0: the program is static, or came without the
  // environment.
  std::atomic<uint64_t> processes;
  std::atomic<uint64_t> calls[kBlockingCallCount];
};

// The library's last act before the program runs: prctl(kCountsBegin, faults).
// The kernel knows no such option. Whoever traces the system calls knows then
// that those before it were the loader's; `faults` are the page faults so far.
inline constexpr int kCountsBegin = 0x4b594d4f;

}  // namespace kymo

#endif  // KYMO_TOOLS_RUNTIME_BLOCKING_CALLS_H_
