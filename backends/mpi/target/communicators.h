// communicators.h - what messages need to know of a communicator.
//
//   const Communicator* comm = FindCommunicator(handle);   // 3 ns
//   int64_t peer = comm->WorldRank(dest);
//
// An id means the same communicator in every rank: it follows from the ranks
// of the group, in their order, and from how many communicators of that very
// group were made before. All members make them in the same order, since
// making one is a collective call.
//
// Threads: any. Entries are never freed; one whose communicator was freed is
//   used again for its next handle.
#ifndef KYMO_BACKENDS_MPI_TARGET_COMMUNICATORS_H_
#define KYMO_BACKENDS_MPI_TARGET_COMMUNICATORS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backends/mpi/target/mpi_library.h"

namespace kymo::mpi {

inline constexpr int64_t kUnknownCommunicator = -1;

struct Communicator {
  std::atomic<Word> handle{0};
  int64_t id = kUnknownCommunicator;
  int size = 0;                      // of the group that peers are named in
  int rank = 0;                      // ours
  const int* world_ranks = nullptr;  // null: the same numbers
  // Where world_ranks stand: `capacity` of them, and as many for a call.
  int* storage = nullptr;
  size_t capacity = 0;

  // The rank in MPI_COMM_WORLD of `rank`, or itself where that is none.
  int64_t WorldRank(int peer) const noexcept {
    if (world_ranks == nullptr || peer < 0 || peer >= size) return peer;
    return world_ranks[peer];
  }
};

// Null: a communicator that is not known, because there are too many.
const Communicator* FindCommunicator(Word handle) noexcept;

// A communicator that was made just now. Collective calls are not made for it.
// Records it as an instant `MPI_Comm`.
void AddCommunicator(Word handle) noexcept;
void RemoveCommunicator(Word handle) noexcept;

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_COMMUNICATORS_H_
