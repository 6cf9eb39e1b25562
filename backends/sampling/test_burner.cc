// test_burner - a program whose CPU use is known, to be sampled:
//   test_burner ratio MS     three quarters of MS in BurnThree, one in BurnOne
//   test_burner threads MS   two named threads, for the same time
//   test_burner fork MS      a forked child is in BurnThree, its parent in
//                            BurnOne
//   test_burner exec MS      is in BurnOne, then becomes `ratio`
//   test_burner deep MS      works at the bottom of 2000 frames
//   test_burner array MS     works below 400 KB of its stack that it never
//                            touches
//   test_burner prof MS      as ratio, with a SIGPROF handler and timer of its
//                            own; exits with 3 if these did not work
//   test_burner turns MS     three quarters of MS called by the library
//                            `small`, one by `large`, which are loaded in turn;
//                            exits with 4 if not at one place
//   test_burner short MS     MS children, one after the other: each is for 0.8
//                            ms in ShortTwo, then for 0.4 ms in ShortOne
//   test_burner orphans N    N processes for which nobody waits: each works for
//                            15 ms, and ends 0.8 s later
//   test_burner tiny MS      MS threads, one after the other, of 2 ms each
//   test_burner serve N      answers N requests of its parent, over the socket
//                            SERVE_FD, on its parent's CPU
// Time is the thread's own CPU time, so other load does not matter.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace {

int64_t ThreadCpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

[[gnu::always_inline]] inline void Burn(int64_t ms) {
  const int64_t end_ns = ThreadCpuNs() + ms * 1'000'000;
  volatile uint64_t value = 1;
  while (ThreadCpuNs() < end_ns) {
    for (int i = 0; i < 100'000; ++i) value = value * 3 + 1;
  }
}

// For times below a millisecond.
[[gnu::always_inline]] inline void BurnUntil(int64_t end_ns) {
  volatile uint64_t value = 1;
  while (ThreadCpuNs() < end_ns) {
    for (int i = 0; i < 1000; ++i) value = value * 3 + 1;
  }
}

}  // namespace

extern "C" {

[[gnu::noipa]] void BurnThree(int64_t ms) { Burn(ms); }
[[gnu::noipa]] void BurnOne(int64_t ms) { Burn(ms); }

[[gnu::noipa]] void BurnDeep(int depth, int64_t ms) {
  volatile char room[64];
  room[0] = 0;
  if (depth == 0) {
    BurnOne(ms);
  } else {
    BurnDeep(depth - 1, ms);
  }
  room[1] = room[0];
}

[[gnu::noipa]] void BurnBelowArray(int64_t ms) {
  volatile char room[400'000];
  room[0] = 0;
  BurnOne(ms);
  room[1] = room[0];
}

// Some 5 us.
[[gnu::noipa]] void Serve() {
  volatile uint64_t value = 1;
  for (int i = 0; i < 4000; ++i) value = value * 3 + 1;
}

[[gnu::noipa]] void ShortTwo(int64_t until_ns) { BurnUntil(until_ns); }
[[gnu::noipa]] void ShortOne(int64_t until_ns) { BurnUntil(until_ns); }

}  // extern "C"

namespace {

int ServeRequests(int64_t count) {
  const char* const fd = getenv("SERVE_FD");
  if (fd == nullptr) return 5;
  char request;
  for (int64_t i = 0; i < count; ++i) {
    if (read(atoi(fd), &request, 1) != 1) return 5;
    Serve();
    if (write(atoi(fd), &request, 1) != 1) return 5;
  }
  return 0;
}

void BurnInShortChildren(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const int64_t begin_ns = ThreadCpuNs();
      ShortTwo(begin_ns + 800'000);
      ShortOne(begin_ns + 1'200'000);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
}

// Returns when all have ended.
void BurnInOrphans(int64_t count) {
  int ends[2];
  if (pipe(ends) != 0) return;
  const pid_t parent = fork();
  if (parent == 0) {
    close(ends[0]);
    for (int64_t i = 0; i < count; ++i) {
      if (fork() != 0) continue;
      BurnOne(15);
      usleep(800'000);
      _exit(0);
    }
    _exit(0);
  }
  waitpid(parent, nullptr, 0);
  close(ends[1]);
  char none;
  while (read(ends[0], &none, 1) > 0) {
  }
  close(ends[0]);
}

void BurnRatio(int64_t ms) {
  constexpr int kRounds = 4;
  for (int i = 0; i < kRounds; ++i) {
    BurnThree(ms * 3 / 4 / kRounds);
    BurnOne(ms / 4 / kRounds);
  }
}

struct ThreadWork {
  const char* name;
  void (*burn)(int64_t);
  int64_t ms;
};

void* RunThread(void* argument) {
  const auto* const work = static_cast<ThreadWork*>(argument);
  pthread_setname_np(pthread_self(), work->name);
  work->burn(work->ms);
  return nullptr;
}

void BurnThreads(int64_t ms) {
  ThreadWork work[] = {{"burner-three", BurnThree, ms},
                       {"burner-one", BurnOne, ms}};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) {
    pthread_create(&threads[i], nullptr, RunThread, &work[i]);
  }
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}

void BurnInShortThreads(int64_t count) {
  ThreadWork work = {"burner-tiny", BurnOne, 2};
  for (int64_t i = 0; i < count; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, RunThread, &work);
    pthread_join(thread, nullptr);
  }
}

void BurnForked(int64_t ms) {
  const pid_t child = fork();
  if (child == 0) {
    BurnThree(ms);
    _exit(0);
  }
  BurnOne(ms);
  waitpid(child, nullptr, 0);
}

volatile sig_atomic_t g_ticks = 0;

int BurnWithOwnTimer(int64_t ms) {
  struct sigaction action = {};
  action.sa_handler = [](int) { g_ticks = g_ticks + 1; };
  sigaction(SIGPROF, &action, nullptr);
  struct sigaction now = {};
  sigaction(SIGPROF, nullptr, &now);
  const itimerval timer = {{0, 20'000}, {0, 20'000}};
  setitimer(ITIMER_PROF, &timer, nullptr);
  BurnRatio(ms);
  // Counts only our own timer's signals, not those of a sampler. On a busy
  // machine the kernel sends fewer.
  const int64_t expected = ms / 20;
  return now.sa_handler == action.sa_handler && g_ticks > 0 &&
                 g_ticks <= expected * 3 / 2 + 2
             ? 0
             : 3;
}

#ifndef IS_STATIC

// Burns in a function of the library; returns where that is.
void* BurnIn(const char* path, const char* function, int64_t ms) {
  using Call = void (*)(void (*)(void*), void*);
  void* const library = dlopen(path, RTLD_NOW);
  if (library == nullptr) return nullptr;
  void* const place = dlsym(library, "test_library_call");
  reinterpret_cast<Call>(dlsym(library, function))(
      [](void* work) { Burn(*static_cast<int64_t*>(work)); }, &ms);
  dlclose(library);
  return place;
}

int BurnInTurn(int64_t ms) {
  constexpr int kRounds = 8;
  for (int i = 0; i < kRounds; ++i) {
    void* const small = BurnIn("profiler/unwind/libtest_library_small.so",
                               "test_library_small", ms * 3 / 4 / kRounds);
    void* const large = BurnIn("profiler/unwind/libtest_library_large.so",
                               "test_library_large", ms / 4 / kRounds);
    if (small == nullptr || small != large) return 4;
  }
  return 0;
}

#else

int BurnInTurn(int64_t) { return 2; }  // it loads no libraries

#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int64_t ms = atoi(argv[2]);
  if (strcmp(argv[1], "ratio") == 0) {
    BurnRatio(ms);
  } else if (strcmp(argv[1], "threads") == 0) {
    BurnThreads(ms);
  } else if (strcmp(argv[1], "fork") == 0) {
    BurnForked(ms);
  } else if (strcmp(argv[1], "exec") == 0) {
    BurnOne(ms);
    execl("/proc/self/exe", "burner-image", "ratio", argv[2], nullptr);
    return 1;
  } else if (strcmp(argv[1], "deep") == 0) {
    BurnDeep(2000, ms);
  } else if (strcmp(argv[1], "array") == 0) {
    BurnBelowArray(ms);
  } else if (strcmp(argv[1], "prof") == 0) {
    return BurnWithOwnTimer(ms);
  } else if (strcmp(argv[1], "short") == 0) {
    BurnInShortChildren(ms);
  } else if (strcmp(argv[1], "orphans") == 0) {
    BurnInOrphans(ms);
  } else if (strcmp(argv[1], "tiny") == 0) {
    BurnInShortThreads(ms);
  } else if (strcmp(argv[1], "serve") == 0) {
    return ServeRequests(ms);
  } else if (strcmp(argv[1], "turns") == 0) {
    return BurnInTurn(ms);
  } else {
    return 2;
  }
  return 0;
}
