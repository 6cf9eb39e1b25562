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

struct Received {
  bool is_message = false;  // false: nothing came, as from MPI_PROC_NULL
  int64_t from = -1;        // rank in MPI_COMM_WORLD
  int64_t tag = -1;
  int64_t bytes = -1;
};

// Reads a status that the library has written.
Received ReadStatus(const void* status, Word comm) noexcept;

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_MESSAGE_H_
