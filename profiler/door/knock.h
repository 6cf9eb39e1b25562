// knock.h - asks a program that runs already to be recorded, by its open door
// (profiler/record/host/door_protocol.h).
//
//   KYMO_ASSIGN_OR_RETURN(const auto doors, door::Knock(pid));
//   for (const std::shared_ptr<door::OpenDoor>& door : doors) {
//     record::Arena arena = record::Arena::Attach(door->arena());
//     KYMO_RETURN_IF_ERROR(door->Begin({.record_flags = flags}));
//     ...
//     KYMO_RETURN_IF_ERROR(door->End());
//   }
//
// While an OpenDoor lives, no other command records the program. When it ends,
// the program goes on as before.
//
// Trust:   the door is of the process `pid` and of its user, as the kernel
//   says. The arena cannot become smaller. What is in it may be anything.
// Errors:  no call waits longer than some seconds.
// Threads: one at a time for each object.
#ifndef KYMO_PROFILER_DOOR_KNOCK_H_
#define KYMO_PROFILER_DOOR_KNOCK_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/record/host/door_protocol.h"

namespace kymo::door {

struct Wishes {
  uint32_t record_flags = 0;  // record::RecordFlags
  uint64_t heap_sample_interval = 0;
  uint64_t chunk_bytes = 0;
};

class OpenDoor {
 public:
  // Claims the program that is at the other end of `socket`.
  static absl::StatusOr<std::shared_ptr<OpenDoor>> Claim(
      pid_t pid, std::string name, OwnedDescriptor socket);

  pid_t pid() const { return pid_; }
  // "server (1234)", for messages.
  const std::string& name() const { return name_; }
  int arena() const { return arena_.get(); }
  bool watches_heap() const { return watches_heap_; }

  absl::Status Begin(const Wishes& wishes);
  // OK also if the program has ended meanwhile.
  absl::Status End();

 private:
  OpenDoor(pid_t pid, std::string name, OwnedDescriptor socket)
      : pid_(pid), name_(std::move(name)), socket_(std::move(socket)) {}

  absl::StatusOr<record::DoorMessage> Ask(const record::DoorMessage& message,
                                          OwnedDescriptor* received);

  const pid_t pid_;
  const std::string name_;
  const OwnedDescriptor socket_;
  OwnedDescriptor arena_;
  bool watches_heap_ = false;
};

// Claims each host of the process; most processes have one. If some hosts
// refuse and others do not, adds why to `refusals`. kNotFound: the process has
// no open door that this user reaches. Errors are sentences that name it.
absl::StatusOr<std::vector<std::shared_ptr<OpenDoor>>> Knock(
    pid_t pid, std::vector<std::string>* refusals = nullptr);

}  // namespace kymo::door

#endif  // KYMO_PROFILER_DOOR_KNOCK_H_
