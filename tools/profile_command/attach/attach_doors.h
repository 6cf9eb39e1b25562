// attach_doors.h - which processes' doors an attached recording knocks at, and
// what to say of those that stay closed.
//
//   auto doors = std::make_shared<door::Doors>([&] {
//     return ProcessesWithDoors(target.running);
//   });
//   ... record ...
//   Say(DoorText(*doors, target, command.profile_memory));
#ifndef KYMO_TOOLS_PROFILE_COMMAND_ATTACH_ATTACH_DOORS_H_
#define KYMO_TOOLS_PROFILE_COMMAND_ATTACH_ATTACH_DOORS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "profiler/door/doors.h"
#include "profiler/plugin/activity_backend.h"
#include "tools/profile_command/attach/attach_target.h"

namespace kymo::tools {

// The target's processes, and those that they have started.
std::vector<pid_t> ProcessesWithDoors(const RunningTarget& running);

// Whether Kymo is linked into the process, or loaded there. False if its files
// cannot be read.
bool CarriesKymo(pid_t pid);

// "; "-separated sentences about what could be recorded and is not, each with
// "; " before it. Empty where the programs have no Kymo in them.
std::string DoorText(const door::Doors& doors, const AttachTarget& target,
                     bool wants_memory);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_ATTACH_ATTACH_DOORS_H_
