// attach_target.h - the processes that --pid, --name and --all mean.
//
//   KYMO_ASSIGN_OR_RETURN(AttachTarget target, FindAttachTarget(request));
//   ... Start(target.running) ...
//   KYMO_RETURN_IF_ERROR(CheckIdentity(target));
//   while (!HasEnded(target)) Poll();
//
// Threads: any.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_ATTACH_ATTACH_TARGET_H_
#define KYMO_TOOLS_PROFILE_COMMAND_ATTACH_ATTACH_TARGET_H_

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/processes/process_list.h"
#include "tools/profile_command/options.h"

namespace kymo::tools {

struct AttachTarget {
  RunningTarget running;
  std::vector<processes::ProcessInfo> named;  // empty: the whole machine
  std::string name;     // of the first, for the output folder
  std::string text;     // "redis-server (1234) and 2 others", for messages
  size_t left_out = 0;  // other users' that have the name, too
};

// Whether it makes sense to try: this user owns the process, or has a
// capability for that. True of a process that has ended.
bool MayWatch(pid_t pid);

// kNotFound, kInvalidArgument or kFailedPrecondition, with what to do, for a
// number that is no process, a thread, one of the kernel's, this process, or a
// process that has ended. A name means those that `may_watch`, if there is one.
absl::StatusOr<AttachTarget> FindAttachTarget(
    const AttachRequest& request,
    const std::function<bool(pid_t)>& may_watch = MayWatch);

// kNotFound if another process has got the number of one of them since.
absl::Status CheckIdentity(const AttachTarget& target);

// How many of the named ones have ended.
size_t CountEnded(const AttachTarget& target);
// Whether all of them have.
bool HasEnded(const AttachTarget& target);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_ATTACH_ATTACH_TARGET_H_
