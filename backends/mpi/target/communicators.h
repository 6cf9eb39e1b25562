// communicators.h - what messages need to know of a communicator.
//
//   if (FindPeers(Handle(handle), request)) {              // 3 ns
//     int64_t peer = request.peers.WorldRank(dest);
//   }
//
// An id means the same communicator in every rank: it follows from the ranks
// of the group, in their order, and from how many communicators of that very
// group were made before. All members make them in the same order, since
// making one is a collective call. For an intercommunicator both groups count.
//
// A communicator that was made by a call that Kymo does not see is added when
// it is used first. Ranks that use several such ones in different orders give
// them different ids.
//
// Windows and files have ids like communicators: all ranks of one make them
// together, and some of their calls, too.
//
// Threads: any. There is room for 4,096 communicators at a time and for 4,096
//   groups; communicators beyond have no id.
#ifndef KYMO_BACKENDS_MPI_TARGET_COMMUNICATORS_H_
#define KYMO_BACKENDS_MPI_TARGET_COMMUNICATORS_H_

#include <cstdint>

#include "backends/mpi/target/mpi_library.h"
#include "backends/mpi/target/requests.h"

namespace kymo::mpi {

// Sets comm_id and peers. False: the communicator is not known, or what else
// the key stands for: Handle() of a communicator or a window, a file itself.
bool FindPeers(Word key, Request& request) noexcept;

// A communicator that a call has made or has used. Nothing happens if it is
// known. Collective calls are not made for it. Records it as an instant
// `MPI_Comm`.
void AddCommunicator(Word handle) noexcept;

// MPI_Comm_idup: the communicator gets its place in the order now, and is added
// when its request is complete.
uint32_t ReservePlace(Word parent) noexcept;
void AddCommunicatorAt(Word handle, uint32_t place) noexcept;

void RemoveCommunicator(Word handle) noexcept;

// The program names what the key stands for. Records the instant once more.
void NameShared(Word key, const char* name) noexcept;

// A window or a file (`what`) that the ranks of the communicator have made.
void AddShared(Word key, Word comm, const char* what) noexcept;
void RemoveShared(Word key) noexcept;

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_COMMUNICATORS_H_
