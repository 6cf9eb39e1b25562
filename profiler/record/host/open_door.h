// open_door.h - lets commands record this process while it runs.
//
//   if (const int error = OpenDoor(); error != 0) return error;
//
// What comes through the door is in door_protocol.h. A thread waits there, with
// all signals blocked. Nothing else happens until a command knocks.
//
// host.cc implements it. A program that is started with KYMO_ATTACH=1 does it
// by itself.
//
// Threads: any.
// Fork:    a child is in none of its parent's recordings. It has a door of its
//   own from its first range on.
#ifndef KYMO_PROFILER_RECORD_HOST_OPEN_DOOR_H_
#define KYMO_PROFILER_RECORD_HOST_OPEN_DOOR_H_

namespace kymo::record {

// Opens the door of this process's host, if it is not open. Returns 0, or
//   EBUSY  the process has recorded itself: what it then took is its own memory
//   ENOSYS the host is a preloaded runtime that has no doors
// or the errno of making a socket or a thread.
int OpenDoor() noexcept;

// Opens it if the environment asks for it (kAttachVariable), otherwise returns
// 0. For constructors.
int OpenDoorIfAsked() noexcept;

}  // namespace kymo::record

// The same of the preloaded runtime, which exports it.
extern "C" int kymo_open_door_v1() noexcept;

#endif  // KYMO_PROFILER_RECORD_HOST_OPEN_DOOR_H_
