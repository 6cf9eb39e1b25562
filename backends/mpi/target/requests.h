// requests.h - operations that go on after the call that began them.
//
//   BeginRequest(handle, {...});                    // after MPI_Irecv
//   FindRequests(handles, 1, Look::kWaits, &open);  // before MPI_Wait
//   CompleteRequest(open, status);                  // after it
//
// A request is an asynchronous range, from the call that began it to the call
// that found it complete. A receive gets what it received: the sender, the tag,
// the bytes. A persistent request is a range at each start.
//
// The library frees a request inside of MPI_Wait, and another thread may get
// the same handle for its next one at once. So what a call waits for is looked
// up before the library is called, and ended after it.
//
// Threads: any. There is room for 65,536 requests at a time; those beyond are
//   not recorded, and their number is said at MPI_Finalize
//   (`requests_lost` of the instant `MPI ranks`).
#ifndef KYMO_BACKENDS_MPI_TARGET_REQUESTS_H_
#define KYMO_BACKENDS_MPI_TARGET_REQUESTS_H_

#include <cstdint>

#include "backends/mpi/target/message.h"
#include "backends/mpi/target/mpi_library.h"
#include "profiler/record/range.h"

namespace kymo::mpi {

enum class Direction : uint8_t { kNone, kSend, kReceive };

inline constexpr int64_t kUnknownCommunicator = -1;

struct Request {
  record::Literal name;  // of the function that made it
  Direction direction = Direction::kNone;
  bool is_persistent = false;
  int64_t comm_id = kUnknownCommunicator;
  Peers peers;
  int64_t peer = -1;  // of a send: its rank in MPI_COMM_WORLD
  int64_t tag = -1;
  int64_t bytes = -1;
  // Of MPI_Isendrecv, as far as its arguments say.
  int64_t from = -1;
  int64_t from_tag = -1;
  // Of a receive that names them.
  int64_t source = -1;
  int64_t source_tag = -1;
  int64_t message = -1;  // the number of what MPI_Mprobe has found
  // MPI_Comm_idup: where the new communicator's handle will be, and its place.
  Word new_comm = 0;
  uint32_t place = 0;
};

// Remembers the request, and begins its range unless it is persistent. `ticks`:
// when the call that made it ended; 0: now.
void BeginRequest(Word handle, const Request& request,
                  uint64_t ticks = 0) noexcept;

// A persistent request was started.
void StartRequest(Word handle) noexcept;

struct OpenRequest {
  Word handle = 0;
  uint64_t range = 0;  // 0: none is open
  Direction direction = Direction::kNone;
  Peers peers;
  Word new_comm = 0;
  uint32_t place = 0;
  int64_t looked_ns = 0;  // see Look
};

// What a call does with requests: MPI_Wait and its like stay in the library
// until they are complete, MPI_Test and its like only look.
enum class Look : uint8_t { kWaits, kTests };

// The requests of an array of the program's. From here on the caller ends their
// ranges, if they complete. A request that the program polls has `polled_ns` in
// the end: how long before that it first looked. Until then a large message did
// not move.
void FindRequests(Word handles, int count, Look look,
                  OpenRequest* open) noexcept;

// `status` is what the library wrote, or null if there is none. `ticks`: when
// the call that found it complete ended; 0: now.
void CompleteRequest(const OpenRequest& open, const void* status,
                     uint64_t ticks) noexcept;

// The call returned an error, and gave the request up.
void FailRequest(const OpenRequest& open, int error, uint64_t ticks) noexcept;

// The program frees the request, complete or not. A receive gets its message
// nevertheless: its range has the sender and the tag, if the request is
// complete or the call named them. Call it before the library frees the
// request.
void FreeRequest(Word handle) noexcept;

// The program cancels the request, so it may get no message.
void CancelRequest(Word handle) noexcept;

// A message that MPI_Mprobe has found: MPI_Mrecv names it and no communicator.
// Its number is in both calls, because from the first one on nobody else can
// receive it.
int64_t NewMessageNumber() noexcept;
void AddMessage(Word handle, const Request& probe) noexcept;
// Sets comm_id, peers and message. False: the message is not known.
bool TakeMessage(Word handle, Request& receive) noexcept;

uint64_t RequestsLost() noexcept;

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_REQUESTS_H_
