// launches.h - which operation launched what a device did, and where.
//
//   const Launches launches(trace);
//   launches.Operation(id);   // the name of the cpu_op around the launch
//   launches.Device(id);      // where the activity of this id ran
//
// A launch is a call of a device's runtime or driver; it and the activity share
// a correlation id. Threads: immutable once made. Cost: nothing in a trace
// without streams, else 16 bytes for each launch and activity.
#ifndef KYMO_EXPORTERS_TENSORBOARD_LAUNCHES_H_
#define KYMO_EXPORTERS_TENSORBOARD_LAUNCHES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/model/trace.h"

namespace kymo::tensorboard {

// Whether an event's correlation id is that of launches, not of operations.
bool HasLaunchId(model::ActivityType type);

class Launches {
 public:
  explicit Launches(const model::Trace& trace);

  std::optional<model::NameId> Operation(uint64_t correlation_id) const;
  std::optional<int32_t> Device(uint64_t correlation_id) const;

  // By correlation id.
  const std::vector<std::pair<uint64_t, model::NameId>>& operations() const {
    return operations_;
  }

 private:
  std::vector<std::pair<uint64_t, model::NameId>> operations_;
  std::vector<std::pair<uint64_t, int32_t>> devices_;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_LAUNCHES_H_
