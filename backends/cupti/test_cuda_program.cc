// test_cuda_program.cc - a program that uses CUDA, as far as it can be seen
// from here: it loads the injected library as libcuda does, and launches
// through test_libcupti.
//
//   test_cuda_program <libcupti> launches [kill]
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* const injection = getenv("CUDA_INJECTION64_PATH");
  if (injection == nullptr) return 3;
  void* const library = dlopen(injection, RTLD_NOW);
  if (library == nullptr) {
    fprintf(stderr, "%s\n", dlerror());
    return 4;
  }
  const auto initialize =
      reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr || initialize() != 1) return 5;
  void* const cupti = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
  if (cupti == nullptr) return 0;  // it was not to be used
  const auto launch =
      reinterpret_cast<void (*)(const char*)>(dlsym(cupti, "kymo_test_launch"));
  if (launch == nullptr) return 6;
  for (int i = atoi(argv[2]); i > 0; --i) launch("_Z4axpyfPf");
  if (argc > 3 && strcmp(argv[3], "kill") == 0) {
    usleep(500'000);  // longer than the time between flushes
    launch("_Z4lostv");
    raise(SIGKILL);
  }
  return 0;
}
