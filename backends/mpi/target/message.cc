#include "backends/mpi/target/message.h"

#include <string.h>

#include <atomic>

namespace kymo::mpi {
namespace {

constinit OwnFunction<3> get_count("PMPI_Get_count");
constinit OwnFunction<2> test_cancelled("PMPI_Test_cancelled");
constinit OwnFunction<2> error_class_of("PMPI_Error_class");

constinit std::atomic<bool> has_cancelled{false};

int IntAt(const void* status, size_t offset) noexcept {
  int value;
  memcpy(&value, static_cast<const char*>(status) + offset, sizeof(value));
  return value;
}

}  // namespace

void NoteCancel() noexcept {
  has_cancelled.store(true, std::memory_order_relaxed);
}

Received ReadStatus(const void* status, const Peers& peers,
                    bool is_of_request) noexcept {
  Received received;
  const int source = IntAt(status, Abi().source_offset);
  if (source < 0) return received;  // MPI_PROC_NULL, or an empty status
  if (is_of_request && has_cancelled.load(std::memory_order_relaxed)) {
    int is_cancelled = 0;
    test_cancelled(status, &is_cancelled);
    if (is_cancelled != 0) return received;
  }
  int bytes = 0;
  if (get_count(status, Abi().type_byte, &bytes) != kSuccess) bytes = -1;
  received.is_message = true;
  received.from = peers.WorldRank(source);
  received.tag = IntAt(status, Abi().tag_offset);
  received.bytes = bytes < 0 ? -1 : bytes;
  return received;
}

int StatusError(const void* status) noexcept {
  return IntAt(status, Abi().error_offset);
}

bool IsErrorClass(int error, int error_class) noexcept {
  int found = kSuccess;
  return error != kSuccess && error_class_of(error, &found) == kSuccess &&
         found == error_class;
}

}  // namespace kymo::mpi
