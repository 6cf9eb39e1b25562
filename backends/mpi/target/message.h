// message.h - what a call's arguments and its status say of a message.
#ifndef KYMO_BACKENDS_MPI_TARGET_MESSAGE_H_
#define KYMO_BACKENDS_MPI_TARGET_MESSAGE_H_

#include <cstdint>

#include "backends/mpi/target/mpi_library.h"

namespace kymo::mpi {

// The largest MPI_Status of the implementations, and some room.
struct StatusRoom {
  alignas(8) unsigned char bytes[64] = {};
};

// The ranks that a communicator's calls name. A copy stays right when the
// communicator is freed: the numbers are shared and never change.
struct Peers {
  const int* world_ranks = nullptr;  // null: they are those of MPI_COMM_WORLD
  int size = 0;                      // 0: not known
  int own_size = 0;  // of our group; of an intercommunicator not the same

  // The rank in MPI_COMM_WORLD; -1: it has none, or it is MPI_PROC_NULL.
  int64_t WorldRank(int peer) const noexcept {
    if (peer < 0 || peer >= size) return -1;
    if (world_ranks == nullptr) return peer;
    return world_ranks[peer] < 0 ? -1 : world_ranks[peer];
  }
};

struct Received {
  bool is_message = false;  // false: nothing came, as from MPI_PROC_NULL
  int64_t from = -1;        // rank in MPI_COMM_WORLD
  int64_t tag = -1;
  int64_t bytes = -1;
};

// Reads a status that the library has written. The message of a request may
// have been cancelled, that of a blocking call cannot.
Received ReadStatus(const void* status, const Peers& peers,
                    bool is_of_request) noexcept;

// The error that a status of several has, if their call says MPI_ERR_IN_STATUS.
int StatusError(const void* status) noexcept;

// Whether `error`, which the library returned, is of that class.
bool IsErrorClass(int error, int error_class) noexcept;

// Whether a receive that ended so has a message: with MPI_ERR_TRUNCATE it was
// longer than the buffer, and is gone.
inline bool HasMessage(int error) noexcept {
  return error == kSuccess || IsErrorClass(error, Abi().error_truncate);
}

// The program cancels a request. Until it does so once, the library need not be
// asked of each message whether it was cancelled.
void NoteCancel() noexcept;

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_MESSAGE_H_
