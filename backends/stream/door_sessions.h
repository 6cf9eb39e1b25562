// door_sessions.h - records programs that run already, each through its door.
//
//   std::unique_ptr<ActivitySession> session =
//       NewDoorSession(std::move(settings), doors.Open());
//
// One session for all of them, whose shard has the records of all. A program
// that is gone before the recording begins is left out, with a remark. So is
// one whose records cannot be read afterwards; it is counted as lost, too.
#ifndef KYMO_BACKENDS_STREAM_DOOR_SESSIONS_H_
#define KYMO_BACKENDS_STREAM_DOOR_SESSIONS_H_

#include <memory>
#include <string>
#include <vector>

#include "backends/stream/child_session.h"
#include "profiler/door/knock.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo::stream {

// REQUIRES: there are doors. Of several programs, records that do not fit into
// memory are lost and counted; of one, they stay in a file.
std::unique_ptr<ActivitySession> NewDoorSession(
    ChildSettings settings,
    const std::vector<std::shared_ptr<door::OpenDoor>>& doors);

struct NamedSession {
  std::string name;  // of the program, for remarks
  std::unique_ptr<ActivitySession> session;
};

// The part of NewDoorSession that makes one session of several.
std::unique_ptr<ActivitySession> JoinSessions(
    std::vector<NamedSession> sessions);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DOOR_SESSIONS_H_
