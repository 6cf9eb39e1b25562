// runtime.cc - the library that //tools:profile preloads into its target.
//
// It joins the process to the collector's arena before main runs, and lends its
// recorder to every annotated copy of Kymo in the process (kymo_host_v1). Where
// the kernel's own sampling is not permitted, it also arms per-thread timers.
// It is an injection library of NVTX and a collector of ITT (backends/nvtx,
// itt), too. Its hooks come before the functions that start programs
// (start_hooks.h), and before those that block (backends/off_cpu/target).
//
// It is a guest: it needs libc only, starts no thread and keeps no descriptor
// open unless KYMO_ATTACH asks for a door (open_door.h), installs no handler
// unless the timers are asked for, and does nothing at exit.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>

#include "backends/off_cpu/target/real_calls.h"
#include "backends/off_cpu/target/wait_writer.h"
#include "backends/sampling/target/target_timer.h"
#include "profiler/record/host/door_protocol.h"
#include "profiler/record/host/host.h"
#include "profiler/record/host/open_door.h"
#include "tools/runtime/stack_capture.h"
#include "tools/runtime/start_hooks.h"

#define KYMO_EXPORT extern "C" __attribute__((visibility("default")))

// In programs with ThreadSanitizer. It may be called any number of times.
extern "C" __attribute__((weak)) void __tsan_init();

namespace kymo {
namespace {

using CreateFunction = int (*)(pthread_t*, const pthread_attr_t*,
                               void* (*)(void*), void*);

// A new thread's start function, on its way through ours.
struct ThreadStart {
  void* (*function)(void*);
  void* argument;
  bool blocks_timer;  // the mask is the creator's
};

void EndOfThread(void*) { TargetTimerThreadExit(); }

void* RunThread(void* start_pointer) {
  ThreadStart* const allocated = static_cast<ThreadStart*>(start_pointer);
  const ThreadStart start = *allocated;
  free(allocated);
  TargetTimerThreadStart(start.blocks_timer);
  void* result = nullptr;
  // Runs also if the thread leaves through pthread_exit or is cancelled.
  pthread_cleanup_push(EndOfThread, nullptr);
  result = start.function(start.argument);
  pthread_cleanup_pop(1);
  return result;
}

// Clang links ThreadSanitizer into the program, where its functions come before
// libc's, and crash if they are called before it has begun. By itself it begins
// after the constructors of this library.
__attribute__((constructor(101))) void BeginThreadSanitizer() {
  if (__tsan_init != nullptr) __tsan_init();
}

// Set before a second thread can exist.
constinit bool timers_wanted = false;

// Linked with -z initfirst, this is the first constructor of all. So
// allocations by the constructors of other libraries are seen. But libc's
// constructor has not run yet.
__attribute__((constructor)) void Join(int, char**, char** environment) {
  if (environ == nullptr) environ = environment;
  if (const char* const path = getenv(record::kArenaVariable)) {
    InstallStackCapture();
    FindRealStarts();
    // If the collector is gone, the program runs on unchanged.
    (void)record::AttachToCollector(path);
  } else if (getenv(record::kAttachVariable) != nullptr) {
    InstallStackCapture();
    FindRealStarts();
  }
  off_cpu::FindRealCalls();
  off_cpu::JoinWaitRing();
  timers_wanted = getenv(kTargetTimerVariable) != nullptr;
  if (timers_wanted) {
    TargetTimerInit();
    pthread_atfork(nullptr, nullptr, TargetTimerAfterForkInChild);
  }
  (void)record::OpenDoorIfAsked();
}

}  // namespace
}  // namespace kymo

KYMO_EXPORT const kymo::record::HostApi* kymo_host_v1() {
  return kymo::record::OwnHost();
}

KYMO_EXPORT int kymo_open_door_v1() noexcept {
  kymo::InstallStackCapture();
  return kymo::record::OpenDoor();
}

KYMO_EXPORT int pthread_create(pthread_t* thread,
                               const pthread_attr_t* attributes,
                               void* (*function)(void*), void* argument) {
  static constinit std::atomic<kymo::CreateFunction> real{nullptr};
  kymo::CreateFunction create = real.load(std::memory_order_acquire);
  if (create == nullptr) {
    create = reinterpret_cast<kymo::CreateFunction>(
        dlsym(RTLD_NEXT, "pthread_create"));
    real.store(create, std::memory_order_release);
  }
  auto* const start = static_cast<kymo::ThreadStart*>(
      kymo::timers_wanted ? malloc(sizeof(kymo::ThreadStart)) : nullptr);
  if (start == nullptr) return create(thread, attributes, function, argument);
  *start = {function, argument, kymo::TargetTimerBlocksSignal()};
  const int error = create(thread, attributes, kymo::RunThread, start);
  if (error != 0) free(start);
  return error;
}
