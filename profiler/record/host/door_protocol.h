// door_protocol.h - what a command and a program that runs already say to each
// other, before the command records the program.
//
//   command                    program (door.h)
//   connect             ->     is it the same user, or root?
//   kClaim              ->
//                       <-     kYes, and the arena's descriptor (SCM_RIGHTS)
//   kBegin, what it wants ->   records
//                       <-     kYes
//   kEnd                ->     records no more
//                       <-     kYes
//   close               ->     gives the arena's memory back
//
// The socket is of type SOCK_SEQPACKET: each message is one DoorMessage. A
// command that dies closes it, too.
//
// The address is abstract, so no file is left behind, and a program in a
// container without a folder to write to has one. Each host of a process
// (host.h) has a door of its own, with the next index.
//
// Trust: a name says nothing about who listens. Both sides ask the kernel for
//   the other's user (SO_PEERCRED), the command for the process, too.
// Versions: the first 16 bytes of a message never change. Programs whose
//   protocol or layout differs answer kOtherVersion.
#ifndef KYMO_PROFILER_RECORD_HOST_DOOR_PROTOCOL_H_
#define KYMO_PROFILER_RECORD_HOST_DOOR_PROTOCOL_H_

#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>

#include "profiler/record/arena/layout.h"

namespace kymo::record {

// Not empty and not "0": the program opens its door when it starts.
inline constexpr char kAttachVariable[] = "KYMO_ATTACH";

inline constexpr uint64_t kDoorMagic = 0x726f6f446f6d794bu;  // "KymoDoor"
inline constexpr uint32_t kDoorProtocol = 1;
inline constexpr int kMostDoors = 16;  // of one process

// How long either side waits for a message that is due.
inline constexpr int kDoorWaitMs = 2000;

enum class DoorRequest : uint32_t { kClaim = 1, kBegin = 2, kEnd = 3 };

enum class DoorAnswer : uint32_t {
  kYes = 0,
  kOtherVersion = 1,
  kNotPermitted = 2,
  kRecorded = 3,    // another command records the program
  kOwnSession = 4,  // the program records itself
  kStartedByKymo = 5,
  kPrivateMemory = 6,  // it recorded itself before the door was opened
  kNoMemory = 7,       // `error` says why
  kNotUnderstood = 8,
};

struct DoorMessage {
  uint64_t magic = kDoorMagic;
  uint32_t protocol = kDoorProtocol;
  uint32_t layout = kLayoutVersion;
  DoorRequest request = DoorRequest::kClaim;
  DoorAnswer answer = DoorAnswer::kYes;
  int32_t error = 0;          // errno, of an answer
  uint32_t watches_heap = 0;  // of an answer: 1 if it has the heap's hooks
  // Of kBegin.
  uint32_t record_flags = 0;  // RecordFlags
  uint32_t reserved = 0;
  uint64_t heap_sample_interval = 0;
  uint64_t chunk_bytes = 0;  // of the arena, that may be used
};
static_assert(sizeof(DoorMessage) == 56);

struct DoorAddress {
  sockaddr_un name = {};
  socklen_t size = 0;

  const sockaddr* pointer() const noexcept {
    return reinterpret_cast<const sockaddr*>(&name);
  }
};

// The names of doors begin with it, and with the process's number behind it.
inline constexpr char kDoorPrefix[] = "kymo-door/";

// `pid` is the number that the program itself sees.
inline DoorAddress AddressOfDoor(int pid, int index) noexcept {
  DoorAddress address;
  address.name.sun_family = AF_UNIX;
  // A NUL at the front: the abstract name space.
  const int text =
      snprintf(address.name.sun_path + 1, sizeof(address.name.sun_path) - 1,
               "%s%d/%d", kDoorPrefix, pid, index);
  address.size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text);
  return address;
}

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_DOOR_PROTOCOL_H_
