// guarded_call.h - calls a plugin and makes a Status of its exceptions.
//
//   const absl::Status status = GuardedCall(
//       "Start", [&] { return session.Start(pid); });
//
// The code around plugins does not expect exceptions: one that passes through
// it would end the program.
//
// Errors: kResourceExhausted for std::bad_alloc, kUnknown for every other
//   exception. The text names the call, and has what() where there is one.
// Threads: any. The cancellation of a thread (pthread_cancel) passes through.
#ifndef KYMO_PROFILER_PLUGIN_GUARDED_CALL_H_
#define KYMO_PROFILER_PLUGIN_GUARDED_CALL_H_

#include <cxxabi.h>

#include "absl/status/status.h"

namespace kymo {

// What the exception that is being handled means. `call` is the plugin's
// function. REQUIRES: called within a catch block.
absl::Status StatusOfException(const char* call);

// Returns what `f` returns, which is a Status or a StatusOr.
template <typename F>
auto GuardedCall(const char* call, F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (...) {
    return StatusOfException(call);
  }
}

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_GUARDED_CALL_H_
