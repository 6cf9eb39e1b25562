// real_calls.h - the functions behind the hooks of blocking calls: those that
// the next library in the loader's order exports, usually libc's.
//
//   FindRealCalls();                // once, early
//   REAL(read)(fd, bytes, size)
//
// Threads: any. Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_OFF_CPU_TARGET_REAL_CALLS_H_
#define KYMO_BACKENDS_OFF_CPU_TARGET_REAL_CALLS_H_

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/gmon.h>
#include <sys/profil.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// What compilers call instead if _FORTIFY_SOURCE is set. Also functions whose
// declarations have `...`, as which no hook can be defined.
extern "C" {
ssize_t __read_chk(int, void*, size_t, size_t);
ssize_t __pread_chk(int, void*, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void*, size_t, off64_t, size_t);
ssize_t __recv_chk(int, void*, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void*, size_t, size_t, int, sockaddr*, socklen_t*);
int __poll_chk(pollfd*, nfds_t, int, size_t);
int __ppoll_chk(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t);
int flock(int, int) noexcept;
ssize_t sendfile(int, int, off_t*, size_t) noexcept;
ssize_t sendfile64(int, int, off64_t*, size_t) noexcept;
int recvmmsg(int, mmsghdr*, unsigned, int, timespec*);
int sendmmsg(int, mmsghdr*, unsigned, int);
int __open_2(const char*, int);
int __open64_2(const char*, int);
int __openat_2(int, const char*, int);
int __openat64_2(int, const char*, int);
ssize_t msgrcv(int, void*, size_t, long, int);
int msgsnd(int, const void*, size_t, int);
}

namespace kymo::off_cpu {

// clang-format off
#define KYMO_REAL_CALLS(X)                                                     \
  X(pthread_mutex_lock) X(pthread_mutex_trylock) X(pthread_mutex_timedlock)    \
  X(pthread_mutex_clocklock)                                                   \
  X(pthread_rwlock_rdlock) X(pthread_rwlock_tryrdlock)                         \
  X(pthread_rwlock_timedrdlock) X(pthread_rwlock_clockrdlock)                  \
  X(pthread_rwlock_wrlock) X(pthread_rwlock_trywrlock)                         \
  X(pthread_rwlock_timedwrlock) X(pthread_rwlock_clockwrlock)                  \
  X(sem_wait) X(sem_trywait) X(sem_timedwait) X(sem_clockwait)                 \
  X(pthread_mutex_unlock) X(pthread_rwlock_unlock) X(sem_post)                 \
  X(pthread_cond_signal) X(pthread_cond_broadcast)                             \
  X(pthread_cond_wait) X(pthread_cond_timedwait) X(pthread_cond_clockwait)     \
  X(pthread_join) X(pthread_timedjoin_np) X(pthread_clockjoin_np)              \
  X(pthread_barrier_wait) X(semop) X(semtimedop) X(flock)                      \
  X(nanosleep) X(clock_nanosleep) X(usleep) X(sleep)                           \
  X(read) X(pread) X(pread64) X(readv) X(preadv) X(preadv64)                   \
  X(__read_chk) X(__pread_chk) X(__pread64_chk)                                \
  X(write) X(pwrite) X(pwrite64) X(writev) X(pwritev) X(pwritev64)             \
  X(fsync) X(fdatasync) X(syncfs) X(sendfile) X(sendfile64)                    \
  X(__open_2) X(__open64_2) X(__openat_2) X(__openat64_2)                      \
  X(recvmmsg) X(sendmmsg) X(msgrcv) X(msgsnd)                                  \
  X(recv) X(recvfrom) X(recvmsg) X(__recv_chk) X(__recvfrom_chk)               \
  X(send) X(sendto) X(sendmsg) X(accept) X(accept4) X(connect)                 \
  X(poll) X(ppoll) X(__poll_chk) X(__ppoll_chk) X(select) X(pselect)           \
  X(epoll_wait) X(epoll_pwait)                                                 \
  X(sigwait) X(sigwaitinfo) X(sigtimedwait) X(sigsuspend) X(pause)             \
  X(wait) X(waitpid) X(wait3) X(wait4) X(waitid)                               \
  X(pthread_sigmask) X(sigprocmask)                                            \
  X(profil) X(sprofil) X(monstartup) X(__monstartup)
// clang-format on

using OpenCall = int(const char*, int, mode_t);
using OpenAtCall = int(int, const char*, int, mode_t);
using FcntlCall = int(int, int, void*);
using SyscallCall = long(long, long, long, long, long, long, long);
using PrctlCall = int(int, unsigned long, unsigned long, unsigned long,
                      unsigned long);

struct RealCalls {
#define X(name) decltype(&::name) name;
  KYMO_REAL_CALLS(X)
#undef X
  // Those with `...` in their declarations.
  OpenCall* open;
  OpenCall* open64;
  OpenAtCall* openat;
  OpenAtCall* openat64;
  FcntlCall* fcntl;
  FcntlCall* fcntl64;
  PrctlCall* prctl;
  SyscallCall* syscall;
};
extern constinit RealCalls real __attribute__((visibility("hidden")));

// Finds all of them. Keeps errno.
void FindRealCalls() noexcept;

// A hook may be called before anybody has searched, by the loader. (All are
// found together, so one stands for all.)
#define REAL(name)                                     \
  (__builtin_expect(real.name == nullptr, 0)           \
       ? (::kymo::off_cpu::FindRealCalls(), real.name) \
       : real.name)

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_TARGET_REAL_CALLS_H_
