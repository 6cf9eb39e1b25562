#include "profiler/door/doors.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kymo::door {

const std::vector<std::shared_ptr<OpenDoor>>& Doors::Open() {
  if (was_asked_ || !pids_) return open_;
  was_asked_ = true;
  for (const pid_t pid : pids_()) {
    const auto doors = Knock(pid, &refusals_);
    if (doors.ok()) {
      open_.insert(open_.end(), doors->begin(), doors->end());
    } else if (!absl::IsNotFound(doors.status())) {
      refusals_.emplace_back(doors.status().message());
    }
  }
  return open_;
}

absl::Status Doors::WhyNone() const {
  if (!refusals_.empty()) {
    return absl::NotFoundError(absl::StrJoin(refusals_, "; "));
  }
  return absl::NotFoundError(
      "it needs code in the program, and an open door there: start the "
      "program with `kymo profile`, or, if it has Kymo in it, with "
      "KYMO_ATTACH=1 in its environment (docs/attach.md)");
}

}  // namespace kymo::door
