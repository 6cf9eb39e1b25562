// demand_files.h - the files of recordings on demand, and who has a door
// or a socket.
//
//   KYMO_ASSIGN_OR_RETURN(const std::string folder, MakeTraceFolder());
//   ... programs write into it ...
//   KYMO_RETURN_IF_ERROR(CopyTrace(folder + "/1_1234.json", user, to));
//
// Errors: the system's, with the path.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_ON_DEMAND_DEMAND_FILES_H_
#define KYMO_TOOLS_PROFILE_COMMAND_ON_DEMAND_DEMAND_FILES_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kymo::tools {

// A folder below /tmp, where programs may write. Of other users, too, if this
// process is root's.
absl::StatusOr<std::string> MakeTraceFolder();

// Copies a regular file of this user to a new file. Of another user's file,
// nothing but its bytes is taken. kPermissionDenied if it is anything else,
// kDataLoss if it becomes shorter meanwhile.
absl::Status CopyTrace(const std::string& from, uid_t user,
                       const std::string& to);

// Whether a regular file ends with a brace, as a trace does that was written to
// its end.
bool EndsWithBrace(const std::string& path);

// "train-1234.json" of "train (1234)".
std::string TraceNameOf(const std::string& program);

// The number behind `prefix` in a socket's name ("kymo-door/1234/0"); 0: none.
pid_t PidBehind(std::string_view prefix, std::string_view name);

// The processes of this user (root: of any) that have an open door and have not
// registered; of `only`, if that is not empty.
std::vector<pid_t> ProcessesWithDoorAlone(const std::vector<pid_t>& only);

// Tells a file from another one that had its name before. 0s: there is none.
std::pair<ino_t, int64_t> StampOf(const std::string& path);

// What to say of programs with doors if the process that recorded them ended
// with this status of wait(), and has written a trace or not. Empty: nothing.
std::string AttachedText(int wait_status, bool has_trace);

// Whether the process has this file open, as far as that can be seen.
bool HasOpen(pid_t pid, const struct stat& file);

// The process that has the abstract socket of this name; 0: not seen.
pid_t OwnerOfSocket(const std::string& name);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_ON_DEMAND_DEMAND_FILES_H_
