// requests.h - operations that go on after the call that began them.
//
//   BeginRequest(handle, {...});     // after MPI_Irecv
//   CompleteRequest(handle, status); // in MPI_Wait and its like
//
// A request is an asynchronous range, from the call that began it to the call
// that found it complete. A receive gets what it received: the sender, the tag,
// the bytes. A persistent request is a range at each start.
//
// Threads: any. There is room for 65,536 requests at a time; those beyond are
//   not recorded, and their number is said at MPI_Finalize
//   (`requests_lost` of the instant `MPI ranks`).
#ifndef KYMO_BACKENDS_MPI_TARGET_REQUESTS_H_
#define KYMO_BACKENDS_MPI_TARGET_REQUESTS_H_

#include <cstdint>

#include "backends/mpi/target/mpi_library.h"
#include "profiler/record/range.h"

namespace kymo::mpi {

enum class Direction : uint8_t { kNone, kSend, kReceive };

struct Request {
  record::Literal name;  // of the function that made it
  Direction direction = Direction::kNone;
  bool is_persistent = false;
  Word comm = 0;
  int64_t comm_id = -1;
  int64_t peer = -1;  // of a send: its rank in MPI_COMM_WORLD
  int64_t tag = -1;
  int64_t bytes = -1;
};

// Remembers the request, and begins its range unless it is persistent.
void BeginRequest(Word handle, const Request& request) noexcept;

// A persistent request was started.
void StartRequest(Word handle) noexcept;

// `status` is what the library wrote, or null if there is none (a send, or a
// request that was freed or cancelled).
void CompleteRequest(Word handle, const void* status) noexcept;

uint64_t RequestsLost() noexcept;

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_REQUESTS_H_
