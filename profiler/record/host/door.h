// door.h - the door of this copy's own host: the socket, and the thread there.
//
// For host.cc, which implements open_door.h with it. Knows live_sessions.h,
// own_process.h, sessions.h and thread_streams.h.
//
// Memory: the arena is a memfd, made when the first command knocks or the first
//   session starts. It stays. When a command has left, the kernel gets its
//   pages back, but for those in which threads write.
// Threads: any.
#ifndef KYMO_PROFILER_RECORD_HOST_DOOR_H_
#define KYMO_PROFILER_RECORD_HOST_DOOR_H_

namespace kymo::record {

// As OpenDoor (open_door.h), for this copy's host.
int OwnOpenDoor() noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_DOOR_H_
