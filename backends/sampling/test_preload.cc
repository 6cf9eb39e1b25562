// test_preload - the timers as the preloaded runtime uses them: a library of
// their own without libstdc++, with a wrapper around pthread_create.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "backends/sampling/target/target_timer.h"

namespace {

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*),
                       void*);

struct Start {
  void* (*function)(void*);
  void* argument;
};

void* Run(void* memory) {
  const Start start = *static_cast<Start*>(memory);
  free(memory);
  kymo::TargetTimerThreadStart();
  void* const result = start.function(start.argument);
  kymo::TargetTimerThreadExit();
  return result;
}

[[gnu::constructor]] void Load() {
  kymo::TargetTimerInit();
  pthread_atfork(nullptr, nullptr, kymo::TargetTimerAfterForkInChild);
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attr,
                              void* (*function)(void*),
                              void* argument) noexcept {
  static const Create next =
      reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  auto* const start = static_cast<Start*>(malloc(sizeof(Start)));
  *start = {function, argument};
  return next(thread, attr, Run, start);
}
