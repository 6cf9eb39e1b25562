#include "tools/command_line/large_stack.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstddef>

namespace kymo::tools {
namespace {

constexpr size_t kStackBytes = size_t{8} << 20;

struct Call {
  const std::function<int()>& run;
  sigset_t signals;
  int result = 0;
};

void* Run(void* to) {
  Call& call = *static_cast<Call*>(to);
  pthread_sigmask(SIG_SETMASK, &call.signals, nullptr);
  call.result = call.run();
  return nullptr;
}

}  // namespace

int RunWithLargeStack(const std::function<int()>& run) {
  rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kStackBytes) {
    return run();
  }
  Call call = {.run = run, .signals = {}};
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &call.signals);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, Run, &call);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    pthread_sigmask(SIG_SETMASK, &call.signals, nullptr);
    return run();
  }
  pthread_join(thread, nullptr);
  return call.result;
}

}  // namespace kymo::tools
