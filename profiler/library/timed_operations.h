// timed_operations.h - device times of operations, taken with the device's
// events.
//
//   TimedOperations timed(events, /*all_threads=*/false);
//   Work();
//   timed.Stop();
//   const std::vector<int64_t> elapsed_us = timed.ElapsedUs(trace);
//
// It adds a callback of the calling thread, or a global one, which records an
// event at the start and at the end of each operation. ElapsedUs then gives the
// times to the operations of the trace.
//
// The trace has no ids of operations. So each range gets the time of the
// operation of its name and thread that began last before it. Between this
// beginning, which is the end of the callback, and the start of the range the
// thread does nothing else. A range that no operation belongs to has no time,
// and is counted.
//
// In a forked child it does nothing.
// Threads: the constructor and Stop run on one thread, which is the thread of
//   the session. Operations may run on any.
#ifndef KYMO_PROFILER_LIBRARY_TIMED_OPERATIONS_H_
#define KYMO_PROFILER_LIBRARY_TIMED_OPERATIONS_H_

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "kymo/callbacks.h"
#include "kymo/device_events.h"
#include "profiler/base/clock.h"
#include "profiler/model/trace.h"

namespace kymo {

class TimedOperations {
 public:
  TimedOperations(std::shared_ptr<const DeviceEvents> events, bool all_threads);
  ~TimedOperations() { Stop(); }
  TimedOperations(const TimedOperations&) = delete;
  TimedOperations& operator=(const TimedOperations&) = delete;

  // Ends timing. Operations that have not ended get no time.
  void Stop();

  // After Stop: for each event of the trace the device time in microseconds, 0
  // for none. Waits for the device. Warns if operations have no time though
  // they ended, with their number.
  std::vector<int64_t> ElapsedUs(const model::Trace& trace) const;

 private:
  struct State;

  const bool all_threads_;
  const std::thread::id owner_ = std::this_thread::get_id();
  const std::shared_ptr<State> state_;
  CallbackHandle callback_ = 0;
  ClockAnchor last_anchor_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_LIBRARY_TIMED_OPERATIONS_H_
