// test_cuda_program.cc - a program that seems to use CUDA. It loads the
// injected library as libcuda does, and launches through test_libcupti.
//
//   test_cuda_program <libcupti> launches [MODE]
//
// MODE says what it does besides or afterwards:
//   kill         rests, launches once more and is killed
//   kill_busy    is killed while the device is at work, as it always was
//   exit_busy    ends while the device is at work
//   fork         has a child that ends by itself
//   copy         copies 4 KiB to the device
//   after_other  had another client, which left a buffer behind
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void* cupti = nullptr;

template <typename F>
F* Scripted(const char* name) {
  return reinterpret_cast<F*>(dlsym(cupti, name));
}

void Launch(const char* name) {
  Scripted<void(const char*)>("kymo_test_launch")(name);
}
void SlowDown(uint64_t ns) {
  Scripted<void(uint64_t)>("kymo_test_slow_down")(ns);
}

// The other client's memory. Kymo must not write to it.
char others[4096];

void UseAnotherClient(const char* path) {
  cupti = dlopen(path, RTLD_NOW);
  void* client = nullptr;
  Scripted<int(void**, void*, void*)>("cuptiSubscribe")(&client, nullptr,
                                                        nullptr);
  using Request = void (*)(char**, size_t*, size_t*);
  using Complete = void (*)(void*, uint32_t, char*, size_t, size_t);
  Scripted<int(Request, Complete)>("cuptiActivityRegisterCallbacks")(
      [](char** buffer, size_t* size, size_t*) {
        *buffer = others;
        *size = sizeof(others);
      },
      [](void*, uint32_t, char*, size_t, size_t) {});
  constexpr int kKernel = 10;
  Scripted<int(int)>("cuptiActivityEnable")(kKernel);
  Launch("_Z6othersv");
  Scripted<int(int)>("cuptiActivityDisable")(kKernel);
  Scripted<int(void*)>("cuptiUnsubscribe")(client);
}

// Does what libcuda does in cuInit. False: CUDA would not start.
bool Inject() {
  const char* const path = getenv("CUDA_INJECTION64_PATH");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
  if (library == nullptr) {
    fprintf(stderr, "%s\n", path == nullptr ? "no injection" : dlerror());
    return false;
  }
  const auto initialize =
      reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  return initialize != nullptr && initialize() == 1;
}

int After(const char* mode) {
  if (strcmp(mode, "kill") == 0) {
    usleep(500'000);  // longer than the time between flushes
    Launch("_Z4lostv");
    raise(SIGKILL);
  } else if (strcmp(mode, "kill_busy") == 0) {
    SlowDown(50'000'000);
    for (int i = 0; i < 20; ++i) {
      Launch("_Z4busyv");
      usleep(10'000);
    }
    raise(SIGKILL);
  } else if (strcmp(mode, "exit_busy") == 0) {
    SlowDown(3'000'000);
    Launch("_Z4busyv");
  } else if (strcmp(mode, "fork") == 0) {
    const pid_t pid = fork();
    if (pid == 0) exit(0);
    int status = -1;
    waitpid(pid, &status, 0);
    if (status != 0) return 7;
    Launch("_Z5afterv");
  } else if (strcmp(mode, "copy") == 0) {
    Scripted<void(uint64_t)>("kymo_test_copy")(4096);
  } else if (strcmp(mode, "after_other") == 0) {
    usleep(200'000);  // until the buffer has come back
    static char before[sizeof(others)];
    memcpy(before, others, sizeof(others));
    for (int i = 0; i < 1000; ++i) Launch("_Z4morev");
    if (memcmp(before, others, sizeof(others)) != 0) return 8;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* const mode = argc > 3 ? argv[3] : "";
  if (strcmp(mode, "after_other") == 0) UseAnotherClient(argv[1]);
  if (!Inject()) return 4;
  cupti = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
  if (cupti == nullptr) return 0;  // CUPTI was not to be used
  for (int i = atoi(argv[2]); i > 0; --i) Launch("_Z4axpyfPf");
  // Waits like cudaDeviceSynchronize: the device is slower than this loop.
  Scripted<void()>("kymo_test_wait")();
  return After(mode);
}
