// device_events.h - take device times with events, where no backend traces the
// device.
//
//   const absl::Status status = kymo::RegisterDeviceEvents(
//       "npu", {.record =
//                   [] {
//                     return std::shared_ptr<void>(RecordNpuEvent(),
//                                                  FreeNpuEvent);
//                   },
//               .elapsed_us =
//                   [](const void* begin, const void* end) {
//                     return NpuMicroseconds(begin, end);
//                   }});
//   kymo::Profile profile({.use_device = "npu"});
//
// Devices have events that a program puts between its work, and a function for
// the time between two of them. A session records such an event at the start
// and at the end of each operation. The time between them becomes the device
// time of the operation. So a program tells Kymo about its device as a device's
// library tells PyTorch (registerCUDAMethods and registerPrivateUse1Methods in
// torch/csrc/profiler/stubs/base.h). A session does so for
//
// - "cuda", if no backend can trace CUDA here, or with use_kineto = false;
// - a custom device by its name, on the same conditions.
//
// The time is that of all work between the two events, including that of inner
// operations. It is shown in tables and in events(), and is not part of the
// trace, as in PyTorch. Operations that end on another thread have none. A
// session that does not record "cpu" has no operations: Start() is an error. A
// forked child of the program times nothing.
//
// Units:   microseconds; tables have whole ones, as PyTorch's cuda_elapsed_us.
// Threads: any. `record` runs on the threads of the operations, several at a
//   time. `elapsed_us` runs on the thread that stops the session.
// Errors:  kInvalidArgument for an empty function and for a name that is not
//   lower_snake. So is "xpu", "mtia" and "hpu", which PyTorch never times with
//   events. An exception from `record` or `elapsed_us` becomes a warning, and
//   the operation has no device time. A warning at the end says how many
//   operations were not timed.
// Cost:    that of a callback (callbacks.h) and of two events for each
//   operation. PyTorch says 4 us. Events live until the session stops.
#ifndef KYMO_PROFILER_API_DEVICE_EVENTS_H_
#define KYMO_PROFILER_API_DEVICE_EVENTS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace kymo {

struct DeviceEvents {
  // Puts an event behind the work that the calling thread has given to its
  // current stream, and returns the event. Null: there is none.
  std::function<std::shared_ptr<void>()> record;
  // Waits for two events, and returns the time between them.
  std::function<double(const void* begin, const void* end)> elapsed_us;
};

// From the next session on. Replaces the device's earlier functions.
absl::Status RegisterDeviceEvents(std::string_view device, DeviceEvents events);
// It is no error if the device has no functions.
void UnregisterDeviceEvents(std::string_view device);

// A device with functions for its events.
struct TimedDevice {
  std::string name;
  std::shared_ptr<const DeviceEvents> events;
};

// The device of that name. For "privateuseone", the first custom device by
// name. Without one, `events` is null.
TimedDevice FindTimedDevice(std::string_view device);

}  // namespace kymo

#endif  // KYMO_PROFILER_API_DEVICE_EVENTS_H_
