// doors.h - the open doors of the processes that one recording attaches to.
//
//   const auto doors = std::make_shared<door::Doors>(pids, getpid());
//   for (const std::shared_ptr<door::OpenDoor>& door : doors->Open()) ...
//
// It is a shared part of the recording (profiler/plugin/shared_parts.h).
// Whoever attaches makes it, and the backends that need code in the programs
// knock. If none of them takes part, nobody does.
//
// Threads: one at a time.
#ifndef KYMO_PROFILER_DOOR_DOORS_H_
#define KYMO_PROFILER_DOOR_DOORS_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/door/knock.h"

namespace kymo::door {

class Doors {
 public:
  // `pids` tells the processes to knock at, when it is time.
  explicit Doors(std::function<std::vector<pid_t>()> pids = {})
      : pids_(std::move(pids)) {}
  Doors(const Doors&) = delete;
  Doors& operator=(const Doors&) = delete;

  // Knocks at the first call.
  const std::vector<std::shared_ptr<OpenDoor>>& Open();

  // Those that are open so far.
  const std::vector<std::shared_ptr<OpenDoor>>& opened() const { return open_; }
  // Leaves the doors to the sessions that record.
  void Close() { open_.clear(); }

  // Whether anybody has knocked.
  bool was_asked() const { return was_asked_; }
  // Why doors that are there stayed closed, in sentences.
  const std::vector<std::string>& refusals() const { return refusals_; }

  // kNotFound with the refusals, or with what would help. REQUIRES: Open() is
  // empty.
  absl::Status WhyNone() const;

 private:
  const std::function<std::vector<pid_t>()> pids_;
  bool was_asked_ = false;
  std::vector<std::shared_ptr<OpenDoor>> open_;
  std::vector<std::string> refusals_;
};

}  // namespace kymo::door

#endif  // KYMO_PROFILER_DOOR_DOORS_H_
