// injection.cc - what runs in a program that the command watches, from the
// moment at which it initialises CUDA.
//
// A guest: needs libc only, has one thread that sleeps between flushes, takes
// no signal, keeps no descriptor, and lets the program go on whatever fails.
#include "backends/cupti/injection.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "backends/cupti/capture.h"
#include "backends/cupti/cupti_library.h"
#include "backends/cupti/log_file.h"

namespace kymo::cupti {
namespace {

constinit LogFile file;
constinit std::atomic<bool> ending{false};
constinit unsigned flush_ms = 100;

// So that a program that is killed loses only what was recorded since.
void* Flush(void*) {
  const timespec pause = {flush_ms / 1000,
                          static_cast<long>(flush_ms % 1000) * 1'000'000};
  while (!ending.load(std::memory_order_relaxed)) {
    nanosleep(&pause, nullptr);
    if (ending.load(std::memory_order_relaxed)) break;
    FlushCapture(FlushMode::kFinished);
  }
  return nullptr;
}

void StartFlushing() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, Flush, nullptr) == 0) {
    pthread_detach(thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void AtExit() {
  // A forked child that ends has nothing of its own in the log.
  if (file.header()->pid != getpid()) return;
  ending.store(true, std::memory_order_relaxed);
  StopCapture(StopMode::kExit);
}

// Without a log there is nobody to tell.
void Start() {
  const char* const folder = getenv(kLogFolderVariable);
  if (folder == nullptr || file.header() != nullptr || !file.Open(folder)) {
    return;
  }
  CaptureSettings settings;
  const char* const wanted = getenv(kCaptureVariable);
  if (wanted != nullptr) {
    (void)sscanf(wanted, "%u:%zu:%u", &settings.flags, &settings.buffer_bytes,
                 &flush_ms);
  }
  LogHeader* const header = file.header();
  header->magic = kLogMagic;
  header->version = kLogVersion;
  header->pid = getpid();
  const char* const paths = getenv(kLibraryVariable);
  const CuptiApi* const api = LoadCupti(
      paths == nullptr ? "" : paths, header->problem, sizeof(header->problem));
  if (api == nullptr) {
    header->state.store(LogState::kFailed, std::memory_order_release);
    return;
  }
  if (!StartCapture(*api, settings, file.sink(), header)) return;
  atexit(AtExit);
  StartFlushing();
}

}  // namespace
}  // namespace kymo::cupti

// 1: the injection worked. CUDA would refuse to start otherwise.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  kymo::cupti::Start();
  return 1;
}
