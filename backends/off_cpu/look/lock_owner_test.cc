#include "backends/off_cpu/look/lock_owner.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "backends/off_cpu/look/blocked_look.h"

namespace kymo::off_cpu {
namespace {

uint32_t ThisThread() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

// What a look says of the owner while a thread is blocked in `wait`.
struct Seen {
  std::optional<uint32_t> owner;
  bool is_held_mutex = false;
};
Seen LookWhile(const std::function<void()>& wait,
               const std::function<void()>& release) {
  std::atomic<uint32_t> tid = 0;
  std::thread waiter([&] {
    tid = ThisThread();
    wait();
  });
  BlockedLook look;
  while (tid == 0 || look.Take(getpid(), tid) != BlockedLook::Result::kSeen ||
         look.call().number != SYS_futex) {
    usleep(1'000);
  }
  const Seen seen = {ReadLockOwner(tid, look.call()),
                     IsHeldMutex(tid, look.call())};
  release();
  waiter.join();
  return seen;
}
std::optional<uint32_t> OwnerWhile(const std::function<void()>& wait,
                                   const std::function<void()>& release) {
  return LookWhile(wait, release).owner;
}

TEST(LockOwnerTest, MutexesOfAllKindsKnowIt) {
  for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
                         PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP}) {
    for (const int robust : {PTHREAD_MUTEX_STALLED, PTHREAD_MUTEX_ROBUST}) {
      for (const int protocol : {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT}) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, type);
        pthread_mutexattr_setrobust(&attributes, robust);
        pthread_mutexattr_setprotocol(&attributes, protocol);
        pthread_mutex_t mutex;
        pthread_mutex_init(&mutex, &attributes);
        pthread_mutex_lock(&mutex);
        if (type == PTHREAD_MUTEX_RECURSIVE) pthread_mutex_lock(&mutex);
        const Seen seen = LookWhile(
            [&] {
              pthread_mutex_lock(&mutex);
              pthread_mutex_unlock(&mutex);
            },
            [&] {
              if (type == PTHREAD_MUTEX_RECURSIVE) pthread_mutex_unlock(&mutex);
              pthread_mutex_unlock(&mutex);
            });
        const auto text = testing::Message()
                          << "type " << type << ", robust " << robust
                          << ", protocol " << protocol;
        EXPECT_EQ(seen.owner, ThisThread()) << text;
        EXPECT_TRUE(seen.is_held_mutex) << text;
      }
    }
  }
}

TEST(LockOwnerTest, ALockWithATimeLimitKnowsIt) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  timespec minute;
  clock_gettime(CLOCK_REALTIME, &minute);
  minute.tv_sec += 60;
  const auto owner = OwnerWhile(
      [&] {
        pthread_mutex_timedlock(&mutex, &minute);
        pthread_mutex_unlock(&mutex);
      },
      [&] { pthread_mutex_unlock(&mutex); });
  EXPECT_EQ(owner, ThisThread());
}

TEST(LockOwnerTest, AReadWriteLockKnowsItsWriter) {
  for (const auto lock : {pthread_rwlock_rdlock, pthread_rwlock_wrlock}) {
    pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
    const auto take_and_release = [&] {
      lock(&both);
      pthread_rwlock_unlock(&both);
    };
    const auto release = [&] { pthread_rwlock_unlock(&both); };
    pthread_rwlock_wrlock(&both);
    EXPECT_EQ(OwnerWhile(take_and_release, release), ThisThread());
    if (lock == pthread_rwlock_rdlock) continue;
    pthread_rwlock_rdlock(&both);
    EXPECT_EQ(OwnerWhile(take_and_release, release), std::nullopt);
  }
}

TEST(LockOwnerTest, OtherFutexesHaveNone) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  EXPECT_EQ(
      OwnerWhile([&] { sem_wait(&semaphore); }, [&] { sem_post(&semaphore); }),
      std::nullopt);
  struct {
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    bool is_done = false;
  } shared;
  const auto wait = [&] {
    pthread_mutex_lock(&shared.mutex);
    while (!shared.is_done) {
      pthread_cond_wait(&shared.condition, &shared.mutex);
    }
    pthread_mutex_unlock(&shared.mutex);
  };
  const auto wake = [&] {
    pthread_mutex_lock(&shared.mutex);
    shared.is_done = true;
    pthread_cond_signal(&shared.condition);
    pthread_mutex_unlock(&shared.mutex);
  };
  EXPECT_EQ(OwnerWhile(wait, wake), std::nullopt);
}

// A locked mutex of musl that has waiters: EBUSY stands where a thread's number
// might, and behind it there is none.
TEST(LockOwnerTest, AMutexOfMuslHasNone) {
  std::array<uint32_t, kLockWords> words = {FUTEX_WAITERS | EBUSY};
  const auto call = [&](int operation) {
    syscall(SYS_futex, words.data(), operation | FUTEX_PRIVATE_FLAG, words[0],
            nullptr, nullptr, 0);
  };
  EXPECT_EQ(OwnerWhile([&] { call(FUTEX_WAIT); }, [&] { call(FUTEX_WAKE); }),
            std::nullopt);
}

// A lock of Rust or of the program, with data behind it.
TEST(LockOwnerTest, OtherDataIsNoMutex) {
  const auto is_mutex = [](std::array<uint32_t, kLockWords> words) {
    const auto call = [&](int operation) {
      syscall(SYS_futex, words.data(), operation | FUTEX_PRIVATE_FLAG, 2,
              nullptr, nullptr, 0);
    };
    const Seen seen =
        LookWhile([&] { call(FUTEX_WAIT); }, [&] { call(FUTEX_WAKE); });
    EXPECT_EQ(seen.owner, 4711u);
    return seen.is_held_mutex;
  };
  EXPECT_TRUE(is_mutex({2, 0, 4711, 1, 0}));
  EXPECT_FALSE(is_mutex({2, 0, 4711, 0, 0}));
  EXPECT_FALSE(is_mutex({2, 0, 4711, 1u << 23, 0}));
  EXPECT_FALSE(is_mutex({2, 0, 4711, 1, 0x5590}));
  EXPECT_FALSE(is_mutex({2, 3, 4711, 1, 0}));
  EXPECT_TRUE(is_mutex({2, 3, 4711, 1, 1}));
}

TEST(LockOwnerTest, CallsThatWaitForNoLockHaveNone) {
  const auto place = [](int64_t number, uint64_t operation, uint64_t value) {
    BlockedCall call = {.number = number};
    call.arguments = {0x1000, operation, value};
    return PlaceOfOwner(call).has_value();
  };
  EXPECT_TRUE(place(SYS_futex, FUTEX_WAIT, 2));
  EXPECT_TRUE(place(SYS_futex, FUTEX_LOCK_PI, 0));
  EXPECT_TRUE(place(SYS_futex, FUTEX_WAIT, FUTEX_WAITERS | 5));
  EXPECT_FALSE(place(SYS_futex, FUTEX_WAIT, FUTEX_WAITERS));
  EXPECT_FALSE(place(SYS_futex, FUTEX_WAIT, 1));
  EXPECT_FALSE(place(SYS_futex, FUTEX_WAKE, 2));
  EXPECT_FALSE(place(SYS_read, FUTEX_WAIT, 2));
}

}  // namespace
}  // namespace kymo::off_cpu
