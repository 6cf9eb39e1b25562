#include "kymo/device_events.h"

#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/names.h"
#include "profiler/base/strings.h"
#include "profiler/plugin/activities.h"

namespace kymo {
namespace {

struct Registered {
  std::mutex lock;
  std::map<std::string, std::shared_ptr<const DeviceEvents>, std::less<>>
      devices;
};

Registered& Process() {
  static auto* const registered = new Registered();  // threads may outlive main
  return *registered;
}

// Made before there are threads: see first_use_test.sh.
[[maybe_unused]] const Registered& kMade = Process();

}  // namespace

absl::Status RegisterDeviceEvents(std::string_view device,
                                  DeviceEvents events) {
  if (!IsLowerSnake(device)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the name of a device, '", ToAbsl(device), "', is not lower_snake"));
  }
  if (device != "cuda" && !IsCustomDevice(device)) {
    return absl::InvalidArgumentError(
        absl::StrCat("device times of ", ToAbsl(device),
                     " cannot be taken with events: use a backend for it"));
  }
  if (!events.record || !events.elapsed_us) {
    return absl::InvalidArgumentError(
        absl::StrCat("the events of ", ToAbsl(device),
                     " need both functions, record and elapsed_us"));
  }
  Registered& process = Process();
  const std::lock_guard lock(process.lock);
  process.devices.insert_or_assign(
      std::string(device),
      std::make_shared<const DeviceEvents>(std::move(events)));
  return absl::OkStatus();
}

void UnregisterDeviceEvents(std::string_view device) {
  Registered& process = Process();
  const std::lock_guard lock(process.lock);
  const auto found = process.devices.find(device);
  if (found != process.devices.end()) process.devices.erase(found);
}

TimedDevice FindTimedDevice(std::string_view device) {
  Registered& process = Process();
  const std::lock_guard lock(process.lock);
  for (const auto& [name, events] : process.devices) {
    if (name == device || (device == kCustomDevice && IsCustomDevice(name))) {
      return {name, events};
    }
  }
  return {};
}

}  // namespace kymo
