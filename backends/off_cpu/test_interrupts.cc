// test_interrupts - counts the waits that end early, with EINTR.
//   test_interrupts FILE waits N     waits N times in each of the ways below
//   test_interrupts FILE signals N   the same, and sends itself signals
// FILE.interrupts tells "WAY WAITS EINTR" of each way.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

namespace {

constexpr long kDelayNs = 60'000;  // longer than a thread takes to block

int g_pipe[2];
int g_full[2];                  // for writes that wait
constexpr size_t kPage = 4096;  // a pipe has room again when one is read
char g_page[kPage];
int g_sockets[2];
int g_listener;
int g_epoll;
sockaddr_un g_address = {};
sem_t g_semaphore;
std::atomic<uint32_t> g_futex;

void Check(bool is_good, const char* what) {
  if (is_good) return;
  perror(what);
  exit(1);
}

void Delay() {
  const timespec time = {0, kDelayNs};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

void TakeByte(int fd) {
  char c;
  Check(read(fd, &c, 1) == 1, "read");
}
void GiveByte(int fd) {
  const char c = 0;
  Check(write(fd, &c, 1) == 1, "write");
}

// `wait` returns -1, with errno, if it failed. `end` ends it in another thread.
struct Way {
  const char* name;
  int (*wait)();
  void (*end)();
};

void EndPipe() { GiveByte(g_pipe[1]); }

const Way kWays[] = {
    {"sleep",
     [] {
       const timespec time = {0, kDelayNs};
       return nanosleep(&time, nullptr);
     },
     [] {}},
    {"semaphore", [] { return sem_wait(&g_semaphore); },
     [] { sem_post(&g_semaphore); }},
    {"futex",
     [] {
       const long result = syscall(SYS_futex, &g_futex, FUTEX_WAIT_PRIVATE, 0,
                                   nullptr, nullptr, 0);
       const int error = errno;
       while (g_futex != 1) std::this_thread::yield();
       g_futex = 0;
       errno = error;
       return static_cast<int>(result != 0 && error == EAGAIN ? 0 : result);
     },
     [] {
       g_futex = 1;
       syscall(SYS_futex, &g_futex, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
     }},
    {"read_pipe",
     [] {
       char c;
       return static_cast<int>(read(g_pipe[0], &c, 1));
     },
     EndPipe},
    {"write_pipe",
     [] { return static_cast<int>(write(g_full[1], g_page, kPage)); },
     [] {
       static char page[kPage];
       Check(read(g_full[0], page, kPage) == kPage, "read");
     }},
    {"receive",
     [] {
       char c;
       return static_cast<int>(recv(g_sockets[0], &c, 1, 0));
     },
     [] { GiveByte(g_sockets[1]); }},
    {"accept",
     [] {
       const int fd = accept(g_listener, nullptr, nullptr);
       if (fd >= 0) close(fd);
       return fd;
     },
     [] {
       const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
       Check(connect(fd, reinterpret_cast<sockaddr*>(&g_address),
                     sizeof(g_address)) == 0,
             "connect");
       close(fd);
     }},
    {"poll",
     [] {
       pollfd fd = {g_pipe[0], POLLIN, 0};
       const int result = poll(&fd, 1, -1);
       if (result == 1) TakeByte(g_pipe[0]);
       return result;
     },
     EndPipe},
    {"select",
     [] {
       fd_set fds;
       FD_ZERO(&fds);
       FD_SET(g_pipe[0], &fds);
       const int result =
           select(g_pipe[0] + 1, &fds, nullptr, nullptr, nullptr);
       if (result == 1) TakeByte(g_pipe[0]);
       return result;
     },
     EndPipe},
    {"epoll_wait",
     [] {
       epoll_event event;
       const int result = epoll_wait(g_epoll, &event, 1, -1);
       if (result == 1) TakeByte(g_pipe[0]);
       return result;
     },
     EndPipe},
    {"child",
     [] {
       static pid_t child = 0;
       if (child == 0) child = fork();
       if (child == 0) {
         Delay();
         _exit(0);
       }
       const pid_t ended = waitpid(child, nullptr, 0);
       if (ended == child) child = 0;
       return static_cast<int>(ended);
     },
     [] {}},
};

void MakeObjects() {
  Check(pipe(g_pipe) == 0 && pipe(g_full) == 0, "pipe");
  Check(socketpair(AF_UNIX, SOCK_STREAM, 0, g_sockets) == 0, "socketpair");
  sem_init(&g_semaphore, 0, 0);
  fcntl(g_full[1], F_SETFL, O_NONBLOCK);
  while (write(g_full[1], g_page, kPage) == kPage) {
  }
  fcntl(g_full[1], F_SETFL, 0);
  g_address.sun_family = AF_UNIX;
  snprintf(g_address.sun_path + 1, sizeof(g_address.sun_path) - 1,
           "kymo-interrupts-%d", getpid());
  g_listener = socket(AF_UNIX, SOCK_STREAM, 0);
  Check(bind(g_listener, reinterpret_cast<sockaddr*>(&g_address),
             sizeof(g_address)) == 0 &&
            listen(g_listener, 1) == 0,
        "listen");
  g_epoll = epoll_create1(0);
  epoll_event event = {};
  event.events = EPOLLIN;
  Check(epoll_ctl(g_epoll, EPOLL_CTL_ADD, g_pipe[0], &event) == 0, "epoll_ctl");
}

// The other thread ends each wait a little after it is told that it begins.
void Run(const Way& way, int count, FILE* file) {
  int begins[2];
  Check(pipe(begins) == 0, "pipe");
  std::thread other([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    for (int i = 0; i < count; ++i) {
      TakeByte(begins[0]);
      Delay();
      way.end();
    }
  });
  int interrupted = 0;
  for (int i = 0; i < count; ++i) {
    while (write(begins[1], "x", 1) != 1) {
    }
    while (way.wait() < 0) {
      Check(errno == EINTR, way.name);
      ++interrupted;
      // A raw futex and a sleep have no result to wait for.
      if (way.name == kWays[0].name || way.name == kWays[2].name) break;
    }
  }
  other.join();
  close(begins[0]);
  close(begins[1]);
  fprintf(file, "%s %d %d\n", way.name, count, interrupted);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  MakeObjects();
  if (argv[2] == std::string("signals")) {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, nullptr);
    const itimerval timer = {{0, 2'000}, {0, 2'000}};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  FILE* const file = fopen((std::string(argv[1]) + ".interrupts").c_str(), "w");
  Check(file != nullptr, argv[1]);
  for (const Way& way : kWays) Run(way, atoi(argv[3]), file);
  fclose(file);
  return 0;
}
