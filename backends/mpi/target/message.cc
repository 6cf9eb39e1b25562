#include "backends/mpi/target/message.h"

#include <string.h>

#include "backends/mpi/target/communicators.h"

namespace kymo::mpi {
namespace {

constinit OwnFunction<3> get_count("PMPI_Get_count");

int IntAt(const void* status, size_t offset) noexcept {
  int value;
  memcpy(&value, static_cast<const char*>(status) + offset, sizeof(value));
  return value;
}

}  // namespace

Received ReadStatus(const void* status, Word comm) noexcept {
  Received received;
  const int source = IntAt(status, Abi().source_offset);
  if (source < 0) return received;  // MPI_PROC_NULL, or an empty status
  int bytes = 0;
  if (get_count(status, Abi().type_byte, &bytes) != kSuccess) bytes = -1;
  const Communicator* const known = FindCommunicator(comm);
  received.is_message = true;
  received.from = known == nullptr ? source : known->WorldRank(source);
  received.tag = IntAt(status, Abi().tag_offset);
  received.bytes = bytes < 0 ? -1 : bytes;
  return received;
}

}  // namespace kymo::mpi
