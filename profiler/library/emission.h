// emission.h - what EmitNvtx and EmitItt have in common; for Kymo's own headers
// and .cc files.
//
// While it is on, a callback pushes a range into another tool for each
// operation of the thread (or of all), and pops it at the operation's end.
// Without a tool there is no callback, and an operation costs what it costs.
#ifndef KYMO_PROFILER_LIBRARY_EMISSION_H_
#define KYMO_PROFILER_LIBRARY_EMISSION_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "kymo/callbacks.h"

namespace kymo::internal {

// Functions of the tool; null where it has none.
struct EmissionSink {
  const char* interface;  // "NVTX", for messages
  void (*push)(const char* name);
  void (*pop)();
  uint64_t (*start)(const char* name);  // of asynchronous operations
  void (*end)(uint64_t id);
};

struct EmissionOptions {
  bool full_names = true;  // with numbers and sizes; else the name alone
  bool record_shapes = false;
  bool all_threads = false;
  bool stashed_backward_seq = false;
};

class Emission {
 public:
  Emission() = default;
  ~Emission() { Stop().IgnoreError(); }
  Emission(const Emission&) = delete;
  Emission& operator=(const Emission&) = delete;

  // kFailedPrecondition: "NVTX annotation context manager is not reentrant", or
  // "Profiler is already enabled on this thread." where another emission of the
  // same interface is.
  absl::Status Start(const EmissionSink& sink, const EmissionOptions& options);
  // kFailedPrecondition on another thread than Start's, unless it is of all
  // threads. Ranges that are open still end.
  absl::Status Stop();
  bool is_on() const noexcept {
    return on_thread_ != nullptr || on_all_ != nullptr;
  }

 private:
  // The flag of the thread that it is on, or of all threads.
  bool* on_thread_ = nullptr;
  std::atomic<bool>* on_all_ = nullptr;
  CallbackHandle callback_ = 0;  // 0: there is no tool
};

}  // namespace kymo::internal

#endif  // KYMO_PROFILER_LIBRARY_EMISSION_H_
