// injection.cc - runs in a program that the command watches, from the moment at
// which the program initialises CUDA.
//
// It is a guest: it needs libc only, has one thread that sleeps between
// flushes, takes no signal, keeps no descriptor, and lets the program go on if
// anything fails.
#include "backends/cupti/target/injection.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "backends/cupti/log/log_file.h"
#include "backends/cupti/target/capture.h"
#include "backends/cupti/target/cupti_library.h"
#include "backends/cupti/target/flush_thread.h"

namespace kymo::cupti {
namespace {

constinit LogFile file;
constinit FlushThread flushing;

// CUPTI registered its exit handlers earlier, so this one runs before them: the
// last flush is over when they begin to take CUPTI down.
void AtExit() {
  if (file.header()->pid != getpid()) return;
  flushing.Stop();
  StopCapture(StopMode::kExit);
}

// Starts the capture. If there is no log, nobody can be told why.
void Start() {
  const char* const folder = getenv(kLogFolderVariable);
  if (folder == nullptr || file.header() != nullptr || !file.Open(folder)) {
    return;
  }
  CaptureSettings settings;
  unsigned flush_ms = 100;
  const char* const wanted = getenv(kCaptureVariable);
  if (wanted != nullptr) {
    (void)sscanf(wanted, "%u:%zu:%u", &settings.flags, &settings.buffer_bytes,
                 &flush_ms);
  }
  LogHeader* const header = file.header();
  const char* const paths = getenv(kLibraryVariable);
  const CuptiApi* const api = LoadCupti(
      paths == nullptr ? "" : paths, header->problem, sizeof(header->problem));
  if (api == nullptr) {
    header->state.store(LogState::kFailed, std::memory_order_release);
    return;
  }
  if (!StartCapture(*api, settings, file.sink(), header)) return;
  atexit(AtExit);
  flushing.Start(flush_ms);
}

}  // namespace
}  // namespace kymo::cupti

// Returns 1, "the injection worked", whatever happened. CUDA would refuse to
// start otherwise.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  kymo::cupti::Start();
  return 1;
}
